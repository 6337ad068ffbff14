import { createTransport, type Transporter } from "nodemailer"
import pg from "pg"
import { answerParent } from "../compare/ChildModule.ts"
import { repeat } from "../compare/Comparison.ts"
import type { Work } from "../compare/Side.ts"
import type { SendingCommand } from "../compare/sendersMain.ts"
import { HOST } from "./Peer.ts"

let pool: pg.Pool
let transport: Transporter
let from: string

const send = async (text: string): Promise<void> => {
  const mail = { from, to: "friend@outside.example", subject: "Bench", text }
  const { rows } = await pool.query<{ readonly mail_id: string }>({
    name: "store",
    text: "insert into mails (sender, recipient, subject, body, status) values ($1, $2, $3, $4, 'queued') returning mail_id",
    values: [mail.from, mail.to, mail.subject, mail.text]
  })
  const { messageId } = await transport.sendMail(mail)
  await pool.query({
    name: "sent",
    text: "update mails set status = 'sent', message_id = $2 where mail_id = $1",
    values: [rows[0]!.mail_id, messageId]
  })
}

/** Stores each mail, sends it over nodemailer's pool with a DKIM signature, and stores that it was sent. */
answerParent(async (command: SendingCommand): Promise<Work> => {
  if ("callers" in command) return repeat(command.callers, command.millis, () => send(command.text))
  const { databaseUrl, dkim, domain, relayPort } = command
  pool = new pg.Pool({ connectionString: databaseUrl })
  await pool.query(
    "create table mails (mail_id uuid primary key default gen_random_uuid(), sender text not null, recipient text not null, " +
      "subject text, body text, status text not null, message_id text, created_at timestamptz default now())"
  )
  transport = createTransport({ host: HOST, port: relayPort, ignoreTLS: true, pool: true, maxConnections: 4, dkim })
  from = `bench@${domain}`
  return { count: 0, millis: 0 }
})
