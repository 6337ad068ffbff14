/** An unfolded header field. Its bytes are given as Latin-1 text. */
export interface HeaderField {
  /** In lower case. */
  readonly name: string
  readonly value: string
}

/** The fields of a message, or why they cannot be read unambiguously. */
export type HeaderBlock =
  | { readonly _tag: "Fields"; readonly fields: ReadonlyArray<HeaderField> }
  | { readonly _tag: "TooLarge" }
  | { readonly _tag: "Malformed" }

/** Size limit of a header that is checked. Headers of mail programs are about a hundredth of it. */
export const HEADER_LIMIT_BYTES = 256 * 1024

/** Limit of lines in a header: no mail program writes more, and signature verification takes quadratic time in them. */
const LINES_MAX = 4_000

/** The name of a field (RFC 5322, section 2.2), with white space before the colon, which old messages may contain. */
const FIELD_START = /^([!-9;-~]+)[ \t]*:/

/** The first line of a mail in a mailbox file, which delivery programs leave before the header or escape by a mark. */
const MAILBOX_LINE = /^>?From +[^ \t:]/
const MAILBOX_LINE_BYTES = 1_000

/** Returns a message without the line of a mailbox file before its header. */
export const withoutMailboxLine = (raw: Uint8Array): Uint8Array => {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  if (!MAILBOX_LINE.test(bytes.toString("latin1", 0, 8))) return raw
  const end = bytes.subarray(0, MAILBOX_LINE_BYTES).indexOf(0x0a)
  return end < 0 ? raw : raw.subarray(end + 1)
}

/** Returns where the header ends: the start of its empty line, or the end of a message without a body. */
const headerEnd = (bytes: Buffer): number => {
  if (bytes[0] === 0x0a || (bytes[0] === 0x0d && bytes[1] === 0x0a)) return 0
  const ends = ["\n\r\n", "\n\n"].map((end) => bytes.indexOf(end)).filter((at) => at >= 0)
  return ends.length === 0 ? bytes.length : Math.min(...ends) + 1
}

/**
 * Reads the header of a message such that no other reader can find other fields in it. It is malformed if it
 * contains U+0000, a carriage return without a line feed, or a line that neither starts nor continues a field. The line of
 * a mailbox file before it is skipped.
 * Lines may end in a line feed alone, which every reader accepts as the end of a line.
 */
export const readHeaderBlock = (raw: Uint8Array, limitBytes: number): HeaderBlock => {
  const message = withoutMailboxLine(raw)
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  const length = headerEnd(bytes.subarray(0, limitBytes + 4))
  if (length > limitBytes) return { _tag: "TooLarge" }
  const text = bytes.toString("latin1", 0, length).replace(/\r?\n$/, "")
  if (text.includes("\0")) return { _tag: "Malformed" }
  const lines = text === "" ? [] : text.split(/\r?\n/)
  if (lines.length > LINES_MAX) return { _tag: "TooLarge" }
  const fields: Array<{ readonly name: string; readonly parts: Array<string> }> = []
  for (const line of lines) {
    if (line.includes("\r")) return { _tag: "Malformed" }
    const isContinuation = line.startsWith(" ") || line.startsWith("\t")
    const start = isContinuation ? null : FIELD_START.exec(line)
    if (start !== null) fields.push({ name: start[1]!.toLowerCase(), parts: [line.slice(start[0].length)] })
    else if (isContinuation && fields.length > 0) fields.at(-1)!.parts.push(line)
    else return { _tag: "Malformed" }
  }
  return { _tag: "Fields", fields: fields.map(({ name, parts }) => ({ name, value: parts.join("") })) }
}
