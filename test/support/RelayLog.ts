import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"

/** Reads the mail that the relay accepted, each file once. */
export class RelayLog {
  private readonly directory: string
  private readonly known = new Set<string>()
  private readonly mails = new Map<string, Array<string | null>>()
  private reading: Promise<unknown> = Promise.resolve()

  constructor(outboxDir: string) {
    this.directory = outboxDir
  }

  /** Returns the Message-ID of each copy by recipient, in lower case. */
  read(): Promise<ReadonlyMap<string, ReadonlyArray<string | null>>> {
    const reading = this.reading.then(() => this.readOn())
    this.reading = reading.catch(() => undefined)
    return reading
  }

  private async readOn(): Promise<ReadonlyMap<string, ReadonlyArray<string | null>>> {
    const files = new Set(await readdir(this.directory))
    for (const file of files) {
      // The envelope is written first; the mail is complete once its own file exists.
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
