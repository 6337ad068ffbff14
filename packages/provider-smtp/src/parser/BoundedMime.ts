import { isUtf8 } from "node:buffer"
import type { AttachmentSource } from "@agentos/core"
import { makeDecoder, type TransferDecoder, type TransferEncoding } from "@agentos/core/transfer-encoding"
import PostalMime, { type Attachment, type Email } from "postal-mime"
import { decodeText, metaCharset } from "../header/Charset.ts"
import { decodeWords, joinWords } from "../header/EncodedWords.ts"
import { readHeaderBlock } from "../header/HeaderBlock.ts"
import { inside, isContainer, open, type PlacedFile } from "./Containers.ts"
import { unflow } from "./FlowedText.ts"
import { textOfHtml } from "./HtmlText.ts"

/** Size limit of all header fields together, those of every part included. A message beyond it is unreadable. */
const HEADERS_LIMIT_BYTES = 2 * 1024 * 1024

/** Limit of the text that is read from all text parts together, before decoding. The rest is dropped. */
const TEXT_LIMIT_BYTES = 4 * 1024 * 1024

/** Limit of the text that is read from a named part that may turn out to be the only text. */
const NAMED_TEXT_LIMIT_BYTES = 1024 * 1024

/** The beginning of a message that can name the charset of its raw header fields, in bytes. */
const CHARSET_BYTES = 64 * 1024

/** Limit of parts that are read. The rest are dropped. */
const PARTS_MAX = 20_000

/** Limits of the files of a mail that are opened: their number, and how deep they are inside others. */
const CONTAINERS_MAX = 8
const CONTAINER_DEPTH_MAX = 3

/** The beginning of a message inside a mail in which its subject is searched, in bytes. */
const SUBJECT_WITHIN_BYTES = 16 * 1024
const SUBJECT_CHARACTERS = 200

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
  readLine: () => { readonly bytes: Uint8Array; readonly done: boolean }
  /** Sorts the parts of the message into text and attachments. */
  collectNode: (node: PostalMimeNode) => Promise<void>
}

interface StructuredField {
  /** In lower case. */
  readonly value: string
  /** The parameters by name in lower case. */
  readonly params: Readonly<Record<string, string>>
}

interface PostalMimeNode {
  readonly state: "header" | "body" | "finished"
  readonly headers: ReadonlyArray<{ readonly key: string; value: string }>
  contentDecoder: PartDecoder | null
  /** Null for a part that has no body. */
  readonly content: ArrayBuffer | null
  readonly contentType: { readonly multipart: string | false; readonly parsed: StructuredField }
  readonly contentDisposition: { readonly parsed: StructuredField }
  readonly contentTransferEncoding: { readonly encoding: string }
  readonly contentId?: string
  readonly parentNode?: PostalMimeNode
  readonly childNodes: ReadonlyArray<PostalMimeNode>
}

type TextType = "plain" | "html"

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

const LINE_BREAK = Uint8Array.of(LF)

/**
 * Decodes an encoded part in one pass. postal-mime would keep an object for each padded unit of base64, and does not read
 * the padding of soft line breaks in quoted-printable.
 */
class EncodedPartDecoder implements PartDecoder {
  readonly #decoded = new PlainDecoder()
  readonly #decoder: TransferDecoder

  constructor(encoding: TransferEncoding) {
    this.#decoder = makeDecoder(encoding)
  }

  update(line: Uint8Array): void {
    this.#decoded.write(this.#decoder.decode(line))
    this.#decoded.write(this.#decoder.decode(LINE_BREAK))
  }

  finalize(): Promise<ArrayBuffer> {
    this.#decoded.write(this.#decoder.end())
    return this.#decoded.finalize()
  }
}

/** Keeps nothing: an attachment is read from its place in the message. */
const discarding: PartDecoder = { update: () => undefined, finalize: () => Promise.resolve(new ArrayBuffer(0)) }

/** The size limit that all text parts of a message share. */
class TextBudget {
  leftBytes: number
  isExceeded = false

