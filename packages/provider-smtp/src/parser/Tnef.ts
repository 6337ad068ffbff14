import type { FilePlace } from "@agentos/core"
import { decodeText, metaCharset } from "../header/Charset.ts"

export interface TnefFile {
  readonly filename: string | null
  readonly contentType: string
  readonly contentId: string | undefined
  readonly place: FilePlace
}

/** The content of a TNEF stream, except for its text as compressed RTF. */
export interface TnefContent {
  readonly text: string | undefined
  readonly html: string | undefined
  readonly files: ReadonlyArray<TnefFile>
}

const SIGNATURE = 0x223e9f78
const HEADER_BYTES = 6
/** Messages inside messages. */
const DEPTH_MAX = 3
const FILES_MAX = 200
const PROPERTIES_MAX = 4_096
const TEXT_LIMIT_BYTES = 1024 * 1024
const NAME_LIMIT_BYTES = 1_024

/** Ids of attributes (MS-OXTNEF, section 2.1.3.4). */
const ATTRIBUTE = {
  oemCodepage: 0x00069007,
  messageProperties: 0x00069003,
  body: 0x0002800c,
  renderData: 0x00069002,
  title: 0x00018010,
  data: 0x0006800f,
  attachment: 0x00069005
} as const

/** Ids of properties (MS-OXPROPS). */
const PROPERTY = {
  body: 0x1000,
  html: 0x1013,
  displayName: 0x3001,
  data: 0x3701,
  filename: 0x3704,
  longFilename: 0x3707,
  contentType: 0x370e,
  contentId: 0x3712,
  codepage: 0x3fde
} as const

const OBJECT = 0x000d
const STRING8 = 0x001e
const UNICODE = 0x001f
const BINARY = 0x0102
const MULTIPLE = 0x1000
const VARIABLE: ReadonlySet<number> = new Set([OBJECT, STRING8, UNICODE, BINARY])
/** Sizes of the other types, with their padding (MS-OXTNEF, section 2.1.3.5). */
const SIZES: Readonly<Record<number, number>> = {
  0x0002: 4,
  0x0003: 4,
  0x0004: 4,
  0x0005: 8,
  0x0006: 8,
  0x0007: 8,
  0x000a: 4,
  0x000b: 4,
  0x0014: 8,
  0x0040: 8,
  0x0048: 16
}
/** The identifier of an interface before the bytes of an object. */
const INTERFACE_BYTES = 16

interface Value {
  readonly type: number
  readonly start: number
  readonly end: number
}

const padded = (length: number): number => Math.ceil(length / 4) * 4

/** Reads a list of properties up to one that is malformed. A property with several values has the first one. */
const propertiesOf = (bytes: Buffer, start: number, end: number): ReadonlyMap<number, Value> => {
  const found = new Map<number, Value>()
  let at = start
  const uint32 = (): number | undefined => {
    if (at + 4 > end) return undefined
    at += 4
    return bytes.readUInt32LE(at - 4)
  }
  const count = Math.min(uint32() ?? 0, PROPERTIES_MAX)
  for (let each = 0; each < count; each++) {
    const tag = uint32()
    if (tag === undefined) return found
    const id = tag >>> 16
    const type = tag & 0xffff & ~MULTIPLE
    if (id >= 0x8000) {
      at += 16
      const kind = uint32()
      const length = uint32()
      if (kind === undefined || length === undefined) return found
      if (kind === 1) at += padded(length)
    }
    const size = SIZES[type]
    const isVariable = VARIABLE.has(type)
    if (size === undefined && !isVariable) return found
    const values = isVariable || (tag & MULTIPLE) !== 0 ? uint32() : 1
    for (let value = 0; value < (values ?? 0); value++) {
      const length = size ?? uint32()
      if (length === undefined || at + length > end) return found
      if (value === 0) found.set(id, { type, start: at, end: at + length })
      at += padded(length)
    }
  }
  return found
}

/** Returns the charset of a code page of Windows. */
const charsetOf = (codepage: number | undefined): string | undefined => {
  if (codepage === undefined || codepage === 0) return undefined
  return codepage === 65001
    ? "utf-8"
    : codepage === 20127
      ? "us-ascii"
      : codepage >= 28591 && codepage <= 28606
        ? `iso-8859-${codepage - 28590}`
        : `cp${codepage}`
}

const withoutNul = (text: string): string => {
  const end = text.indexOf("\0")
  return end < 0 ? text : text.slice(0, end)
}

/** The parts of a file that were read so far. */
interface OpenFile {
  title: string | undefined
  data: FilePlace | undefined
  properties: ReadonlyMap<number, Value>
}

