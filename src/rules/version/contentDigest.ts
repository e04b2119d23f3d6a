import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { canonicalJson } from '../../model/canonicalJson.ts'
import type { Content } from '../../model/content.ts'

/**
 * A text that is equal for equal contents (`sameContent`) and only for those, so that a version is compared with all earlier ones of its
 * service by one look-up. Variables and ports are brought in order: theirs means nothing.
 */
export function contentDigest(content: Content): string {
  const text = canonicalJson({ ...content, env: byName(content.env), ports: byName(content.ports) })
  return bytesToHex(sha256(utf8ToBytes(text)))
}

function byName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}