  constructor(limitBytes: number) {
    this.leftBytes = limitBytes
  }

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

const encodingOf = ({
  contentTransferEncoding: { encoding }
}: PostalMimeNode): Exclude<TransferEncoding, "octet-strings"> => {
  if (/base64/i.test(encoding)) return "base64"
  return /quoted-printable/i.test(encoding) ? "quoted-printable" : "identity"
}

/** Returns a replacement of postal-mime's decoder. */
const decoderFor = (part: PostalMimeNode): PartDecoder => {
  const encoding = encodingOf(part)
  return encoding === "identity" ? new PlainDecoder() : new EncodedPartDecoder(encoding)
}

const htmlOfText = (text: string): string =>
  `<div>${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\n", "<br>\n")}</div>`

/** The role of a part: text of the mail, a file, or a named text that is text of the mail if nothing else is. */
type Role = "text" | "named text" | "file"

const nameOf = ({ contentDisposition, contentType }: PostalMimeNode): string =>
  contentDisposition.parsed.params["filename"] || contentType.parsed.params["name"] || ""

/** Whether a part is one form of the text: a direct part of multipart/alternative, or the root of multipart/related. */
const isForm = (part: PostalMimeNode): boolean => {
  const multipart = part.parentNode?.contentType.multipart
  return multipart === "alternative" || (multipart === "related" && part.parentNode?.childNodes[0] === part)
}

/** Returns the role of a part. A text with a name is a file, unless it is the whole mail or one form of its text. */
const roleOf = (part: PostalMimeNode, isFirst: boolean): Role => {
  const { value } = part.contentType.parsed
  if (value !== "text/plain" && value !== "text/html") return "file"
  if (part.parentNode === undefined) return "text"
  if (part.contentDisposition.parsed.value === "attachment") return "file"
  if (nameOf(part) === "" || isForm(part)) return "text"
  return isFirst ? "named text" : "file"
}

/** Whether the whole mail is a file, which is also its text. */
const isNamedRoot = (part: PostalMimeNode): boolean =>
  part.parentNode === undefined && (nameOf(part) !== "" || part.contentDisposition.parsed.value === "attachment")

/** Returns the text of a part. postal-mime trusts every label, and joins flowed lines whatever their quote depth. */
const textOf = ({ content, contentType: { parsed } }: PostalMimeNode): string => {
  const bytes = new Uint8Array(content ?? new ArrayBuffer(0))
  const { charset, delsp = "", format = "" } = parsed.params
  if (parsed.value === "text/html") return decodeText(bytes, charset, metaCharset(bytes))
  const text = decodeText(bytes, charset)
  return /^flowed$/i.test(format) ? unflow(text, /^yes$/i.test(delsp)) : text
}

/** Returns the parts without others in them, in order. */
const leavesOf = (part: PostalMimeNode): ReadonlyArray<PostalMimeNode> => [
  ...(part.contentType.multipart === false ? [part] : []),
  ...part.childNodes.flatMap(leavesOf)
]

/** Returns the closest multipart/alternative around a part, of whose forms one is shown; the part itself without one. */
const selectorOf = (part: PostalMimeNode): PostalMimeNode => {
  for (let each = part.parentNode; each !== undefined; each = each.parentNode) {
    if (each.contentType.multipart === "alternative") return each
  }
  return part
}

/** Joins the text parts of each type. A part without that type is converted, in linear time, which postal-mime is not. */
const joinTexts = (parts: ReadonlyArray<PostalMimeNode>): Record<TextType, string | undefined> => {
  const entries = new Map<PostalMimeNode, Record<TextType, Array<string>>>()
  for (const part of parts) {
    const selector = selectorOf(part)
    const entry = entries.get(selector) ?? { plain: [], html: [] }
    entries.set(selector, entry)
    entry[part.contentType.parsed.value === "text/html" ? "html" : "plain"].push(textOf(part))
  }
  const all = [...entries.values()]
  const joined = (type: TextType, convert: (text: string) => string): string | undefined => {
    if (!all.some((entry) => entry[type].length > 0)) return undefined
    const other = type === "html" ? "plain" : "html"
    const texts = all.flatMap((entry) => (entry[type].length > 0 ? entry[type] : entry[other].map(convert)))
    return texts.join("\n") || undefined
  }
  return {
    plain: joined("plain", (html) => textOfHtml(html) ?? ""),
    html: joined("html", htmlOfText)
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
export const readMime = (raw: Uint8Array): Promise<BoundedMail> => readParts(raw, { containersLeft: CONTAINERS_MAX }, 0)

const readParts = async (raw: Uint8Array, limits: { containersLeft: number }, depth: number): Promise<BoundedMail> => {
  const parser = new PostalMime({ forceRfc822Attachments: true, maxHeadersSize: HEADERS_LIMIT_BYTES })
  const reader = parser as unknown as PostalMimeReader
  const readLine = reader.readLine.bind(reader)
  const budget = new TextBudget(TEXT_LIMIT_BYTES)
  const namedBudget = new TextBudget(NAMED_TEXT_LIMIT_BYTES)
  const roles = new Map<PostalMimeNode, Role>()
  const decoders = new WeakMap<PostalMimeNode, PartDecoder>()
  const bodies = new Map<PostalMimeNode, { readonly start: number; readonly end: number }>()
  let node: PostalMimeNode | undefined
  let parts = 0
  let hasTooManyParts = false
  let hasLeaf = false

  /** Replaces the decoder of a part when its body begins. */
  const decoderOf = (part: PostalMimeNode): PartDecoder | undefined => {
    const known = decoders.get(part)
    if (known !== undefined || part.contentDecoder === null) return known
    const role = roleOf(part, !hasLeaf)
    hasLeaf ||= part.contentType.multipart === false
    roles.set(part, role)
    const decoder = role === "file" ? null : decoderFor(part)
    part.contentDecoder = decoder === null ? discarding : bounded(decoder, budgetOf(role))
    bodies.set(part, { start: reader.readPos, end: reader.readPos })
    decoders.set(part, part.contentDecoder)
    return part.contentDecoder
  }

  /** Reads the lines of a body up to the next one that may be a boundary. */
  const readBody = (decoder: PartDecoder): void => {
    const bytes = Buffer.from(reader.av.buffer, reader.av.byteOffset, reader.av.byteLength)
    const end = boundaryStart(bytes, reader.readPos, Math.max(reader.readPos, lastLineStart(bytes)))
    const limit = node === undefined ? undefined : limitOf(node)
    for (let start = reader.readPos; start < end && limit?.isExceeded !== true;) {
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
  const budgetOf = (role: Role): TextBudget => (role === "named text" ? namedBudget : budget)
  const limitOf = (part: PostalMimeNode): TextBudget | undefined => {
    const role = roles.get(part)
    return role === undefined || role === "file" ? undefined : budgetOf(role)
  }
  const isHeader = (): boolean => reader.currentNode.state === "header"

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
    if (!isHeader()) return readLine()
    const line = readLine()
    return isUtf8(line.bytes) ? line : { ...line, bytes: headerAsUtf8(raw, line.bytes) }
  }
  // postal-mime's own way gives every text part without "attachment" to the text, and decodes words one by one.
  reader.collectNode = (root) => {
    for (const header of root.headers) header.value = joinWords(header.value)
    return Promise.resolve()
  }
  const email = await parser.parse(raw)

  /** The last body ends with the message, unless a boundary ended it. */
  const sourceOf = (part: PostalMimeNode): AttachmentSource => {
    const { end, start } = bodies.get(part) ?? { start: raw.length, end: raw.length }
    const isLast = part === reader.currentNode && part === node
    const bodyEnd = isLast ? raw.length : withoutLineBreak(raw, start, end)
    return { offset: start, encodedBytes: bodyEnd - start, encoding: encodingOf(part) }
  }
  const leaves = leavesOf(reader.root).filter(({ content }) => content !== null)
  // A part that ends with its header has no role yet.
  const withRole = (role: Role) => leaves.filter((part) => (roles.get(part) ?? roleOf(part, false)) === role)
  const nameless = withRole("text")
  const shown = new Set(nameless)
  const texts = nameless.length > 0 ? nameless : withRole("named text")
  const files = leaves.filter((part) => !shown.has(part) || isNamedRoot(part))
  const own = joinTexts(texts)
  let body: MailText = { html: own.html, plain: own.plain }
  let isTruncated = budget.isExceeded || (nameless.length === 0 && namedBudget.isExceeded) || hasTooManyParts
  const listed: Array<PlacedFile> = []
  for (const part of files) {
    const attachment = attachmentOf(part)
    const source = sourceOf(part)
    const parameters = part.contentType.parsed.params
    const file = { attachment: named(raw, attachment, source), source, parameters }
    const opened =
      isContainer(attachment) && depth < CONTAINER_DEPTH_MAX && limits.containersLeft-- > 0
        ? open(raw, file)
        : undefined
    const smimeType = opened?.smimeType
    listed.push(smimeType === undefined ? file : { ...file, parameters: { "smime-type": smimeType, ...parameters } })
    if (opened === undefined) continue
    listed.push(...opened.files)
    if (isBlank(body) && (opened.text !== undefined || opened.html !== undefined))
      body = { html: opened.html, plain: opened.text }
    if (opened.mime === undefined) continue
    const { bytes, source: signed } = opened.mime
    const inner = await readParts(bytes, limits, depth + 1)
    const innerBody = { html: inner.email.html, plain: inner.email.text }
    const isBefore = texts[0] === undefined || leaves.indexOf(part) < leaves.indexOf(texts[0])
    body = isBefore ? joinBodies(innerBody, body) : joinBodies(body, innerBody)
    isTruncated ||= inner.isTruncated
    for (const [index, each] of inner.email.attachments.entries()) {
      const { inside: more, ...place } = inner.sources[index]!
      listed.push({
        attachment: each,
        source: inside(signed, place, more),
        parameters: inner.typeParameters[index]!
      })
    }
  }
  return {
    email: {
      ...email,
      ...(body.html === undefined ? {} : { html: body.html }),
      ...(body.plain === undefined ? {} : { text: body.plain }),
      attachments: listed.map(({ attachment }) => attachment)
    },
    sources: listed.map(({ source }) => source),
    typeParameters: listed.map(({ parameters }) => parameters),
    isTruncated
  }
}

/** The text of a mail in both forms. */
interface MailText {
  readonly html: string | undefined
  readonly plain: string | undefined
}

const isBlank = ({ html, plain }: MailText): boolean => !html?.trim() && !plain?.trim()

/** Returns a text followed by another one. */
const joinBodies = (first: MailText, second: MailText): MailText => {
  if (isBlank(first)) return second
  if (isBlank(second)) return first
  const hasHtml = first.html !== undefined || second.html !== undefined
  const htmlOf = ({ html, plain }: MailText) => html ?? htmlOfText(plain ?? "")
  const plainOf = ({ html, plain }: MailText) => plain ?? textOfHtml(html ?? "") ?? ""
  return {
    html: hasHtml ? `${htmlOf(first)}\n${htmlOf(second)}` : undefined,
    plain: `${plainOf(first)}\n${plainOf(second)}`
  }
}

/** Returns a message inside a mail, such as one of a digest, with its subject as its name if it has none. */
const named = (
  raw: Uint8Array,
  attachment: Attachment,
  { encodedBytes, encoding, offset }: AttachmentSource
): Attachment => {
  if (attachment.filename !== null || !/^message\/(?:rfc822|global)$/.test(attachment.mimeType)) return attachment
  const beginning = raw.subarray(offset, offset + Math.min(encodedBytes, SUBJECT_WITHIN_BYTES))
  const block = readHeaderBlock(makeDecoder(encoding).decode(beginning), SUBJECT_WITHIN_BYTES)
  const field = block._tag === "Fields" ? block.fields.find(({ name }) => name === "subject") : undefined
  const subject = decodeWords(decodeText(Buffer.from(field?.value ?? "", "latin1"), undefined))
    .replaceAll(/[/\\\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, SUBJECT_CHARACTERS)
  return subject === "" ? attachment : { ...attachment, filename: `${subject}.eml` }
}

/** Returns a line of a header in UTF-8. Raw text in it is in the first charset that the message names, or windows-1252. */
const headerAsUtf8 = (raw: Uint8Array, line: Uint8Array): Uint8Array => {
  const beginning = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.length, CHARSET_BYTES)).toString("latin1")
  const charset = /\bcharset="?([\w.:-]{1,40})/i.exec(beginning)?.[1]
  return Buffer.from(decodeText(line, charset), "utf8")
}

const NOTHING = new ArrayBuffer(0)

const attachmentOf = (part: PostalMimeNode): Attachment => {
  const { value } = part.contentDisposition.parsed
  const isInline = value === "inline" || (value === "" && part.contentId !== undefined && isRelated(part))
  return {
    filename: decodeWords(nameOf(part)) || null,
    mimeType: part.contentType.parsed.value,
    disposition: isInline ? "inline" : "attachment",
    ...(part.contentId === undefined ? {} : { contentId: part.contentId }),
    content: NOTHING
  }
}

const isRelated = ({ parentNode }: PostalMimeNode): boolean => parentNode?.contentType.multipart === "related"

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
