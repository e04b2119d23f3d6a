import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { TransferError } from '../store/transfer/format.ts'

/**
 * Writes a dump that only its owner can read, because it contains token hashes and the variables of services. The file
 * appears whole or not at all.
 */
export async function writeDumpFile(file: string, lines: AsyncIterable<string>): Promise<void> {
  if (existsSync(file)) throw new TransferError(`${file} exists already: choose another name, or move it away.`)
  const folder = path.dirname(file)
  if (!existsSync(folder)) throw new TransferError(`There is no folder ${folder}: make it first, or choose another.`)
  const unfinished = `${file}.unfinished`
  try {
    await pipeline(Readable.from(chunked(lines)), createGzip(), createWriteStream(unfinished, { mode: 0o600 }))
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** Yields the lines of a dump file. Throws a TransferError when the file is not a dump or was truncated. */
export async function* readDumpFile(file: string): AsyncGenerator<string> {
  if (!existsSync(file)) throw new TransferError(`There is no file ${file}.`)
  const unzipped = createGunzip()
  const source = createReadStream(file)
  source.once('error', (error) => unzipped.destroy(error))
  source.pipe(unzipped).setEncoding('utf8')
  try {
    let rest = ''
    for await (const chunk of unzipped) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
    if (rest !== '') yield rest
  } catch (error) {
    throw readingError(file, error)
  } finally {
    source.destroy()
    unzipped.destroy()
  }
}

function readingError(file: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'Z_BUF_ERROR') return new TransferError(`${file} ends early: it is not whole. Nothing was loaded.`)
  if (code === 'Z_DATA_ERROR')
    return new TransferError(`${file} is not a dump of XCE Services, or is damaged. Nothing was loaded.`)
  return error
}

/** Joins lines to chunks of 64 KiB, because a stream is slow with single lines. */
async function* chunked(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = ''
  for await (const line of lines) {
    chunk += line
    if (chunk.length < 65_536) continue
    yield chunk
    chunk = ''
  }
  yield chunk
}
