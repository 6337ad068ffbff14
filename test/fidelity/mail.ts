import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, writeFile } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent, freshName } from "../support/Agent.ts"
import { startSandbox } from "../support/Sandbox.ts"
import { WITHOUT_LIMITS } from "../support/WithoutLimits.ts"
import { DebianPackages } from "./DebianPackages.ts"
import { type ComparedField, explanationOf, type Seen } from "./MailChoices.ts"
import { type Corpus, mailCorpora } from "./MailCorpora.ts"
import type { Subject } from "./Subject.ts"

/** The fields that all readers have. */
interface ReadFields {
  readonly from: ReadonlyArray<string>
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly subject: string
  readonly messageId: string
  readonly text: string | null
  readonly html: string | null
  readonly attachments: ReadonlyArray<{
    readonly filename: string | null
    readonly contentType: string
    readonly sizeBytes: number | null
  }>
}

type Reading = { readonly read: ReadFields } | { readonly error: string }

/** A difference from both readers, or from the only one that could read the mail. */
interface Difference extends Seen {
  /** The name of the mail in its corpus. */
  readonly mail: string
  readonly choice: string | undefined
}

interface CorpusResult {
  readonly corpus: Corpus
  readonly differences: ReadonlyArray<Difference>
}

const readWith = async (
  command: string,
  script: string,
  cwd: string,
  paths: ReadonlyArray<string>
): Promise<ReadonlyArray<Reading>> => {
  const child = spawn(command, [script], { cwd, stdio: ["pipe", "pipe", "inherit"] })
  child.stdin.end(paths.map((path) => `${path}\n`).join(""))
  const readings: Array<Reading> = []
  for await (const line of createInterface({ input: child.stdout })) readings.push(JSON.parse(line))
  if (child.exitCode === null) await once(child, "exit")
  if (readings.length !== paths.length) throw new Error(`${command} read ${readings.length} of ${paths.length} mails`)
  return readings
}

/** Text without what readers write differently and no person sees: line ends, runs of white space, and the last line break. */
const folded = (text: string): string => text.normalize("NFC").replaceAll(/\s+/g, " ").trim()

const lower = (addresses: ReadonlyArray<string>): string => addresses.map((address) => address.toLowerCase()).join(", ")

const FIELDS: Readonly<Record<ComparedField, (read: ReadFields) => string>> = {
  from: ({ from }) => lower(from),
  to: ({ to }) => lower(to),
  cc: ({ cc }) => lower(cc),
  subject: ({ subject }) => folded(subject),
  messageId: ({ messageId }) => messageId.replaceAll(/[<>\s]/g, ""),
  text: ({ text }) => folded(text ?? ""),
  html: ({ html }) => folded((html ?? "").replaceAll(/<[^<>]*>/g, " ")),
  attachments: ({ attachments }) =>
    attachments
      .map(({ contentType, filename }) => `${contentType.replace(/;.*/s, "").toLowerCase()} ${filename ?? ""}`)
      .join(", ")
}

