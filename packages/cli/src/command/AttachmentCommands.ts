import { Failure, type FlagSpec, plainLine, usageError } from "@agentos/node/command-line"
import { isUtf8 } from "node:buffer"
import { join, resolve } from "node:path"
import type { Context } from "../context/Context.ts"
import { MESSAGE_ARGUMENT } from "../context/Flags.ts"
import type { Message } from "../mail/Inbox.ts"
import { countOf } from "../output/Wording.ts"
import { defineCommand } from "./Command.ts"
import { clientOf, messageIdOf } from "./Resources.ts"

const CLOBBER_FLAG = {
  name: "clobber",
  type: "boolean",
  summary: "Overwrite existing files."
} as const satisfies FlagSpec

const outputFlag = <const Summary extends string>(summary: Summary) =>
  ({ name: "output", short: "o", type: "text", value: "FILE", summary, completes: "file" }) as const satisfies FlagSpec

/** Prints bytes from a stranger. A terminal shows them only if they are text. */
const printBytes = ({ host, output }: Context, bytes: Uint8Array): void => {
  if (host.stdout.isTerminal && !isUtf8(bytes))
    throw usageError("The content is not UTF-8 text. Pass --output FILE, or redirect standard output.")
  output.bytes(bytes)
}

/** Saves bytes in a file that the user named. */
const saveBytes = async (context: Context, bytes: Uint8Array, file: string, clobber: boolean): Promise<string> => {
  const { writeDownload } = await import("../file/Download.ts")
  const path = resolve(context.host.workingDirectory, file)
  await writeDownload(path, bytes, clobber)
  context.output.note(`Saved ${countOf(bytes.length, "byte")} in ${path}.`)
  return path
}

type Attachment = Message["attachments"][number]
type Saved = Attachment & { readonly path?: string }

/** Returns the attachments with an id or file name; without one, all. */
const chosenFrom = ({ attachments, messageId }: Message, wanted: string | undefined): ReadonlyArray<Attachment> => {
  if (wanted === undefined) return attachments
  const named = attachments.filter(({ attachmentId, filename }) => attachmentId === wanted || filename === wanted)
  // The end of the id, as the list shows it.
  const isShort = ({ attachmentId }: Attachment): boolean => wanted.length >= 4 && attachmentId.endsWith(wanted)
  const chosen = named.length > 0 ? named : attachments.filter(isShort)
  if (chosen.length > 0) return chosen
  throw new Failure({
    code: "NOT_FOUND",
    message: `Attachment ${wanted} not found in message ${messageId}.`,
    next: [`agentctl mail attachments ${messageId}`]
  })
}

const onlyOf = (chosen: ReadonlyArray<Attachment>, wanted: string, messageId: string): Attachment => {
  const [only, ...more] = chosen
  if (only !== undefined && more.length === 0) return only
  throw usageError(`${chosen.length} attachments are named ${plainLine(wanted)}. Pass the id of one.`, [
    `agentctl mail attachments ${messageId}`
  ])
}

/** Saves attachments in a folder under safe names. Fails before the first one if a file exists. */
const saveAll = async (
  attachments: ReadonlyArray<Attachment>,
  options: {
    readonly folder: string
    readonly clobber: boolean
    readonly bytesOf: (attachment: Attachment) => Promise<Uint8Array>
  }
): Promise<ReadonlyArray<Saved>> => {
  const { checkFree, createFolder, distinctFileNames, writeDownload } = await import("../file/Download.ts")
  const { bytesOf, clobber, folder } = options
  const names = distinctFileNames(attachments.map(({ filename }) => filename))
  await checkFree(folder, names, clobber)
  await createFolder(folder)
  const saved: Array<Saved> = []
  for (const [index, attachment] of attachments.entries()) {
    const path = join(folder, names[index]!)
    await writeDownload(path, await bytesOf(attachment), clobber)
    saved.push({ ...attachment, path })
  }
  return saved
}

