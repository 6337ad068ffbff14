import type { Readable as ReadableFile, Writable } from "node:stream"

/** A file of the archive. */
export interface ZipEntry {
  readonly path: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A stream of Node, whose types users of this package need not have. */
interface Output {
  readonly write: (bytes: Uint8Array) => boolean
}

/**
 * Writes a ZIP archive of any size, as ZIP64 where it must be. Holds a piece of the current file, and the name and the sizes of
 * each file. Returns the number of files.
 */
export const writeZip = async (entries: AsyncIterable<ZipEntry>, to: Output): Promise<number> => {
  const [{ Readable }, { finished, pipeline }, { ZipFile }] = await Promise.all([
    import("node:stream"),
    import("node:stream/promises"),
    import("yazl")
  ])
  const zip = new ZipFile()
  const failed = new AbortController()
  const { signal } = failed
  let count = 0
  let file: ReadableFile
  // yazl keeps the function of each file until the end, so that it must not refer to the file itself.
  const giveFile = (give: (error: null, file: ReadableFile) => void) => give(null, file)
  const add = async () => {
    for await (const { bytes, path } of entries) {
      file = Readable.from(bytes, { objectMode: false, signal })
      zip.addReadStreamLazy(path, giveFile)
      await finished(file)
      count += 1
    }
    zip.end()
  }
  // yazl waits for a file that fails, so that each side has to end the other.
  const parts = [add(), pipeline(zip.outputStream, to as Writable, { end: false, signal })]
  await Promise.all(
    parts.map((part) =>
      part.catch((error: unknown) => {
        failed.abort(error)
        throw error
      })
    )
  )
  return count
}
