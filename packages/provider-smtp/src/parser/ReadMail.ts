import { createHash, hash } from "node:crypto"
import type { Contact, MailLink, ParsedMail } from "@agentos/core"
import { makeDecoder } from "@agentos/core/transfer-encoding"
import type { Email } from "postal-mime"
import { addressesIn } from "../header/AddressList.ts"
import { authorOf, displayNameIn } from "../header/Author.ts"
import { decodeWords } from "../header/EncodedWords.ts"
import { type HeaderBlock, HEADER_LIMIT_BYTES, type HeaderField, readHeaderBlock } from "../header/HeaderBlock.ts"
import { type BoundedMail, readMime } from "./BoundedMime.ts"
import { fileFinder, type FoundFile } from "./Containers.ts"
import { extractReply, mailKindOf } from "./ExtractReply.ts"
import { linksOfHtml, readHtml } from "./HtmlText.ts"
import { automaticOf, mailingListOf, readerOf } from "./ListHeader.ts"
import { linksInText } from "./MailLinks.ts"
import { readReport } from "./ReadReport.ts"
import { bodyText, headerText } from "./TextLimits.ts"

/** The content of a mail, without the checks of its sender. */
export type MailContent = Omit<ParsedMail, "authentication">

/** Limits of the parsed message. Content beyond them is only in the raw mail. */
const MAIL_LIMITS = {
  /** In To, and in Cc. */
  addresses: 200,
  replyTo: 20,
  /** RFC 5321, section 4.5.3.1: 64 and 255 octets, with the @ between them. */
  addressCharacters: 320,
  nameCharacters: 255,
  /** RFC 5322, section 2.1.1. */
  subjectCharacters: 998,
  /** The first reference, which began the conversation, and the latest ones. */
  references: 50,
  messageIdCharacters: 998,
  attachments: 200,
  filenameCharacters: 255,
  contentIdCharacters: 255,
  contentTypeCharacters: 127,
  bodyBytes: 1024 * 1024
} as const

/**
 * Parses a mail (RFC 5322, MIME). Messages inside it are attachments, not text. Rejects if the mail is nested
 * too deeply or its header is too large. It may take much time and memory, so it must run where it can be
 * killed.
 */
export const readMail = async (raw: Uint8Array): Promise<MailContent> => {
  const mail = await readMime(raw)
  const { email, isTruncated } = mail
  const html = bodyOf(email.html)
  const shown = shownOf(email.text, html.kept)
  const text = bodyOf(shown.text)
  const report = readReport(raw, mail, text.kept)
  const header = readHeaderBlock(raw, HEADER_LIMIT_BYTES)
  const fields = header._tag === "Fields" ? header.fields : []
  const field = readerOf(fields)
  return {
    messageIdHeader: messageIdOf(email.messageId),
    inReplyTo: messageIdsOf(email.inReplyTo)[0] ?? null,
    references: referencesOf(email.references),
    from: authorOfMail(fields, email.headers.find(({ key }) => key === "from")?.value),
    to: addressesOf(email, "to", MAIL_LIMITS.addresses),
    cc: addressesOf(email, "cc", MAIL_LIMITS.addresses),
    replyTo: addressesOf(email, "reply-to", MAIL_LIMITS.replyTo).map(({ address }) => address),
    automatic: automaticOf(field),
    mailingList: mailingListOf(field),
    subject: headerText(email.subject ?? "", MAIL_LIMITS.subjectCharacters),
    text: text.kept,
    html: html.kept,
    extractedText: extractReply(text.kept, mailKindOf(email.subject ?? "", email.inReplyTo ?? email.references)),
    links: shown.links.length > 0 || text.kept === null ? shown.links : linksInText(text.kept),
    truncated: isTruncated || text.isCut || html.isCut,
    attachments: attachmentsOf(raw, mail),
    bodyHash: hash("sha256", bodyBytes(raw)),
    headerHash: headerHashOf(header),
    ...(report === undefined ? {} : { report })
  }
}

/** The fields that tell mails with one Message-ID apart. Relays do not change them. */
const IDENTIFYING: ReadonlySet<string> = new Set(["date", "from", "subject"])

