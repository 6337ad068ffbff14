import type { AttachmentSource } from "@agentos/core"
import { makeDecoder, type TransferEncoding } from "@agentos/core/transfer-encoding"
import PostalMime, { type Email } from "postal-mime"
import { textOfHtml } from "./HtmlText.ts"

/** Size limit of all header fields together, those of every part included. A message beyond it is unreadable. */
const HEADERS_LIMIT_BYTES = 2 * 1024 * 1024

/** Limit of the text that is read from all text parts together, before decoding. The rest is dropped. */
const TEXT_LIMIT_BYTES = 4 * 1024 * 1024

/** Limit of parts that are read. The rest are dropped. */
const PARTS_MAX = 20_000

const LF = 0x0a
const CR = 0x0d
const DASH = 0x2d

/** Decodes the body of a part, which postal-mime passes line by line. */
interface PartDecoder {
  readonly update: (line: Uint8Array) => void
  readonly finalize: () => Promise<ArrayBuffer>
}

/** The internals of postal-mime 4.0.0 that this module uses, and its type declarations omit. */
interface PostalMimeReader {
  readonly av: Uint8Array
  readPos: number
  readonly root: PostalMimeNode
  readonly currentNode: PostalMimeNode
  readonly isInlineTextNode: (node: PostalMimeNode) => boolean
  readLine: () => unknown
  /** The text parts by the part that they belong to, in order. */
  readonly textMap: ReadonlyMap<
    PostalMimeNode,
    Readonly<Partial<Record<TextType, ReadonlyArray<{ readonly value: string }>>>>
  >
  /** The types that the mail has. */
  readonly textTypes: ReadonlySet<TextType>
  readonly textContent: Partial<Record<TextType, string>>
  renderTextContent: () => void
}

type TextType = "plain" | "html"

interface PostalMimeNode {
  readonly state: "header" | "body" | "finished"
  contentDecoder: PartDecoder | null
  /** Null for a part that has no body. */
  readonly content: ArrayBuffer | null
  readonly contentType: {
    readonly multipart: string | false
    readonly parsed: { readonly params: Readonly<Record<string, string>> }
  }
  readonly contentTransferEncoding: { readonly encoding: string }
  readonly childNodes: ReadonlyArray<PostalMimeNode>
}

/** Collects the body of a part without encoding. postal-mime would keep an object for each line. */
class PlainDecoder implements PartDecoder {
  #bytes = Buffer.alloc(0)
  #length = 0

  update(line: Uint8Array): void {
    this.#reserve(line.length + 1)
    if (line.length > 0) this.#bytes.set(line, this.#length)
    this.#length += line.length
    this.#bytes[this.#length++] = LF
  }

