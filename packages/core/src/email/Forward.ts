import type { Contact, Message } from "./Message.ts"

/** The parts of a message that a forward shows. */
type Original = Pick<Message, "cc" | "createdAt" | "html" | "recipients" | "sender" | "subject" | "text" | "to">

const TITLE = "---------- Forwarded message ----------"

const shownContact = ({ address, name }: Contact): string =>
  name === null || name === "" ? address : `${name} <${address}>`

/** The header of the original, without Bcc. */
const headerOf = ({ cc, createdAt, recipients, sender, subject, to }: Original): string => {
  const named = (kind: "to" | "cc") => recipients.filter((recipient) => recipient.kind === kind).map(shownContact)
  const fields: ReadonlyArray<readonly [label: string, value: string]> = [
    ["From", shownContact(sender)],
    ["Date", new Date(createdAt).toUTCString()],
    ["Subject", subject],
    ["To", named("to").join(", ") || to.join(", ")],
    ["Cc", named("cc").join(", ") || cc.join(", ")]
  ]
  const lines = fields.filter(([, value]) => value !== "").map(([label, value]) => `${label}: ${value}`)
  return [TITLE, ...lines].join("\n")
}

const htmlOf = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll(/\r?\n/g, "<br>\n")

/** Puts HTML at the beginning of the body of a document. */
const insertInto = (document: string, html: string): string => {
  const body = document.search(/<body\b/i)
  const end = body < 0 ? -1 : document.indexOf(">", body)
  return `${document.slice(0, end + 1)}${html}${document.slice(end + 1)}`
}

/** Returns the body of a forwarded message: the note, then the header and the body of the original. */
export const forwardedBody = (
  original: Original,
  note: { readonly text: string; readonly html?: string | undefined }
): { readonly text: string; readonly html?: string } => {
  const header = headerOf(original)
  const lead = note.text.trimEnd()
  const content = `${header}\n\n${original.text ?? ""}`
  const text = lead === "" ? content : `${lead}\n\n${content}`
  const above = note.html ?? (lead === "" ? "" : `<div>${htmlOf(lead)}</div>\n<br>\n`)
  if (original.html !== null)
    return { text, html: insertInto(original.html, `${above}<div>${htmlOf(header)}</div>\n<br>\n`) }
  return note.html === undefined ? { text } : { text, html: `${note.html}<br>\n<div>${htmlOf(content)}</div>\n` }
}
