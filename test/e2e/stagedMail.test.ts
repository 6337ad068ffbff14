import { startPostgres } from "@agentos/postgres/testing"
import { randomBytes } from "node:crypto"
import { createTransport } from "nodemailer"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { Agent, freshName } from "../support/Agent.ts"
import { type OpenDatabase, openDatabase } from "../support/ClusterDatabase.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"

const PIECE_BYTES = 256 * 1024
/** Without the first, which is in the row of the mail. */
const PIECES = 32
const HOUR_MILLIS = 3_600_000
const SEVEN_DAYS_MILLIS = 7 * 24 * HOUR_MILLIS
const OPERATOR_TOKEN = randomBytes(24).toString("hex")
const PATIENCE = { timeout: 60_000, interval: 50 }

interface Kill {
  readonly when: string
  /** The statement that is slowed down for each row, so that the kill comes before its end. */
  readonly statement: string
  readonly table: string
  readonly seconds: number
  /** Number of stored pieces at which the server is killed. */
  readonly pieces: number
}

const kills: ReadonlyArray<Kill> = [
  {
    when: "before all its pieces are stored",
    statement: "insert",
    table: "inbound_mail_pieces",
    seconds: 0.05,
    pieces: 5
  },
  {
    when: "with all its pieces stored, in the transaction that adds it",
    statement: "update of staged",
    table: "inbound_mails",
    seconds: 2,
    pieces: PIECES
  }
]

const cleanup: Array<() => Promise<unknown>> = []
let sandbox: Sandbox
let database: OpenDatabase
beforeAll(async () => {
  const postgres = await startPostgres()
  cleanup.push(postgres.stop)
  sandbox = await startSandbox({
    environment: { DATABASE_URL: postgres.url, AGENTOS_OPERATOR_TOKEN: OPERATOR_TOKEN }
  })
  cleanup.push(sandbox.stop)
  database = openDatabase(postgres.url)
  cleanup.push(database.close)
  await database.execute(`
    create function pause() returns trigger language plpgsql as
    $$ begin perform pg_sleep(tg_argv[0]::float); return new; end $$`)
})
afterAll(async () => {
  for (const end of cleanup.toReversed()) await end()
})

const largeMail = (to: string): string => {
  const line = `${"QUJD".repeat(19)}\r\n`
  const head = [
    "From: bob@outside.example",
    `To: ${to}`,
    "Subject: A large file",
    "Message-ID: <large@outside.example>",
    "MIME-Version: 1.0",
    "Content-Type: application/octet-stream",
    "Content-Disposition: attachment; filename=large.bin",
    "Content-Transfer-Encoding: base64"
  ]
  return `${head.join("\r\n")}\r\n\r\n${line.repeat(Math.ceil((PIECES * PIECE_BYTES) / line.length))}`
}

/** Sends a mail once and returns the reply of the server. */
const offer = async (to: string, raw: string): Promise<string> => {
  const { mail } = await sandbox.describe()
  const transport = createTransport({
    host: mail.host,
    port: mail.port,
    requireTLS: true,
    tls: { rejectUnauthorized: false }
  })
  return (await transport.sendMail({ envelope: { from: "bob@outside.example", to }, raw })).response
}

const stagedMails = (to: string) =>
  database.execute(`
    select inbound_mail_id as id, attempts, completed,
      (select count(*)::int from inbound_mail_pieces where inbound_mail_id = mail.inbound_mail_id) as pieces
    from inbound_mails as mail where staged and envelope::jsonb -> 'rcptTo' ? '${to}'`)

/** Runs the job that removes staged mail once. */
const removeOldMail = async (): Promise<void> => {
  const { operatorUrl } = await sandbox.describe()
  const response = await fetch(`${operatorUrl}/internal/jobs/inbound-mail-retention/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` }
  })
  expect(response.status).toBe(200)
}

const piecesOf = async (id: string): Promise<unknown> =>
  (await database.execute(`select count(*)::int from inbound_mail_pieces where inbound_mail_id = '${id}'`))[0]!["count"]

const itemsOf = async (
  agent: Agent,
  request: Parameters<Agent["send"]>[0]
): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> => {
  const { body, status } = await agent.send(request)
  expect(status).toBe(200)
  return body.data["items"]!
}

