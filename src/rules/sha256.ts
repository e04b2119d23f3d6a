// SHA-256 (FIPS 180-4) in plain arithmetic: rules may not reach for the platform's.

/** The first 32 bits of the fractional parts of a root of the first `count` primes. */
function primeRoots(count: number, root: (prime: number) => number): Uint32Array {
  const words: number[] = []
  for (let candidate = 2; words.length < count; candidate++) {
    let isPrime = true
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) isPrime = false
    if (isPrime) words.push(Math.floor((root(candidate) % 1) * 2 ** 32))
  }
  return Uint32Array.from(words)
}

const roundConstants = primeRoots(64, Math.cbrt)
const initialState = primeRoots(8, Math.sqrt)

/** The digest of a text's UTF-8 bytes, in hexadecimal. */
export function sha256(text: string): string {
  const blocks = padded(new TextEncoder().encode(text))
  const state = Uint32Array.from(initialState)
  const schedule = new Uint32Array(64)
  for (let offset = 0; offset < blocks.byteLength; offset += 64) compress(state, schedule, blocks, offset)
  return [...state].map((word) => word.toString(16).padStart(8, '0')).join('')
}

/** The bytes, a one bit, zeros, and the length in bits, to a multiple of 64 bytes. */
function padded(bytes: Uint8Array): DataView {
  const blocks = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64)
  blocks.set(bytes)
  blocks[bytes.length] = 0x80
  const view = new DataView(blocks.buffer)
  view.setBigUint64(blocks.length - 8, BigInt(bytes.length) * 8n)
  return view
}

function compress(state: Uint32Array, schedule: Uint32Array, blocks: DataView, offset: number): void {
  for (let at = 0; at < 16; at++) schedule[at] = blocks.getUint32(offset + at * 4)
  for (let at = 16; at < 64; at++) {
    const near = schedule[at - 2] ?? 0
    const far = schedule[at - 15] ?? 0
    const sigma0 = rotated(far, 7) ^ rotated(far, 18) ^ (far >>> 3)
    const sigma1 = rotated(near, 17) ^ rotated(near, 19) ^ (near >>> 10)
    schedule[at] = (schedule[at - 16] ?? 0) + sigma0 + (schedule[at - 7] ?? 0) + sigma1
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let at = 0; at < 64; at++) {
    const choice = (e & f) ^ (~e & g)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const first = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice + (roundConstants[at] ?? 0) + (schedule[at] ?? 0)
    const second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] ?? 0) + word
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}