const headerHashOf = (header: HeaderBlock): string => {
  const fields = header._tag === "Fields" ? header.fields.filter(({ name }) => IDENTIFYING.has(name)) : []
  const written = fields.map(({ name, value }) => `${name}:${value.replaceAll(/[ \t]+/g, " ").trim()}`)
  return hash("sha256", written.toSorted().join("\n"))
}

const NO_AUTHOR: Contact = { address: "", name: null }

/** Returns the author with the name beside its address. */
const authorOfMail = (fields: ReadonlyArray<HeaderField>, from: string | undefined): Contact => {
  const address = authorOf(fields)?.address
  return address === undefined ? NO_AUTHOR : { address, name: nameOf(decodeWords(displayNameIn(from ?? ""))) }
}

/** Returns a display name on one line; null if it is empty. */
const nameOf = (text: string): string | null => headerText(text, MAIL_LIMITS.nameCharacters) || null

/** Returns a usable address with its domain in lower case; undefined if the text is not one. */
const cleanAddress = (text: string): string | undefined => {
  // Some programs write the scheme of a link, quote marks, or the dot of the DNS root.
  const address = headerText(text, MAIL_LIMITS.addressCharacters + 1)
    .replace(/^mailto:/i, "")
    .replace(/^'([^']*)'$/, "$1")
    .replace(/(\w)\.$/, "$1")
  const at = address.lastIndexOf("@")
  if (at < 1 || at === address.length - 1 || address.length > MAIL_LIMITS.addressCharacters) return undefined
  return /[\s<>]/.test(address) ? undefined : address.slice(0, at) + address.slice(at).toLowerCase()
}

/** Returns the addresses in the fields of a name, including those in groups, with their names. */
const addressesOf = ({ headers }: Email, field: string, limit: number): ReadonlyArray<Contact> => {
  const found: Array<Contact> = []
  for (const { key, value } of headers) {
    if (key !== field) continue
    for (const { address, name } of addressesIn(value)) {
      const clean = cleanAddress(address)
      if (clean !== undefined && found.push({ address: clean, name: nameOf(name) }) === limit) return found
    }
  }
  return found
}

/** Returns the Message-IDs of a field, also if all of them lack their angle brackets. */
const messageIdsOf = (header: string | undefined = ""): ReadonlyArray<string> => {
  const bracketed = header.match(/<[^<>\s]+>/g)
  const words = bracketed === null ? header.split(/[\s,]+/).filter((word) => word !== "") : []
  const ids = bracketed ?? (words.every((word) => BARE_ID.test(word)) ? words.map((word) => `<${word}>`) : [])
  return ids.map(cleanMessageId).filter((id) => id !== undefined)
}
const BARE_ID = /^[^\s<>@"()]+@[^\s<>@"()]+$/

const cleanMessageId = (text: string): string | undefined => {
  const id = headerText(text, MAIL_LIMITS.messageIdCharacters + 1)
  return id.length > MAIL_LIMITS.messageIdCharacters || /\s/.test(id) ? undefined : id
}

/** Returns the Message-ID with its angle brackets, even if the sender omitted them. */
const messageIdOf = (header: string | undefined): string | null => {
  const bracketed = messageIdsOf(header)[0]
  if (bracketed !== undefined) return bracketed
  const bare = header === undefined ? "" : header.trim()
  return bare === "" || /[\s<>]/.test(bare) ? null : (cleanMessageId(`<${bare}>`) ?? null)
}

const referencesOf = (header: string | undefined): ReadonlyArray<string> => {
  const ids = messageIdsOf(header)
  return ids.length <= MAIL_LIMITS.references ? ids : [ids[0]!, ...ids.slice(1 - MAIL_LIMITS.references)]
}

const LINK = /<(?:a|area)\s/i

