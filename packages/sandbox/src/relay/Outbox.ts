import { randomUUID } from "node:crypto"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { replaceFile } from "../chain/AtomicFile.ts"

/** Who wrote a mail and to whom, by SMTP's own words. */
export interface Envelope {
  /** Empty for a bounce. */
  readonly mailFrom: string
  readonly rcptTo: ReadonlyArray<string>
}

/** A folder in which mail to the rest of the world ends: nothing leaves it. */
export class Outbox {
  private readonly directory: string
  /** The Message-IDs that were kept since this was opened. */
  private readonly kept = new Set<string>()

  private constructor(directory: string) {
    this.directory = directory
  }

  static async open(directory: string): Promise<Outbox> {
    await mkdir(directory, { recursive: true })
    return new Outbox(directory)
  }

  /**
   * Keeps a mail as `<moment>-<id>.eml`, byte for byte, with its envelope in the
   * JSON file of the same name, which is there first. Answers the name.
   */
  async keep(envelope: Envelope, raw: Uint8Array): Promise<string> {
    const receivedAt = new Date().toISOString()
    const name = `${receivedAt.replaceAll(/[:.]/g, "-")}-${randomUUID()}`
    const file = join(this.directory, name)
    const messageId = messageIdOf(raw)
    await replaceFile(`${file}.json`, `${JSON.stringify({ ...envelope, messageId, receivedAt })}\n`)
    await replaceFile(`${file}.eml`, raw)
    if (messageId !== null) this.kept.add(messageId)
    return name
  }

  /** Whether a mail with the same Message-ID was kept since this was opened. */
  hasKept(raw: Uint8Array): boolean {
    const messageId = messageIdOf(raw)
    return messageId !== null && this.kept.has(messageId)
  }
}

/** The Message-ID header (RFC 5322, section 3.6.4) with its brackets, or null. */
const messageIdOf = (raw: Uint8Array): string | null => {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("latin1")
  const end = text.search(/\r?\n\r?\n/)
  return /^message-id:\s*(<[^>\r\n]*>)/im.exec(end < 0 ? text : text.slice(0, end))?.[1] ?? null
}
