import type { Output } from "../output/Output.ts"
import { plain } from "../output/Plain.ts"
import { momentOf } from "../output/Wording.ts"
import type { DataOf } from "../server/ApiClient.ts"
import { verdictText } from "./SenderVerdict.ts"

/** A message with its body. */
export type Message = Extract<DataOf<"queryMessages">, { readonly message: unknown }>["message"]

/** A message as people read it: its headers and a body. */
export const messageText = (message: Message, body: string | null, output: Output): string => {
  const headers = output.recordText([
    ["From", message.from],
    ["To", message.to.join(", ")],
    ["Cc", message.cc.join(", ")],
    ["Bcc", message.bcc.join(", ")],
    ["Date", momentOf(message.createdAt)],
    ["Subject", message.subject],
    ["Status", message.status],
    ["Checks", message.direction === "inbound" ? verdictText(message.authentication) : null],
    [
      "Attachments",
      message.attachments.map(({ filename, sizeBytes }) => `${filename ?? "unnamed"} (${sizeBytes} bytes)`).join(", ")
    ]
  ])
  return `${headers}\n${body === null ? "" : plain(body).replace(/\n*$/, "\n")}`
}