/** A session with the SMTP server of the sandbox, for one mail after the other. */
class SmtpClient {
  readonly #socket: Socket
  readonly #replies: AsyncIterator<string>

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#replies = createInterface({ input: socket })[Symbol.asyncIterator]()
  }

  static async open(host: string, port: number): Promise<SmtpClient> {
    const socket = connect(port, host)
    await once(socket, "connect")
    const client = new SmtpClient(socket)
    await client.#reply()
    await client.#command("EHLO corpus.example")
    return client
  }

  async #reply(): Promise<string> {
    for (;;) {
      const { done, value } = await this.#replies.next()
      if (done === true) throw new Error("the server closed the connection")
      if (value[3] !== "-") return value
    }
  }

  #command(line: string): Promise<string> {
    this.#socket.write(`${line}\r\n`)
    return this.#reply()
  }

  /** Returns the reply to the mail, or the first refusal. */
  async send(from: string, to: string, raw: Buffer): Promise<string> {
    for (const line of ["RSET", `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, "DATA"]) {
      const reply = await this.#command(line)
      if (!/^[23]/.test(reply)) return reply
    }
    const lines = raw.toString("latin1").replaceAll(/\r?\n/g, "\r\n").replaceAll(/^\./gm, "..")
    this.#socket.write(Buffer.from(`${lines.replace(/(?:\r\n)?$/, "\r\n")}.\r\n`, "latin1"))
    return this.#reply()
  }

  close(): void {
    this.#socket.destroy()
  }
}

interface OurMessage {
  readonly messageId: string
  readonly malformed: boolean
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly cc: ReadonlyArray<string>
  readonly subject: string
  readonly messageIdHeader: string | null
  readonly text: string | null
  readonly html: string | null
  readonly attachments: ReadFields["attachments"]
}

const explained = (mail: string, seen: Seen): Difference => ({ mail, ...seen, choice: explanationOf(seen) })

/** Returns the fields in which our record equals none of the readings. */
const compare = (mail: string, ours: OurMessage, readings: ReadonlyArray<Reading>): ReadonlyArray<Difference> => {
  const others = readings.flatMap((reading) => ("read" in reading ? [reading.read] : []))
  const read: ReadFields = { ...ours, from: ours.from === "" ? [] : [ours.from], messageId: ours.messageIdHeader ?? "" }
  const differences: Array<Difference> = []
  for (const [field, valueOf] of Object.entries(FIELDS) as ReadonlyArray<[ComparedField, (of: ReadFields) => string]>) {
    const own = valueOf(read)
    const theirs = others.map(valueOf)
    // Without text, ours is the text that the HTML shows.
    const isDerived = field === "text" && others.every(({ text }) => (text ?? "").trim() === "") && ours.html !== null
    if (theirs.length === 0 || isDerived || theirs.includes(own)) continue
    differences.push(explained(mail, { field, ours: own, others: theirs }))
  }
  return differences
}

/** Sends every mail of the corpora through SMTP, reads it back, and compares it with two other readers. */
export const compareMail = async (
  corpora: ReadonlyArray<Corpus>,
  directory: string
): Promise<ReadonlyArray<CorpusResult>> => {
  const sandbox = await startSandbox({
    environment: {
      ...WITHOUT_LIMITS,
      AGENTOS_MAIL_INBOUND_PER_HOUR_SENDER: "100000",
      AGENTOS_MAIL_INBOUND_PER_HOUR_NETWORK: "100000",
      AGENTOS_MAIL_INBOUND_PER_HOUR_MAILBOX: "100000"
    }
  })
  try {
    const description = await sandbox.describe()
    const agent = new Agent(description, description.wallets[0]!.privateKey)
    const query = async (parameters: string): Promise<Record<string, unknown>> =>
      (await agent.send({ path: `/api/v1/email/messages/query?${parameters}` })).body.data
    const results: Array<CorpusResult> = []
    for (const corpus of corpora) {
      const folder = join(directory, "mails", corpus.name)
      await mkdir(folder, { recursive: true })
      const paths = corpus.mails.map((_, index) => join(folder, `${index}.eml`))
      for (const [index, { raw }] of corpus.mails.entries()) await writeFile(paths[index]!, raw)
      const python = await readWith("python3", join(import.meta.dirname, "readMails.py"), folder, paths)
      const node = await readWith(process.execPath, join(import.meta.dirname, "readMails.mjs"), folder, paths)
      const mailbox = await agent.createMailbox(freshName())
      const differences: Array<Difference> = []
      let known: string | undefined
      const client = await SmtpClient.open(description.mail.host, description.mail.port)
      for (const [index, { name, raw }] of corpus.mails.entries()) {
        // With one sender for all, a copy of a mail in the corpus would be its duplicate.
        const reply = await client.send(`corpus-${index}@corpus.example`, mailbox.address, raw)
        const isAccepted = reply.startsWith("250")
        const arrived = isAccepted ? await untilNewer(query, mailbox.mailboxId, known) : undefined
        if (arrived === undefined) {
          differences.push(explained(name, { field: isAccepted ? "lost" : "refused", ours: reply, others: [] }))
          continue
        }
        known = arrived
        const { message } = (await query(`messageId=${arrived}`)) as unknown as { readonly message: OurMessage }
        differences.push(...compare(name, message, [python[index]!, node[index]!]))
      }
      client.close()
      results.push({ corpus, differences })
    }
    return results
  } finally {
    await sandbox.stop()
  }
}

/** Returns the id of the newest message once it is another than `known`; undefined if none arrives. */
const untilNewer = async (
  query: (parameters: string) => Promise<Record<string, unknown>>,
  mailboxId: string,
  known: string | undefined
): Promise<string | undefined> => {
  for (let tries = 0; tries < 400; tries++) {
    const { items } = (await query(`mailboxId=${mailboxId}&limit=1`)) as unknown as {
      readonly items: ReadonlyArray<{ readonly messageId: string }>
    }
    const newest = items[0]?.messageId
    if (newest !== undefined && newest !== known) return newest
    await sleep(25)
  }
  return undefined
}

const rowOf = ({ corpus: { mails, name, source }, differences }: CorpusResult): string => {
  const groups = [...Map.groupBy(differences, ({ mail }) => mail).values()]
  const wrong = groups.filter((found) => found.some(({ choice }) => choice === undefined)).length
  const equal = mails.length - groups.length
  return `| ${name} | ${source} | ${mails.length} | ${equal} | ${groups.length - wrong} | ${wrong} |`
}

/** Returns the differences that are not meant, a line for each mail and field. */
export const faultsOf = ({ corpus, differences }: CorpusResult): ReadonlyArray<string> =>
  differences
    .filter(({ choice }) => choice === undefined)
    .map(({ field, mail, ours, others }) =>
      `${corpus.name} ${mail}: ${field}\n  ours:   ${JSON.stringify(ours)}\n  others: ${JSON.stringify(others)}`.slice(
        0,
        2_000
      )
    )

/** How mail is read: every mail of public corpora, beside two other readers. */
export const mail: Subject = {
  heading: "Mail",
  summary: "reads public corpora of mail through SMTP, beside Python's email package and mailparser",
  measure: async (directory) => {
    const results = await compareMail(await mailCorpora(new DebianPackages(directory)), directory)
    const all = results.flatMap(({ corpus, differences }) => differences.map((found) => ({ corpus, ...found })))
    const reasons = [...Map.groupBy(all, ({ choice }) => choice ?? "").entries()].flatMap(([reason, found]) =>
      reason === ""
        ? []
        : [`| ${reason} | ${new Set(found.map(({ corpus, mail }) => `${corpus.name} ${mail}`)).size} |`]
    )
    const section = [
      "Every mail is sent through SMTP and read back by the API. A field is equal if at least one of Python's `email` package",
      "and mailparser reads the same: author, recipients, subject, Message-ID, text, the text of the HTML, attachments.",
      "",
      "| corpus | source | mails | equal | different by choice | wrong |",
      "| --- | --- | --- | --- | --- | --- |",
      ...results.map(rowOf),
      "",
      "| choice | mails |",
      "| --- | --- |",
      ...reasons
    ].join("\n")
    return { section, faults: results.flatMap(faultsOf) }
  }
}
