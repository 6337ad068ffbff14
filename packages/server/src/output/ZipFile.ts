import { once } from "node:events"
import type { Writable } from "node:stream"
import { crc32, createDeflateRaw } from "node:zlib"

/** A file of the archive. */
export interface ZipEntry {
  readonly path: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A stream of Node, whose types users of this package need not have. */
interface Output {
  readonly write: (bytes: Uint8Array) => boolean
}

interface Written {
  readonly name: Buffer
  readonly crc: number
  readonly packedBytes: number
  readonly bytes: number
  readonly offset: number
}

/** Flags of each entry: sizes follow the data (bit 3), and the name is UTF-8 (bit 11). */
const FLAGS = 0x0808
const DEFLATE = 8
/** The version that reads the sizes of ZIP64. */
const VERSION = 45
/** Says that a field is in the extra field of ZIP64. */
const IN_ZIP64 = 0xffffffff
/** The earliest time of the format, 1 January 1980: no file has a time of its own. */
const DATE = 0x21

const uint = (...fields: ReadonlyArray<readonly [bytes: 2 | 4 | 8, value: number]>): Buffer => {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0))
  let at = 0
  for (const [bytes, value] of fields) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), at)
    else buffer.writeUIntLE(value, at, bytes)
    at += bytes
  }
  return buffer
}

const localHeader = (name: Buffer): Buffer =>
  Buffer.concat([
    // Signature, version, flags, method, time, date, CRC and both sizes, lengths of name and extra field.
    uint([4, 0x04034b50], [2, VERSION], [2, FLAGS], [2, DEFLATE], [2, 0], [2, DATE]),
    uint([4, 0], [4, IN_ZIP64], [4, IN_ZIP64], [2, name.length], [2, 20]),
    name,
    // The presence of the extra field says that the sizes after the data have 8 bytes each.
    uint([2, 1], [2, 16], [8, 0], [8, 0])
  ])

const centralHeader = ({ bytes, crc, name, offset, packedBytes }: Written): Buffer =>
  Buffer.concat([
    uint([4, 0x02014b50], [2, VERSION], [2, VERSION], [2, FLAGS], [2, DEFLATE], [2, 0], [2, DATE], [4, crc]),
    uint([4, IN_ZIP64], [4, IN_ZIP64], [2, name.length], [2, 28], [2, 0], [2, 0], [2, 0], [4, 0], [4, IN_ZIP64]),
    name,
    uint([2, 1], [2, 24], [8, bytes], [8, packedBytes], [8, offset])
  ])

const ending = (entries: number, offset: number, bytes: number): Buffer =>
  Buffer.concat([
    uint([4, 0x06064b50], [8, 44], [2, VERSION], [2, VERSION], [4, 0], [4, 0], [8, entries], [8, entries]),
    uint([8, bytes], [8, offset]),
    uint([4, 0x07064b50], [4, 0], [8, offset + bytes], [4, 1]),
    uint([4, 0x06054b50], [2, 0], [2, 0], [2, 0xffff], [2, 0xffff], [4, IN_ZIP64], [4, IN_ZIP64], [2, 0])
  ])

/**
 * Writes a ZIP archive (APPNOTE 6.3.10) of any size, as ZIP64. Holds a piece of the current file, and the name and the sizes of
 * each file. Returns the number of files.
 */
export const writeZip = async (entries: AsyncIterable<ZipEntry>, to: Output): Promise<number> => {
  let offset = 0
  const write = async (bytes: Uint8Array): Promise<void> => {
    offset += bytes.length
    if (!to.write(bytes)) await once(to as Writable, "drain")
  }
  const written: Array<Written> = []
  for await (const { bytes, path } of entries) {
    const [name, start] = [Buffer.from(path), offset]
    await write(localHeader(name))
    const beginning = offset
    const counted = { crc: 0, bytes: 0 }
    const deflate = createDeflateRaw()
    const packed = (async () => {
      for await (const chunk of deflate) await write(chunk as Uint8Array)
    })()
    const feed = async () => {
      for await (const chunk of bytes) {
        counted.crc = crc32(chunk, counted.crc)
        counted.bytes += chunk.length
        if (!deflate.write(chunk)) await once(deflate, "drain")
      }
      deflate.end()
    }
    await Promise.all([
      feed().catch((error: unknown) => {
        deflate.destroy(error instanceof Error ? error : new Error(String(error)))
        throw error
      }),
      packed
    ])
    const entry = { name, ...counted, packedBytes: offset - beginning, offset: start }
    await write(uint([4, 0x08074b50], [4, entry.crc], [8, entry.packedBytes], [8, entry.bytes]))
    written.push(entry)
  }
  const start = offset
  for (const entry of written) await write(centralHeader(entry))
  await write(ending(written.length, start, offset - start))
  return written.length
}
