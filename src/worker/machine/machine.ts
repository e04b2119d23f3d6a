import { availableParallelism, type NetworkInterfaceInfo, networkInterfaces, totalmem } from 'node:os'

/** What this machine has: 1,000 CPU millis per core that this process may use, and its memory. */
export function findCapacity(): { cpuMillis: number; memoryMiB: number } {
  return { cpuMillis: availableParallelism() * 1_000, memoryMiB: Math.floor(totalmem() / 1_048_576) }
}

/** Addresses that others can reach: IPv4 first. Loopback and link-local ones are no use to them. */
export function findAddresses(interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces()): string[] {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? [])
  const usable = all.filter(
    ({ internal, address }) => !internal && !address.startsWith('fe80:') && !address.startsWith('169.254.'),
  )
  return [...usable.filter(({ family }) => family === 'IPv4'), ...usable.filter(({ family }) => family === 'IPv6')].map(
    ({ address }) => address,
  )
}
