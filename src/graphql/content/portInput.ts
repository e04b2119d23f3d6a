import { bounds } from '../../model/bounds.ts'
import type { PortDeclaration } from '../../model/content.ts'
import { nameFault } from '../../model/name.ts'
import { quoted } from '../../model/quoted.ts'
import { builder } from '../kit/builder.ts'
import { type Fault, noneLeft } from '../kit/check.ts'
import { faultOf } from '../kit/values.ts'
import { PortProtocol } from './content.ts'

const { min, max } = bounds.port

const PortInput = builder.inputType('PortInput', {
  description: 'A port that each replica needs.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: `A DNS label of at most ${bounds.portNameLength} characters, unique in the profile.`,
      check: (name) =>
        faultOf(nameFault(name, bounds.portNameLength), `a DNS label of at most ${bounds.portNameLength} characters`),
    }),
    port: t.int({
      description: `A fixed number, ${min} to ${max}; null when any free port of the host will do.`,
      check: (port) =>
        port < min || port > max
          ? [
              {
                message: `${port} is out of range: ports are ${min} to ${max}, or null for any free one.`,
                bound: `${min} to ${max}`,
              },
            ]
          : [],
    }),
    protocol: t.field({ type: PortProtocol, defaultValue: 'TCP', description: 'TCP or UDP.' }),
  }),
})
type PortInputValue = typeof PortInput.$inferInput

export const portsField = {
  type: [PortInput] as [typeof PortInput],
  required: { list: false, items: true },
  description: `At most ${bounds.ports.max} ports.`,
  check: listFaults,
} as const

export function portsOf(ports: readonly PortInputValue[] | null | undefined): PortDeclaration[] {
  return (ports ?? []).map(({ name, port, protocol, ...rest }) => {
    noneLeft(rest)
    return { name, port: port ?? null, protocol: protocol ?? 'TCP' }
  })
}

/** Names are lower-case DNS labels, so no two of them make the same XCE_PORT_<NAME>, and none is PATH or LD_PRELOAD. */
function listFaults(ports: readonly PortInputValue[]): Fault[] {
  const most = bounds.ports.max
  if (ports.length > most)
    return [{ message: `There are ${ports.length} ports: at most ${most} are allowed.`, bound: `at most ${most}` }]
  const names = new Set<string>()
  const numbers = new Set<string>()
  return portsOf(ports).flatMap(({ name, port, protocol }, at) => {
    const number = `${port}/${protocol}`
    const faults: Fault[] = []
    if (names.has(name)) {
      const message = `The port ${quoted(name)} is declared twice: give each port a name of its own.`
      faults.push({ path: [at, 'name'], message })
    }
    if (port !== null && numbers.has(number)) {
      const message = `The port ${number} is declared twice: no replica could have both.`
      faults.push({ path: [at, 'port'], message })
    }
    names.add(name)
    numbers.add(number)
    return faults
  })
}
