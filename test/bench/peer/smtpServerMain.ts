import { authenticate } from "mailauth"
import { simpleParser } from "mailparser"
import { once } from "node:events"
import { callbackify } from "node:util"
import pg from "pg"
import { SMTPServer } from "smtp-server"
import { answerParent } from "../compare/ChildModule.ts"
import { HOST, portOf } from "./Peer.ts"

export interface SmtpServerOptions {
  readonly databaseUrl: string
  readonly domain: string
  /** The records of all of DNS. */
  readonly zone: ReadonlyArray<{ readonly name: string; readonly type: string; readonly value: string }>
}

/** A server that checks and parses each mail, stores it with its raw bytes, and then accepts it. */
answerParent(async ({ databaseUrl, domain, zone }: SmtpServerOptions): Promise<number> => {
  const pool = new pg.Pool({ connectionString: databaseUrl })
  await pool.query(
    "create table mails (mail_id uuid primary key default gen_random_uuid(), recipient text not null, sender text, " +
      "subject text, body text, authentication json not null, raw bytea not null, received_at timestamptz default now())"
  )
  const resolver = async (name: string, type: string): Promise<Array<Array<string>> | Array<string>> => {
    const values = zone.filter((record) => record.name === name && record.type === type).map(({ value }) => value)
    if (values.length === 0) throw Object.assign(new Error(`no ${type} of ${name}`), { code: "ENOTFOUND" })
    return type === "TXT" ? values.map((value) => [value]) : values
  }
  const text =
    "insert into mails (recipient, sender, subject, body, authentication, raw) values ($1, $2, $3, $4, $5, $6)"
  const store = async (raw: Buffer, sender: string, recipient: string, ip: string): Promise<void> => {
    const [{ dkim, dmarc, spf }, mail] = await Promise.all([
      authenticate(raw, {
        ip,
        helo: "outside.example",
        mta: domain,
        sender,
        resolver,
        disableArc: true,
        disableBimi: true
      }),
      simpleParser(raw)
    ])
    const results = {
      dkim: dkim.results.map(({ status }) => status.result),
      spf: spf === false ? null : spf?.status.result,
      dmarc: dmarc === false ? null : dmarc?.status.result
    }
    const values = [recipient, mail.from?.text, mail.subject, mail.text, JSON.stringify(results), raw]
    await pool.query({ name: "store", text, values })
  }
  const stored = callbackify(store)
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    onData: (stream, { envelope, remoteAddress }, callback) => {
      const chunks: Array<Buffer> = []
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.on("end", () => {
        const sender = envelope.mailFrom === false ? "" : envelope.mailFrom.address
        stored(Buffer.concat(chunks), sender, envelope.rcptTo[0]!.address, remoteAddress, callback)
      })
    }
  })
  server.listen(0, HOST)
  await once(server.server, "listening")
  return portOf(server.server)
})
