import type { AttachmentSource, FilePlace } from "@agentos/core"
import { sourceDecoder, type TransferEncoding } from "@agentos/core/transfer-encoding"
import type { Attachment } from "postal-mime"
import { readCms } from "./Cms.ts"
import { readTnef } from "./Tnef.ts"

/** A file in a mail, and its place. */
export interface PlacedFile {
  readonly attachment: Attachment
  readonly source: AttachmentSource
  /** The parameters of its Content-Type, by name in lower case. */
  readonly parameters: Readonly<Record<string, string>>
}

/** The content of a container file, which mail programs show as parts of the mail. */
export interface Opened {
  /** A signed mail without its header, to be read like the body of a mail. */
  readonly mime?: { readonly bytes: Uint8Array; readonly source: AttachmentSource }
  readonly text?: string | undefined
  readonly html?: string | undefined
  readonly files: ReadonlyArray<PlacedFile>
  /** The value of the parameter smime-type that the file should have. */
  readonly smimeType?: string
}

const NOTHING = new ArrayBuffer(0)

/** Returns the bytes of a file of a mail. */
export const bytesOf = (raw: Uint8Array, source: AttachmentSource): Uint8Array => {
  const decoder = sourceDecoder(source)
  return Buffer.concat([
    decoder.decode(raw.subarray(source.offset, source.offset + source.encodedBytes)),
    decoder.end()
  ])
}

/** The encoded bytes of a file, in the mail or in the file that contains it. */
export interface FoundFile {
  readonly encoded: Uint8Array
  readonly encoding: TransferEncoding
}

/**
 * Returns a function that finds the files of a mail. It decodes a file that contains others once, if those are asked for one
 * after the other.
 */
export const fileFinder = (raw: Uint8Array): ((source: AttachmentSource) => FoundFile) => {
  /** The last decoded file at each depth. */
  const decoded: Array<{ readonly place: string; readonly bytes: Uint8Array } | undefined> = []
  const find = (source: AttachmentSource): FoundFile => {
    const { encodedBytes, encoding, inside: places = [], offset } = source
    const last = places.at(-1)
    if (last === undefined) return { encoded: raw.subarray(offset, offset + encodedBytes), encoding }
    const outer = { ...source, inside: places.slice(0, -1) }
    const place = JSON.stringify(outer)
    let container = decoded[places.length]
    if (container?.place !== place) {
      const { encoded, ...found } = find(outer)
      container = { place, bytes: bytesOf(encoded, { ...found, offset: 0, encodedBytes: encoded.length }) }
      decoded[places.length] = container
    }
    return {
      encoded: container.bytes.subarray(last.offset, last.offset + last.encodedBytes),
      encoding: last.encoding
    }
  }
  return find
}

/** Returns the source of a file at a place in the bytes of another file. */
export const inside = (
  outer: AttachmentSource,
  place: FilePlace,
  more: ReadonlyArray<FilePlace> = []
): AttachmentSource => ({ ...outer, inside: [...(outer.inside ?? []), place, ...more] })

const isTnef = ({ filename, mimeType }: Attachment): boolean =>
  /^application\/(?:vnd\.)?ms-tnef$/.test(mimeType) ||
  (mimeType === "application/octet-stream" && /^win(?:mail|dat)\.dat$/i.test(filename ?? ""))

const isCms = ({ filename, mimeType }: Attachment): boolean =>
  /^application\/(?:x-)?pkcs7-mime$/.test(mimeType) ||
  (mimeType === "application/octet-stream" && /\.p7m$/i.test(filename ?? ""))

/** Whether a file may be opened. */
export const isContainer = (attachment: Attachment): boolean => isTnef(attachment) || isCms(attachment)

/** Opens winmail.dat and opaque S/MIME. Undefined if the file is neither, or malformed. */
export const open = (raw: Uint8Array, { attachment, source }: PlacedFile): Opened | undefined => {
  const bytes = bytesOf(raw, source)
  if (isCms(attachment)) {
    const cms = readCms(bytes)
    if (cms === undefined) return undefined
    const smimeType = cms.type
    if (cms.place === undefined) return { files: [], smimeType }
    return { mime: { bytes: bytesOf(bytes, cms.place), source: inside(source, cms.place) }, files: [], smimeType }
  }
  const tnef = readTnef(bytes)
  if (tnef === undefined) return undefined
  return {
    text: tnef.text,
    html: tnef.html,
    files: tnef.files.map(({ contentId, contentType, filename, place }) => ({
      attachment: {
        filename,
        mimeType: contentType,
        disposition: contentId === undefined ? "attachment" : "inline",
        ...(contentId === undefined ? {} : { contentId }),
        content: NOTHING
      },
      source: inside(source, place),
      parameters: {}
    }))
  }
}
