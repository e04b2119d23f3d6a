import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import { nameFault } from '../../model/name.ts'
import { quoted } from '../../model/quoted.ts'
import { type Fault, faultless } from '../kit/values.ts'

const port = z.object({ name: z.string(), port: z.number().nullish(), protocol: z.enum(['TCP', 'UDP']).nullish() })
export type PortInputValue = z.output<typeof port>

/** Names are lower-case DNS labels, so no two of them make the same XCE_PORT_<NAME>, and none is PATH or LD_PRELOAD. */
export const ports = faultless(z.array(port), (declared) => {
  const { max } = bounds.ports
  if (declared.length > max) return [{ message: `There are ${declared.length} ports: at most ${max} are allowed.` }]
  const names = new Set<string>()
  const numbers = new Set<string>()
  return declared.flatMap(({ name, port: number, protocol }, at) => {
    const faults: Fault[] = []
    const fault = nameFault(name, bounds.portNameLength)
    if (fault !== null) faults.push({ path: [at, 'name'], message: fault })
    else if (names.has(name))
      faults.push({
        path: [at, 'name'],
        message: `The port ${quoted(name)} is declared twice: give each port a name of its own.`,
      })
    names.add(name)
    if (typeof number !== 'number') return faults
    const taken = `${number}/${protocol ?? 'TCP'}`
    if (number < bounds.port.min || number > bounds.port.max) {
      faults.push({
        path: [at, 'port'],
        message: `${number} is out of range: ports are ${bounds.port.min} to ${bounds.port.max}, or null for any free one.`,
      })
    } else if (numbers.has(taken)) {
      faults.push({ path: [at, 'port'], message: `The port ${taken} is declared twice: no replica could have both.` })
    }
    numbers.add(taken)
    return faults
  })
})
