import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"

/** The mails that the relay took, by recipient: the Message-ID of each copy. */
export const readMails = async (outboxDir: string): Promise<ReadonlyMap<string, ReadonlyArray<string | null>>> => {
  const mails = new Map<string, Array<string | null>>()
  const files = new Set(await readdir(outboxDir))
  for (const file of files) {
    // The envelope is there first; the mail is kept once its own file is there too.
    if (!file.endsWith(".json") || !files.has(file.replace(/\.json$/, ".eml"))) continue
    const envelope = JSON.parse(await readFile(join(outboxDir, file), "utf8")) as {
      readonly rcptTo: ReadonlyArray<string>
      readonly messageId: string | null
    }
    for (const recipient of envelope.rcptTo) {
      const known = mails.get(recipient)
      if (known === undefined) mails.set(recipient, [envelope.messageId])
      else known.push(envelope.messageId)
    }
  }
  return mails
}
