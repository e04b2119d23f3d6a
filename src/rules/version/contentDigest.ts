import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { canonicalJson } from '../../model/canonicalJson.ts'
import type { Content } from '../../model/content.ts'

/**
 * Returns a text that is equal for equal contents (`sameContent`) and only for those, so that one look-up compares a
 * version with all earlier ones of its service. Variables and ports are sorted first, because their order does not
 * matter.
 */
export function contentDigest(content: Content): string {
  const text = canonicalJson({ ...content, env: byName(content.env), ports: byName(content.ports) })
  return bytesToHex(sha256(utf8ToBytes(text)))
}

function byName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}
