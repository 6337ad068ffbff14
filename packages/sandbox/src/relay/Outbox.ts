import { randomUUID } from "node:crypto"
import { mkdir, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { replaceFile } from "../shared/AtomicFile.ts"

/** The SMTP envelope of a mail. */
export interface Envelope {
  /** Empty for a bounce. */
  readonly mailFrom: string
  readonly rcptTo: ReadonlyArray<string>
}

export interface StoredMail extends Envelope {
  readonly messageId: string | null
  readonly receivedAt: string
  /** The path of the mail itself. */
  readonly file: string
}

/** A directory that stores mail to other domains. No mail leaves it. */
export class Outbox {
  private readonly directory: string
  /** The Message-IDs of the mails that were stored since the outbox was opened. */
  private readonly messageIds = new Set<string>()
  /** The time of the last mail, in milliseconds. */
  private lastTime = 0

  private constructor(directory: string) {
    this.directory = directory
  }

  static async open(directory: string): Promise<Outbox> {
    await mkdir(directory, { recursive: true })
    return new Outbox(directory)
  }

  /**
   * Stores a mail as `<time>-<id>.eml`, byte for byte. The JSON file of the same name holds the envelope and is written
   * first. Names sort in the order in which the mails arrived: no two have the same time. Returns the name.
   */
  async store(envelope: Envelope, raw: Uint8Array): Promise<string> {
    this.lastTime = Math.max(Date.now(), this.lastTime + 1)
    const receivedAt = new Date(this.lastTime).toISOString()
    const name = `${receivedAt.replaceAll(/[:.]/g, "-")}-${randomUUID()}`
    const file = join(this.directory, name)
    const messageId = messageIdOf(raw)
    await replaceFile(`${file}.json`, `${JSON.stringify({ ...envelope, messageId, receivedAt })}\n`)
    await replaceFile(`${file}.eml`, raw)
    if (messageId !== null) this.messageIds.add(messageId)
    return name
  }

  /** Returns the last mails, to a recipient if one is given, newest first. */
  async last(limit: number, recipient?: string): Promise<ReadonlyArray<StoredMail>> {
    // The mail itself is written last: a file with an envelope alone is not stored yet.
    const names = (await readdir(this.directory)).filter((name) => name.endsWith(".eml")).toSorted()
    const found: Array<StoredMail> = []
    for (const name of names.toReversed()) {
      const file = join(this.directory, name)
      const mail = JSON.parse(await readFile(file.replace(/eml$/, "json"), "utf8")) as Omit<StoredMail, "file">
      if (recipient === undefined || mail.rcptTo.some((address) => address.toLowerCase() === recipient.toLowerCase())) {
        if (found.push({ ...mail, file }) === limit) break
      }
    }
    return found
  }

  /** Returns whether a mail with the same Message-ID was stored since the outbox was opened. */
  has(raw: Uint8Array): boolean {
    const messageId = messageIdOf(raw)
    return messageId !== null && this.messageIds.has(messageId)
  }
}

/** Returns the Message-ID header (RFC 5322, section 3.6.4) with its brackets, or null. */
const messageIdOf = (raw: Uint8Array): string | null => {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("latin1")
  const end = text.search(/\r?\n\r?\n/)
  return /^message-id:\s*(<[^>\r\n]*>)/im.exec(end < 0 ? text : text.slice(0, end))?.[1] ?? null
}
