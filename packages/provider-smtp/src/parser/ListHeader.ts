import type { AutomaticReason, MailingList } from "@agentos/core"
import type { HeaderField } from "../header/HeaderBlock.ts"
import { headerText } from "./TextLimits.ts"

/** Limits of what is read. Real lists have one address of each kind. */
const LIST_ID_CHARACTERS = 255
const URL_CHARACTERS = 2_000
const URLS_MAX = 10
const UNSUBSCRIBE_SCHEMES = new Set(["https:", "http:", "mailto:"])

/** Reads fields by name. The name is in lower case; the value is that of the first field with it. */
export type FieldReader = (name: string) => string | undefined

export const readerOf = (fields: ReadonlyArray<HeaderField>): FieldReader => {
  const values = new Map<string, string>()
  for (const { name, value } of fields) if (!values.has(name)) values.set(name, value)
  return (name) => values.get(name)
}

/** Returns the first word of a value in lower case, without parameters and comments. */
const keywordOf = (value: string | undefined): string => /^\s*([\w-]*)/.exec(value ?? "")![1]!.toLowerCase()

/** Fields that only autoresponders write. */
const AUTOREPLY_FIELDS = ["x-autoreply", "x-autorespond", "x-autoreply-from", "x-mail-autoreply"]

/** The type of a report on what happened to a mail (RFC 6522), such as a read receipt (RFC 8098), which nobody answers. */
const REPORT = /^\s*multipart\/report\b.*\breport-type\s*=\s*"?(?:disposition-notification|delivery-status)\b/is

/** Returns why a header says that a program wrote the mail; null if it does not. `AutomaticReason` lists the signs. */
export const automaticOf = (field: FieldReader): AutomaticReason | null => {
  const submitted = keywordOf(field("auto-submitted"))
  const precedence = keywordOf(field("precedence") ?? field("x-precedence"))
  if (submitted === "auto-replied" || precedence === "auto_reply") return "auto_replied"
  if (AUTOREPLY_FIELDS.some((name) => field(name) !== undefined)) return "auto_replied"
  if (keywordOf(field("delivered-to")) === "autoresponder" || REPORT.test(field("content-type") ?? ""))
    return "auto_replied"
  if (submitted !== "" && submitted !== "no") return "auto_generated"
  if (field("list-id") !== undefined || field("list-post") !== undefined || precedence === "list") return "mailing_list"
  if (precedence === "bulk" || precedence === "junk" || field("list-unsubscribe") !== undefined) return "bulk"
  const suppressed = keywordOf(field("x-auto-response-suppress"))
  return suppressed !== "" && suppressed !== "none" ? "no_auto_reply" : null
}

/** Returns the URLs in angle brackets (RFC 2369, section 2), with these schemes. */
const urlsOf = (value: string | undefined): ReadonlyArray<URL> =>
  [...(value ?? "").matchAll(/<([^<>]*)>/g)].slice(0, URLS_MAX).flatMap(([, text = ""]) => {
    // A folded URL has white space that is not part of it.
    const compact = text.replaceAll(/\s+/g, "")
    const url = compact.length > URL_CHARACTERS ? null : URL.parse(compact)
    return url !== null && UNSUBSCRIBE_SCHEMES.has(url.protocol) ? [url] : []
  })

/** Returns the identifier in angle brackets behind a phrase (RFC 2919, section 2), or the whole value without them. */
const listIdOf = (value: string | undefined): string | null => {
  if (value === undefined) return null
  const open = value.lastIndexOf("<")
  const close = value.indexOf(">", open)
  return headerText(open < 0 || close < 0 ? value : value.slice(open + 1, close), LIST_ID_CHARACTERS) || null
}

const postOf = (value: string | undefined): string | null => {
  const url = urlsOf(value).find(({ protocol }) => protocol === "mailto:")
  if (url === undefined) return null
  try {
    const address = decodeURIComponent(url.pathname)
    return /^[^\s<>,@]+@[^\s<>,@]+$/.test(address) ? headerText(address, LIST_ID_CHARACTERS) : null
  } catch {
    // An invalid percent encoding names no address.
    return null
  }
}

/** Returns the list that a header names (RFC 2369, RFC 2919, RFC 8058); null if it names none. */
export const mailingListOf = (field: FieldReader): MailingList | null => {
  const listId = listIdOf(field("list-id"))
  const post = postOf(field("list-post"))
  const unsubscribe = urlsOf(field("list-unsubscribe"))
  if (listId === null && post === null && unsubscribe.length === 0) return null
  const isOneClick = /^\s*List-Unsubscribe=One-Click\s*$/i.test(field("list-unsubscribe-post") ?? "")
  return {
    listId,
    post,
    unsubscribe: unsubscribe.map(({ href }) => href),
    oneClick: isOneClick && unsubscribe.some(({ protocol }) => protocol === "https:")
  }
}
