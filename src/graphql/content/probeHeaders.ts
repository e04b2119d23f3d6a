import { bounds } from '../../model/bounds.ts'
import type { HttpHeader } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import type { Check } from '../kit/check.ts'

// The headers that a user gives to an HTTP probe.

/** The probe writes these itself: with other values the answer would not come, or not end. */
const probesOwn = ['connection', 'content-length', 'transfer-encoding']

export const headerNameFaults: Check<string> = (name) => {
  if (name === '') return [{ message: 'The name of the header is empty: give one, "Host" for example.' }]
  const [odd] = /[^!#$%&'*+.^_`|~0-9A-Za-z-]/u.exec(name) ?? []
  if (odd !== undefined)
    return [{ message: `The header ${quoted(name)} contains ${quoted(odd)}: its name takes letters, digits and "-".` }]
  return probesOwn.includes(name.toLowerCase())
    ? [{ message: `The header ${quoted(name)} is set by the probe: leave it out.` }]
    : []
}

export const headerValueFaults: Check<string> = (value) => {
  const [odd] = /[^\t\x20-\x7e]/u.exec(value) ?? []
  return odd === undefined
    ? []
    : [{ message: `The value ${quoted(value)} contains ${quoted(odd)}: it takes printable ASCII characters.` }]
}

export const headersFaults: Check<readonly HttpHeader[]> = (headers) => {
  const { probeHeaders, probeHeaderBytes } = bounds
  if (headers.length > probeHeaders.max)
    return [
      {
        message: `There are ${headers.length} headers: at most ${probeHeaders.max} are allowed.`,
        bound: `at most ${probeHeaders.max}`,
      },
    ]
  const bytes = headers.reduce((sum, { name, value }) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0)
  if (bytes > probeHeaderBytes)
    return [
      {
        message: `The headers have ${bytes} bytes: at most ${probeHeaderBytes} are allowed.`,
        bound: `at most ${probeHeaderBytes} bytes`,
      },
    ]
  const second = headers.findIndex(
    ({ name }, at) => isHost(name) && headers.slice(0, at).some((other) => isHost(other.name)),
  )
  return second < 0 ? [] : [{ path: [second], message: 'The header "Host" is given twice: a request has one.' }]
}

const isHost = (name: string): boolean => name.toLowerCase() === 'host'