/**
 * Reads a TNEF stream (MS-OXTNEF), which Outlook and Exchange send as winmail.dat, up to where it is malformed. Undefined
 * if it is not one. Takes time and memory in proportion to its size. `origin` is the place of the stream in its file.
 */
export const readTnef = (stream: Uint8Array, origin = 0, depth = 0): TnefContent | undefined => {
  const bytes = Buffer.from(stream.buffer, stream.byteOffset, stream.byteLength)
  if (bytes.length < HEADER_BYTES || bytes.readUInt32LE(0) !== SIGNATURE) return undefined
  const files: Array<TnefFile> = []
  let open: OpenFile | undefined
  let oemCodepage: number | undefined
  let body: string | undefined
  let properties: ReadonlyMap<number, Value> = new Map()

  const uint32Of = (value: Value | undefined): number | undefined =>
    value === undefined || value.end - value.start < 4 ? undefined : bytes.readUInt32LE(value.start)
  const textOf = (value: Value | undefined, limit: number): string | undefined => {
    if (value === undefined) return undefined
    const part = bytes.subarray(value.start, Math.min(value.end, value.start + limit))
    if (value.type === UNICODE) return withoutNul(part.toString("utf16le"))
    return withoutNul(decodeText(part, charsetOf(oemCodepage)))
  }
  const place = (start: number, end: number): FilePlace => ({
    offset: origin + start,
    encodedBytes: end - start,
    encoding: "identity"
  })

  const close = (): void => {
    const file = open
    open = undefined
    if (file === undefined || files.length >= FILES_MAX) return
    const nameIn = (id: number) => textOf(file.properties.get(id), NAME_LIMIT_BYTES) || undefined
    const object = file.properties.get(PROPERTY.data)
    const filename =
      nameIn(PROPERTY.longFilename) ?? nameIn(PROPERTY.filename) ?? file.title ?? nameIn(PROPERTY.displayName) ?? null
    const contentId = nameIn(PROPERTY.contentId)
    const contentType = nameIn(PROPERTY.contentType)?.toLowerCase()
    const add = (data: FilePlace, type: string) => files.push({ filename, contentType: type, contentId, place: data })
    if (object?.type === OBJECT && object.end - object.start > INTERFACE_BYTES) {
      const start = object.start + INTERFACE_BYTES
      const inner =
        depth < DEPTH_MAX ? readTnef(bytes.subarray(start, object.end), origin + start, depth + 1) : undefined
      add(place(start, object.end), inner === undefined ? "application/octet-stream" : "application/ms-tnef")
      files.push(...(inner?.files ?? []).slice(0, FILES_MAX - files.length))
      return
    }
    const data = object === undefined ? file.data : place(object.start, object.end)
    if (data !== undefined) add(data, contentType ?? "application/octet-stream")
  }

  for (let at = HEADER_BYTES; at + 9 <= bytes.length;) {
    const id = bytes.readUInt32LE(at + 1)
    const start = at + 9
    const end = start + bytes.readUInt32LE(at + 5)
    // A file that ends with the stream may lack the checksum.
    if (end > bytes.length) break
    at = end + 2
    switch (id) {
      case ATTRIBUTE.oemCodepage:
        oemCodepage = uint32Of({ type: 0, start, end })
        break
      case ATTRIBUTE.body:
        body = textOf({ type: STRING8, start, end }, TEXT_LIMIT_BYTES)
        break
      case ATTRIBUTE.messageProperties:
        properties = propertiesOf(bytes, start, end)
        break
      case ATTRIBUTE.renderData:
        close()
        open = { title: undefined, data: undefined, properties: new Map() }
        break
      case ATTRIBUTE.title:
        if (open !== undefined) open.title = textOf({ type: STRING8, start, end }, NAME_LIMIT_BYTES)
        break
      case ATTRIBUTE.data:
        if (open !== undefined) open.data = place(start, end)
        break
      case ATTRIBUTE.attachment:
        if (open !== undefined) open.properties = propertiesOf(bytes, start, end)
        break
    }
  }
  close()
  const html = properties.get(PROPERTY.html)
  const htmlBytes =
    html === undefined ? undefined : bytes.subarray(html.start, Math.min(html.end, html.start + TEXT_LIMIT_BYTES))
  const codepage = uint32Of(properties.get(PROPERTY.codepage))
  return {
    text: (textOf(properties.get(PROPERTY.body), TEXT_LIMIT_BYTES) ?? body) || undefined,
    html:
      html === undefined || htmlBytes === undefined
        ? undefined
        : html.type === UNICODE
          ? withoutNul(htmlBytes.toString("utf16le"))
          : withoutNul(decodeText(htmlBytes, charsetOf(codepage), metaCharset(htmlBytes))),
    files
  }
}
