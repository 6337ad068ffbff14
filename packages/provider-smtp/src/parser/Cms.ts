import type { FilePlace } from "@agentos/core"

/** The content of a CMS message (RFC 5652), as the parameter smime-type names it (RFC 8551, section 3.2.2). */
export interface CmsContent {
  readonly type: "signed-data" | "enveloped-data" | "compressed-data" | "authEnveloped-data" | "certs-only"
  /** The place of the content; undefined if it is encrypted, compressed or elsewhere. */
  readonly place: FilePlace | undefined
}

interface Element {
  readonly tag: number
  readonly start: number
  /** Undefined for the indefinite length of BER. */
  readonly end: number | undefined
}

const SEQUENCE = 0x30
const OBJECT_ID = 0x06
const EXPLICIT_0 = 0xa0
const OCTET_STRING = 0x04
const CONSTRUCTED = 0x20
const DEPTH_MAX = 8

const TYPES: Readonly<Record<string, CmsContent["type"]>> = {
  "2a864886f70d010702": "signed-data",
  "2a864886f70d010703": "enveloped-data",
  "2a864886f70d0109100109": "compressed-data",
  "2a864886f70d0109100117": "authEnveloped-data"
}

/** Reads the head of an element, whose bytes may not go beyond `limit`. */
const elementAt = (bytes: Uint8Array, at: number, limit: number): Element | undefined => {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag === undefined || first === undefined || at + 2 > limit || (tag & 0x1f) === 0x1f) return undefined
  if (first === 0x80) return (tag & CONSTRUCTED) === 0 ? undefined : { tag, start: at + 2, end: undefined }
  const digits = first < 0x80 ? 0 : first & 0x7f
  if (digits > 4) return undefined
  let length = digits === 0 ? first : 0
  for (let each = 0; each < digits; each++) length = length * 256 + (bytes[at + 2 + each] ?? Number.NaN)
  const start = at + 2 + digits
  return start + length <= limit ? { tag, start, end: start + length } : undefined
}

/** Returns the end of an element, after its end-of-contents; undefined if it is malformed. */
const endOf = (bytes: Uint8Array, { end, start }: Element, limit: number, depth = 0): number | undefined => {
  if (end !== undefined) return end
  let at = start
  while (at + 2 <= limit) {
    if (bytes[at] === 0 && bytes[at + 1] === 0) return at + 2
    const inner = elementAt(bytes, at, limit)
    const next = inner === undefined || depth === DEPTH_MAX ? undefined : endOf(bytes, inner, limit, depth + 1)
    if (next === undefined) return undefined
    at = next
  }
  return undefined
}

/**
 * Returns the content of a CMS message in BER or DER; undefined if it is malformed. Reads the heads of its elements only,
 * since an attachment is read from its place, and libraries return values. A signature is not checked: it proves nothing.
 */
export const readCms = (bytes: Uint8Array): CmsContent | undefined => {
  const limit = bytes.length
  /** Returns the first element in another one, if it has the tag. */
  const into = (outer: Element | undefined, tag: number): Element | undefined => {
    const found = outer === undefined ? undefined : elementAt(bytes, outer.start, outer.end ?? limit)
    return found?.tag === tag ? found : undefined
  }
  const after = (previous: Element | undefined, outer: Element | undefined): Element | undefined => {
    const end = previous === undefined ? undefined : endOf(bytes, previous, limit)
    return end === undefined ? undefined : elementAt(bytes, end, outer?.end ?? limit)
  }
  const message = elementAt(bytes, 0, limit)
  const id = message?.tag === SEQUENCE ? into(message, OBJECT_ID) : undefined
  const type = id === undefined ? undefined : TYPES[Buffer.from(bytes.subarray(id.start, id.end)).toString("hex")]
  if (type === undefined) return undefined
  if (type !== "signed-data") return { type, place: undefined }
  const signed = into(after(id, message), SEQUENCE)
  const version = into(signed, 0x02)
  const encapsulated = after(after(version, signed), signed)
  if (encapsulated?.tag !== SEQUENCE) return undefined
  const content = after(into(encapsulated, OBJECT_ID), encapsulated)
  if (content?.tag !== EXPLICIT_0) return { type: "certs-only", place: undefined }
  const octets = elementAt(bytes, content.start, content.end ?? limit)
  const end = octets === undefined ? undefined : endOf(bytes, octets, limit)
  if (octets === undefined || end === undefined || (octets.tag & ~CONSTRUCTED) !== OCTET_STRING) return undefined
  const encoding = octets.tag === OCTET_STRING ? "identity" : "octet-strings"
  return { type, place: { offset: octets.start, encodedBytes: end - octets.start, encoding } }
}