export const MAIL_ATTACHMENTS = defineCommand(
  {
    name: "mail attachments",
    summary: "List or download the attachments of a message",
    description:
      "Lists the attachments, or saves them with --download. The sender chose their names: a saved file never leaves the folder, is never hidden, and replaces an existing file only with --clobber. Equal names are numbered.",
    arguments: [
      MESSAGE_ARGUMENT,
      { name: "attachment", summary: "Only this attachment, by id or file name.", presence: "optional" }
    ],
    flags: [
      {
        name: "download",
        short: "D",
        type: "text",
        value: "DIR",
        summary: "Save the attachments in this folder, which is created if it does not exist.",
        completes: "file"
      },
      outputFlag("Save ATTACHMENT in this file (- for standard output)."),
      CLOBBER_FLAG
    ],
    examples: [
      { line: "agentctl mail attachments latest", does: "List them" },
      { line: "agentctl mail attachments latest --download invoices", does: "Save all in a folder" },
      { line: "agentctl mail attachments latest data.csv -o - | wc -l", does: "Pass one to a program" }
    ],
    output: "rows",
    json: "{items: [attachment]}; saved ones with path",
    exits: [4, 5, 6, 9]
  },
  async (context, { arguments: { attachment: wanted, message }, flags }) => {
    const { clobber, download, output: file } = flags
    const { output } = context
    if (download !== undefined && file !== undefined) throw usageError("Pass --download or --output, not both.")
    if (file !== undefined && wanted === undefined) throw usageError("--output needs ATTACHMENT.")
    if (file === "-" && output.options.json) throw usageError("Standard output cannot be both the file and JSON.")
    const { readMessage } = await import("../mail/Inbox.ts")
    const client = await clientOf(context)
    const messageId = await messageIdOf(client, message, "inbound")
    const chosen = chosenFrom((await readMessage(client, messageId)).message, wanted)
    const bytesOf = ({ attachmentId }: Attachment) => client.download("getAttachment", { messageId, attachmentId })
    if (file !== undefined && wanted !== undefined) {
      const attachment = onlyOf(chosen, wanted, messageId)
      const bytes = await bytesOf(attachment)
      if (file === "-") return printBytes(context, bytes)
      const path = await saveBytes(context, bytes, file, clobber)
      return output.data({ items: [{ ...attachment, path }] }, () => "")
    }
    const folder = download === undefined ? undefined : resolve(context.host.workingDirectory, download)
    const items: ReadonlyArray<Saved> =
      folder === undefined ? chosen : await saveAll(chosen, { bytesOf, clobber, folder })
    output.table(
      { items },
      items,
      [
        { heading: "FILE NAME", value: ({ filename }) => filename ?? "unnamed" },
        { heading: "TYPE", value: ({ contentType }) => contentType, drop: 1 },
        { heading: "BYTES", value: ({ sizeBytes }) => sizeBytes, whole: true },
        folder === undefined
          ? { heading: "ATTACHMENT", value: ({ attachmentId }) => attachmentId, id: true }
          : { heading: "SAVED AS", value: ({ path }) => path, wraps: true }
      ],
      "No attachments."
    )
  }
)

export const MAIL_RAW = defineCommand(
  {
    name: "mail raw",
    summary: "Print or save a received message as it arrived",
    description:
      "Writes the bytes of the message with all headers and parts, for example for a mail program. On a terminal, control characters are replaced. Sent messages have no raw form.",
    arguments: [MESSAGE_ARGUMENT],
    flags: [outputFlag("Save the message in this file (- for standard output)."), CLOBBER_FLAG],
    examples: [
      { line: "agentctl mail raw latest -o message.eml", does: "Save a message" },
      { line: "agentctl mail raw latest | grep -i ^received:", does: "Search the headers" }
    ],
    output: "text",
    json: "the message as it arrived",
    exits: [4, 5, 6, 9]
  },
  async (context, { arguments: { message }, flags: { clobber, output: file } }) => {
    const client = await clientOf(context)
    const messageId = await messageIdOf(client, message, "inbound")
    const bytes = await client.download("getRawMessage", { messageId })
    if (file === undefined || file === "-") return printBytes(context, bytes)
    await saveBytes(context, bytes, file, clobber)
  }
)
