import { get } from 'node:http'

export interface Hello {
  service: string
  index: number
  version: number
  pid: number
}

/** Asks the example replica at `hostPort` which replica it is. */
export function hello(hostPort: string): Promise<Hello> {
  return new Promise((resolve, reject) => {
    get(`http://${hostPort}/`, { agent: false, timeout: 5_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve(JSON.parse(text) as Hello))
    }).on('error', reject)
  })
}