/** Returns the text, or that of the HTML if the mail has no text or a blank one, and the links of the HTML. */
const shownOf = (
  text: string | undefined,
  html: string | null
): { readonly text: string | undefined; readonly links: ReadonlyArray<MailLink> } => {
  if (html === null) return { text, links: [] }
  if (text?.trim()) return { text, links: LINK.test(html) ? linksOfHtml(html) : [] }
  const shown = readHtml(html)
  return { text: shown.text ?? text, links: shown.links }
}

const bodyOf = (text: string | undefined): { readonly kept: string | null; readonly isCut: boolean } =>
  text === undefined
    ? { kept: null, isCut: false }
    : { kept: bodyText(text, MAIL_LIMITS.bodyBytes), isCut: Buffer.byteLength(text) > MAIL_LIMITS.bodyBytes }

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/
const QUOTABLE = /^[\x20-\x7e]+$/
/** Parameters of Content-Type that name the file or belong to the mail. */
const DROPPED_PARAMETERS: ReadonlySet<string> = new Set(["boundary", "filename", "name"])

/** Returns a media type with those of its parameters that are printable ASCII, as long as the whole fits. */
const mediaTypeOf = (type: string, parameters: Readonly<Record<string, string>>): string => {
  const essence = headerText(type, MAIL_LIMITS.contentTypeCharacters) || "application/octet-stream"
  const written = Object.entries(parameters).flatMap(([name, value]) => {
    if (!TOKEN.test(name) || DROPPED_PARAMETERS.has(name) || !QUOTABLE.test(value)) return []
    return [`; ${name}=${TOKEN.test(value) ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`}`]
  })
  return written.reduce(
    (text, parameter) => (text.length + parameter.length > MAIL_LIMITS.contentTypeCharacters ? text : text + parameter),
    essence
  )
}

const attachmentsOf = (raw: Uint8Array, { email, sources, typeParameters }: BoundedMail): ParsedMail["attachments"] => {
  const find = fileFinder(raw)
  return email.attachments.slice(0, MAIL_LIMITS.attachments).map((attachment, index) => {
    const source = sources[index]!
    const filename = headerText(attachment.filename ?? "", MAIL_LIMITS.filenameCharacters)
    return {
      filename: filename === "" ? null : filename,
      contentType: mediaTypeOf(attachment.mimeType, typeParameters[index] ?? {}),
      ...measure(find(source)),
      contentId: contentIdOf(attachment.contentId),
      disposition: attachment.disposition === "inline" ? "inline" : "attachment",
      source
    }
  })
}

/** Returns a Content-ID without its angle brackets. One that is too long names nothing. */
const contentIdOf = (header: string | undefined): string | null => {
  const id = headerText(header ?? "", MAIL_LIMITS.contentIdCharacters + 3).replace(/^<([^<>]*)>$/, "$1")
  return id === "" || id.length > MAIL_LIMITS.contentIdCharacters ? null : id
}

/** Returns the size and the hash of the bytes of an attachment. */
const measure = ({ encoded, encoding }: FoundFile) => {
  const sha256 = createHash("sha256")
  const decoder = makeDecoder(encoding)
  let sizeBytes = 0
  const add = (bytes: Uint8Array): void => {
    sizeBytes += bytes.length
    sha256.update(bytes)
  }
  for (let start = 0; start < encoded.length; start += MEASURED_AT_ONCE_BYTES)
    add(decoder.decode(encoded.subarray(start, start + MEASURED_AT_ONCE_BYTES)))
  add(decoder.end())
  return { sizeBytes, sha256: sha256.digest("hex") }
}

const MEASURED_AT_ONCE_BYTES = 256 * 1024

/** Returns the bytes after the first empty line. Lines may end in LF alone, since not every sender uses CRLF. */
export const bodyBytes = (raw: Uint8Array): Uint8Array => {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  if (bytes[0] === 0x0a) return bytes.subarray(1)
  if (bytes[0] === 0x0d && bytes[1] === 0x0a) return bytes.subarray(2)
  const ends = ["\n\r\n", "\n\n"].flatMap((end) => {
    const at = bytes.indexOf(end)
    return at < 0 ? [] : [at + end.length]
  })
  return bytes.subarray(ends.length === 0 ? bytes.length : Math.min(...ends))
}
