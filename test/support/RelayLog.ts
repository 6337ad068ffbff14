import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"

/** Reads what the relay took. A mail that was read is not read again. */
export class RelayLog {
  private readonly directory: string
  private readonly known = new Set<string>()
  private readonly mails = new Map<string, Array<string | null>>()
  private reading: Promise<unknown> = Promise.resolve()

  constructor(outboxDir: string) {
    this.directory = outboxDir
  }

  /** By recipient, in lower case: the Message-ID of each copy. */
  read(): Promise<ReadonlyMap<string, ReadonlyArray<string | null>>> {
    const reading = this.reading.then(() => this.readOn())
    this.reading = reading.catch(() => undefined)
    return reading
  }

  private async readOn(): Promise<ReadonlyMap<string, ReadonlyArray<string | null>>> {
    const files = new Set(await readdir(this.directory))
    for (const file of files) {
      // The envelope is there first; the mail is kept once its own file is there too.
      if (!file.endsWith(".json") || this.known.has(file) || !files.has(file.replace(/\.json$/, ".eml"))) continue
      this.known.add(file)
      const envelope = JSON.parse(await readFile(join(this.directory, file), "utf8")) as {
        readonly rcptTo: ReadonlyArray<string>
        readonly messageId: string | null
      }
      for (const recipient of envelope.rcptTo.map((address) => address.toLowerCase())) {
        this.mails.set(recipient, [...(this.mails.get(recipient) ?? []), envelope.messageId])
      }
    }
    return this.mails
  }
}
