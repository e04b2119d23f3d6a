import { availableParallelism, type NetworkInterfaceInfo, networkInterfaces, totalmem } from 'node:os'

/** The capacity of this machine: 1,000 CPU millis for each core that this process may use, and all memory. */
export function findCapacity(): { cpuMillis: number; memoryMiB: number } {
  return { cpuMillis: availableParallelism() * 1_000, memoryMiB: Math.floor(totalmem() / 1_048_576) }
}

/** The addresses that other machines can reach, IPv4 first; that excludes loopback and link-local addresses. */
export function findAddresses(interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces()): string[] {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? [])
  const usable = all.filter(
    ({ internal, address }) => !internal && !address.startsWith('fe80:') && !address.startsWith('169.254.'),
  )
  return [...usable.filter(({ family }) => family === 'IPv4'), ...usable.filter(({ family }) => family === 'IPv6')].map(
    ({ address }) => address,
  )
}
