import { safeFileName } from "../file/Download.ts"
import type { Server } from "../server/Server.ts"
import type { NewAttachment } from "./Attachments.ts"
import type { Message } from "./Inbox.ts"
import { textOfHtml } from "@agentos/client"

/** The media types that the service sends, with their parameters. Others, and messages inside messages, are sent as bytes. */
const SENDABLE =
  /^(?!multipart\/|message\/)[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,60}(?:; ?[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[ !#-[\]-~]|\\[ -~])*"))*$/i

/** Downloads the attachments of a message, to send them again. */
export const attachmentsOf = async (
  client: Server,
  { attachments, messageId }: Pick<Message, "attachments" | "messageId">
): Promise<ReadonlyArray<NewAttachment>> => {
  const files: Array<NewAttachment> = []
  for (const { attachmentId, contentType, filename } of attachments) {
    const bytes = await client.download("getAttachment", { messageId, attachmentId })
    files.push({
      filename: safeFileName(filename),
      contentType: SENDABLE.test(contentType) ? contentType : "application/octet-stream",
      contentBase64: Buffer.from(bytes).toString("base64")
    })
  }
  return files
}

const shownContact = ({ address, name }: { readonly address: string; readonly name: string | null }): string =>
  name === null || name === "" ? address : `${name} <${address}>`

/** The header of the original, without Bcc. */
const headerOf = (message: Message): ReadonlyArray<readonly [label: string, value: string]> => {
  const recipients = (kind: "to" | "cc") =>
    message.recipients
      .filter((recipient) => recipient.kind === kind)
      .map(shownContact)
      .join(", ")
  return [
    ["From", shownContact(message.sender)],
    ["Date", new Date(message.createdAt).toUTCString()],
    ["Subject", message.subject],
    ["To", recipients("to") || message.to.join(", ")],
    ["Cc", recipients("cc") || message.cc.join(", ")]
  ].filter((field): field is [string, string] => field[1] !== "")
}

const TITLE = "---------- Forwarded message ----------"

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
  const at = body < 0 ? 0 : document.indexOf(">", body) + 1
  return `${document.slice(0, at)}${html}${document.slice(at)}`
}

/** Returns the body of a forwarded message: the note, then the header and the body of the original. */
export const forwardedBody = (
  message: Message,
  note: string
): { readonly text: string; readonly html: string | undefined } => {
  const header = [TITLE, ...headerOf(message).map(([label, value]) => `${label}: ${value}`)].join("\n")
  const original = message.text ?? textOfHtml(message.html ?? "").trim()
  const lead = note === "" ? "" : `${note.trimEnd()}\n\n`
  return {
    text: `${lead}${header}\n\n${original}`,
    html: message.html === null ? undefined : insertInto(message.html, `<div>${htmlOf(`${lead}${header}\n\n`)}</div>\n`)
  }
}