const messagesOf = (agent: Agent, mailboxId: string) =>
  itemsOf(agent, { path: `/api/v1/email/messages/query?mailboxId=${mailboxId}` })

describe("a mail of 8 MiB whose server is killed before the reply", () => {
  it.each(kills)("is delivered by the sender's retry alone: killed $when", async (kill) => {
    const described = await sandbox.describe()
    const agent = new Agent(described, described.wallets[0]!.privateKey)
    const { address, mailboxId } = await agent.createMailbox(freshName())
    const raw = largeMail(address)

    await database.execute(`
      create trigger pause before ${kill.statement} on ${kill.table} for each row execute function pause(${kill.seconds})`)
    const first = offer(address, raw).then(
      () => "accepted",
      () => "cut"
    )
    await vi.waitFor(
      async () => {
        const [mail] = await stagedMails(address)
        expect(mail?.["pieces"]).toBeGreaterThanOrEqual(kill.pieces)
      },
      { ...PATIENCE, interval: 5 }
    )
    const { processes } = await sandbox.describe()
    process.kill(processes.server, "SIGKILL")
    expect(await first).toBe("cut")
    await database.execute(`drop trigger pause on ${kill.table}`)

    await vi.waitFor(async () => {
      expect((await sandbox.describe()).processes.server).not.toBe(processes.server)
      expect(await messagesOf(agent, mailboxId)).toEqual([])
    }, PATIENCE)
    const [staged, ...more] = await stagedMails(address)
    expect(more).toEqual([])
    if (kill.pieces < PIECES) expect(staged!["pieces"]).toBeLessThan(PIECES)
    else expect(staged!["pieces"]).toBe(PIECES)

    expect(await offer(address, raw)).toMatch(/^250 /)
    await vi.waitFor(async () => expect(await messagesOf(agent, mailboxId)).toHaveLength(1), PATIENCE)
    // A lease takes the oldest mails first, and counts an attempt of each.
    expect(await stagedMails(address)).toEqual([{ ...staged, attempts: 0, completed: false }])

    const id = String(staged!["id"])
    const age = (millis: number) =>
      database.execute(`update inbound_mails set received_at = received_at - ${millis} where inbound_mail_id = '${id}'`)
    await age(SEVEN_DAYS_MILLIS - HOUR_MILLIS)
    await removeOldMail()
    expect(await stagedMails(address)).toHaveLength(1)
    await age(HOUR_MILLIS)
    await removeOldMail()
    expect(await stagedMails(address)).toEqual([])
    expect(await piecesOf(id)).toBe(0)

    expect(await messagesOf(agent, mailboxId)).toMatchObject([
      { subject: "A large file", malformed: false, attachments: [{ filename: "large.bin" }] }
    ])
    const events = await itemsOf(agent, { path: "/api/v1/events/list", body: { types: ["email.received"] } })
    expect(events.filter(({ agentId }) => agentId === mailboxId)).toHaveLength(1)
    const [usage] = await database.execute(`
      select message_count::int as messages, stored_bytes::int as bytes,
        (select sum(size_bytes)::int from messages where mailbox_id = mailboxes.mailbox_id) as sum
      from mailboxes where mailbox_id = '${mailboxId}'`)
    expect(usage).toEqual({ messages: 1, bytes: usage!["sum"], sum: usage!["sum"] })
    expect(usage!["bytes"]).toBeGreaterThanOrEqual(raw.length)
    expect(usage!["bytes"]).toBeLessThan(1.1 * raw.length)
  })

  it("is removed together with 119 others by one run of the job when they are old", async () => {
    await database.execute(`
      insert into inbound_mails (
        inbound_mail_id, envelope, raw, size_bytes, received_at, attempts, counted_mailbox_ids, staged, leased_until
      )
      select gen_random_uuid(), '{"rcptTo": ["many@outside.example"]}', '', 0, 0, 0, '{}', true,
        ${Number.MAX_SAFE_INTEGER}
      from generate_series(1, 120)`)
    await removeOldMail()
    expect(await stagedMails("many@outside.example")).toEqual([])
  })
})