  /** Appends bytes unchanged. */
  write(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(1024, (this.#length + bytes) * 2))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }

  finalize(): Promise<ArrayBuffer> {
    return Promise.resolve(new Uint8Array(this.#bytes.subarray(0, this.#length)).buffer)
  }
}

/** Decodes base64 in one pass. postal-mime would keep an object for each padded unit. */
class Base64PartDecoder implements PartDecoder {
  readonly #decoded = new PlainDecoder()
  readonly #decoder = makeDecoder("base64")

  update(line: Uint8Array): void {
    this.#decoded.write(this.#decoder.decode(line))
  }

  finalize(): Promise<ArrayBuffer> {
    return this.#decoded.finalize()
  }
}

/** Keeps nothing: an attachment is read from its place in the message. */
const discarding: PartDecoder = { update: () => undefined, finalize: () => Promise.resolve(new ArrayBuffer(0)) }

/** The size limit that all text parts of a message share. */
class TextBudget {
  leftBytes = TEXT_LIMIT_BYTES
  isExceeded = false

  /** Returns the part of a line that may still be read; undefined if none. */
  take(line: Uint8Array): Uint8Array | undefined {
    if (this.isExceeded) return undefined
    this.isExceeded = line.length > this.leftBytes
    const taken = line.subarray(0, this.leftBytes)
    this.leftBytes -= taken.length + 1
    return taken
  }
}

const bounded = (decoder: PartDecoder, budget: TextBudget): PartDecoder => ({
  update: (line) => {
    const taken = budget.take(line)
    if (taken !== undefined) decoder.update(taken)
  },
  finalize: () => decoder.finalize()
})

const encodingOf = ({ contentTransferEncoding: { encoding } }: PostalMimeNode): TransferEncoding => {
  if (/base64/i.test(encoding)) return "base64"
  return /quoted-printable/i.test(encoding) ? "quoted-printable" : "identity"
}

/** Returns a replacement of postal-mime's decoder, except for quoted-printable, whose decoder needs little memory. */
const decoderFor = (part: PostalMimeNode): PartDecoder | null => {
  switch (encodingOf(part)) {
    case "base64":
      return new Base64PartDecoder()
    case "quoted-printable":
      return part.contentDecoder
    case "identity":
      return new PlainDecoder()
  }
}

const htmlOfText = (text: string): string =>
  `<div>${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\n", "<br>\n")}</div>`

/** Joins the text parts of each type. A part without that type is converted, in linear time, which postal-mime is not. */
const joinTexts = ({ textContent, textMap, textTypes }: PostalMimeReader): void => {
  for (const type of textTypes) {
    const texts = [...textMap.values()].flatMap(({ html = [], plain = [] }) => {
      if (type === "html")
        return html.length > 0 ? html.map(({ value }) => value) : plain.map((part) => htmlOfText(part.value))
      return plain.length > 0 ? plain.map(({ value }) => value) : html.map((part) => textOfHtml(part.value) ?? "")
    })
    textContent[type] = texts.join("\n")
  }
}

/** Returns where the last line begins. postal-mime reads that line itself, because it ends the message. */
const lastLineStart = (bytes: Uint8Array): number => bytes.lastIndexOf(LF, bytes.length - 2) + 1

/** Returns the end of the lines from `start` on that do not begin with two dashes, as a boundary does. */
const boundaryStart = (bytes: Buffer, start: number, end: number): number => {
  if (bytes[start] === DASH && bytes[start + 1] === DASH) return start
  const found = bytes.indexOf("\n--", start)
  return found < 0 || found + 1 > end ? end : found + 1
}

/**
 * Reads MIME with postal-mime in time and memory proportional to the size of the message, however short its
 * lines are and however many parts it has. Text beyond the size limit and parts beyond their limit are dropped.
 */
export const readMime = async (raw: Uint8Array): Promise<BoundedMail> => {
  const parser = new PostalMime({ forceRfc822Attachments: true, maxHeadersSize: HEADERS_LIMIT_BYTES })
  const reader = parser as unknown as PostalMimeReader
  const readLine = reader.readLine.bind(reader)
  const budget = new TextBudget()
  const decoders = new WeakMap<PostalMimeNode, PartDecoder>()
  const bodies = new Map<PostalMimeNode, { readonly start: number; readonly end: number }>()
  let node: PostalMimeNode | undefined
  let parts = 0
  let hasTooManyParts = false

  /** Replaces the decoder of a part when its body begins. */
  const decoderOf = (part: PostalMimeNode): PartDecoder | undefined => {
    const known = decoders.get(part)
    if (known !== undefined || part.contentDecoder === null) return known
    const decoder = reader.isInlineTextNode(part) ? decoderFor(part) : null
    part.contentDecoder = decoder === null ? discarding : bounded(decoder, budget)
    bodies.set(part, { start: reader.readPos, end: reader.readPos })
    decoders.set(part, part.contentDecoder)
    return part.contentDecoder
  }

  /** Reads the lines of a body up to the next one that may be a boundary. */
  const readBody = (decoder: PartDecoder): void => {
    const bytes = Buffer.from(reader.av.buffer, reader.av.byteOffset, reader.av.byteLength)
    const end = boundaryStart(bytes, reader.readPos, Math.max(reader.readPos, lastLineStart(bytes)))
    for (let start = reader.readPos; start < end && !(budget.isExceeded && isText());) {
      const next = bytes.indexOf(LF, start) + 1
      let lineEnd = next - 1
      while (lineEnd > start && bytes[lineEnd - 1] === CR) lineEnd--
      decoder.update(bytes.subarray(start, lineEnd))
      start = next
    }
    reader.readPos = end
    // Where the next line is a boundary, the body ends before it. Otherwise a later call sets a later end.
    if (node !== undefined) bodies.set(node, { start: bodies.get(node)?.start ?? end, end })
  }
  const isText = () => node !== undefined && reader.isInlineTextNode(node)

  reader.readLine = () => {
    if (reader.currentNode !== node) {
      node = reader.currentNode
      hasTooManyParts ||= ++parts > PARTS_MAX
    }
    if (hasTooManyParts) reader.readPos = reader.av.length
    else if (node.state === "body") {
      const decoder = decoderOf(node)
      if (decoder !== undefined) readBody(decoder)
    }
    return readLine()
  }
  reader.renderTextContent = () => joinTexts(reader)
  const email = await parser.parse(raw)

  /** The last body ends with the message, unless a boundary ended it. */
  const sourceOf = (part: PostalMimeNode): AttachmentSource => {
    const { end, start } = bodies.get(part) ?? { start: raw.length, end: raw.length }
    const isLast = part === reader.currentNode && part === node
    const bodyEnd = isLast ? raw.length : withoutLineBreak(raw, start, end)
    return { offset: start, encodedBytes: bodyEnd - start, encoding: encodingOf(part) }
  }
  // In the order in which postal-mime collects attachments: every other part with a body.
  const attached = (part: PostalMimeNode): ReadonlyArray<PostalMimeNode> => {
    const isAttachment = part.contentType.multipart === false && part.content !== null && !reader.isInlineTextNode(part)
    return [...(isAttachment ? [part] : []), ...part.childNodes.flatMap(attached)]
  }
  const attachedParts = attached(reader.root)
  const sources = attachedParts.map(sourceOf)
  if (sources.length !== email.attachments.length) throw new Error("the attachments could not be located")
  return {
    email,
    sources,
    typeParameters: attachedParts.map(({ contentType }) => contentType.parsed.params),
    isTruncated: budget.isExceeded || hasTooManyParts
  }
}

/** A mail as postal-mime read it, but with empty attachments. */
export interface BoundedMail {
  readonly email: Email
  /** The places of the attachments, in their order. */
  readonly sources: ReadonlyArray<AttachmentSource>
  /** The parameters of their Content-Type, by name in lower case. */
  readonly typeParameters: ReadonlyArray<Readonly<Record<string, string>>>
  readonly isTruncated: boolean
}

/** Returns the end without the line break before a boundary, which belongs to the boundary (RFC 2046, section 5.1.1). */
const withoutLineBreak = (bytes: Uint8Array, start: number, end: number): number => {
  if (end <= start || bytes[end - 1] !== LF) return end
  return end - 2 >= start && bytes[end - 2] === CR ? end - 2 : end - 1
}
