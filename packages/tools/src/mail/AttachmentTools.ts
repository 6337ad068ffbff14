import { AgentOsError } from "@agentos/client"
import { INPUTS } from "../generated/Contract.ts"
import { nullable, objectSchema, TEXT } from "../Schema.ts"
import { defineTool } from "../Tool.ts"
import { cut, TEXT_MAX } from "../Untrusted.ts"
import { ATTACHMENT_SCHEMA, attachmentOf } from "./Records.ts"

/** A larger file is not downloaded. */
const BYTES_MAX = 1 << 20

const decoded = (bytes: Uint8Array, contentType: string): string => {
  const label = /;\s*charset="?([\w.:-]+)/i.exec(contentType)?.[1] ?? "utf-8"
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

/** Returns the text of a file; undefined if it is no text. */
const textOf = (bytes: Uint8Array, contentType: string): string | undefined => {
  const text = decoded(bytes, contentType)
  return text.includes("\0") || text.includes("\uFFFD") ? undefined : text
}

export const readAttachment = defineTool({
  name: "read_attachment",
  title: "Read an attachment",
  description: `Returns the text of an attachment that is a text file of at most ${BYTES_MAX} bytes, such as text/plain, CSV, JSON or a calendar. Ids are in the result of read_email.`,
  properties: {
    messageId: { ...INPUTS.queryMessages.messageId, description: "Id of the message." },
    attachmentId: {
      type: "string",
      maxLength: 64,
      description: "Id of the attachment. May be omitted if the message has exactly one."
    }
  },
  required: ["messageId"],
  output: {
    textCutFrom: {
      type: ["integer", "null"],
      description: `Length of the whole text if it was cut to ${TEXT_MAX} characters; else null.`
    },
    untrusted: objectSchema({ attachment: ATTACHMENT_SCHEMA, text: nullable(TEXT) })
  },
  isUntrusted: true,
  effects: "reads mail",
  run: async ({ agent, call }, { attachmentId, messageId }) => {
    const refuse = (message: string) => new AgentOsError({ code: "INVALID_OPTION", message })
    const mail = await agent.mailboxes.message(messageId, call)
    const { attachments } = mail.record
    const [only, ...others] = attachments
    const found =
      attachmentId === undefined ? only : attachments.find((attachment) => attachment.attachmentId === attachmentId)
    const ids = attachments.map((attachment) => attachment.attachmentId).join(", ")
    const have = ids === "" ? "The message has no attachments." : `Its attachments: ${ids}.`
    if (found === undefined) throw refuse(`attachmentId: the message has no such attachment. ${have}`)
    if (attachmentId === undefined && others.length > 0) throw refuse(`attachmentId is missing. ${have}`)
    if (found.sizeBytes > BYTES_MAX)
      throw refuse(`attachmentId: the file has ${found.sizeBytes} bytes, and at most ${BYTES_MAX} are read.`)
    const text = textOf(await mail.attachment(found.attachmentId, call), found.contentType)
    if (text === undefined) throw refuse(`attachmentId: the file is not text. Its size is ${found.sizeBytes} bytes.`)
    const { cutFrom, text: shown } = cut(text, TEXT_MAX)
    return { textCutFrom: cutFrom, untrusted: { attachment: attachmentOf(found), text: shown } }
  }
})
