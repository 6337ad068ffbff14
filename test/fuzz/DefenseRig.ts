import { startPostgres } from "@agentos/postgres/testing"
import type { SandboxDescription } from "@agentos/sandbox"
import { randomBytes, randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { setTimeout as sleep } from "node:timers/promises"
import { createTransport } from "nodemailer"
import { Agent, freshName, type MailboxFields } from "../support/Agent.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import { dataOf, PhoneCustomer } from "../support/PhoneCustomer.ts"
import { startSandbox } from "../support/Sandbox.ts"
import type { Peer } from "./HttpConnection.ts"
import type { RigServer } from "./rigServerMain.ts"

export const DATABASES = ["pglite", "postgres"] as const
export type DatabaseKind = (typeof DATABASES)[number]

/** Addresses of this machine, so that a limit per address applies to the attacker alone. */
export const HONEST_ADDRESS = "127.0.0.2"
export const ATTACKER_ADDRESSES = ["127.0.0.3", "127.0.0.4"] as const

/** A tenant with one of everything. */
export interface Party {
  readonly agent: Agent
  readonly token: string
  readonly mailbox: MailboxFields
  readonly messageId: string
  readonly eventId: string
  readonly phoneNumberId: string
  readonly number: string
  readonly callId: string
  /** Cursor of a page of the party's events. */
  readonly cursor: string
  /** The PAYMENT-SIGNATURE header that bought the mailbox, and with it the access token. */
  readonly payment: string
}

/** A sandbox with an attacker, an honest tenant, and a victim whose data holds canaries. */
export interface DefenseRig {
  readonly sandbox: SandboxDescription
  readonly database: DatabaseKind
  readonly http: Omit<Peer, "localAddress">
  readonly smtp: Omit<Peer, "localAddress">
  readonly attacker: Party
  readonly honest: { readonly agent: Agent; readonly token: string; readonly mailbox: MailboxFields }
  readonly victim: Party
  /** Texts that only the victim's data contains. No answer to another client may contain one. */
  readonly canaries: ReadonlyArray<string>
  readonly carrierToken: string
  /** Where the keys of the chain are. */
  readonly chainDirectory: string
  /** The current server process. */
  readonly serverPid: () => Promise<number>
  /** Runs the ledger audit in the server. Resolves to a problem, or undefined. */
  readonly auditLedger: () => Promise<string | undefined>
  readonly stop: () => Promise<void>
}

export interface DefenseOptions {
  readonly database: DatabaseKind
  /** Requests per minute and client; 0 for no rate limit. */
  readonly rateLimitPerMinute: number
  /** Another server than that of the sources, or other circumstances. */
  readonly server?: Partial<RigServer>
}

const SERVER_MODULE = fileURLToPath(new URL("rigServerMain.ts", import.meta.url))

const WAIT_MILLIS = 30_000

export const startDefenseRig = async ({
  database,
  rateLimitPerMinute,
  server = {}
}: DefenseOptions): Promise<DefenseRig> => {
  const cleanup: Array<() => Promise<unknown>> = []
  const stop = async () => {
    for (let end = cleanup.pop(); end !== undefined; end = cleanup.pop()) await end()
  }
  try {
    const operatorToken = randomBytes(24).toString("hex")
    const postgres = database === "postgres" ? await startPostgres() : undefined
    if (postgres !== undefined) cleanup.push(postgres.stop)
    const running = await startSandbox({
      environment: {
        DATABASE_URL: postgres?.url ?? "",
        AGENTOS_OPERATOR_TOKEN: operatorToken,
        AGENTOS_RATE_LIMIT_PER_MINUTE: String(rateLimitPerMinute),
        ...(Object.keys(server).length === 0 ? {} : rigServer(server))
      }
    })
    cleanup.push(running.stop)
    const sandbox = await running.describe()
    const canary = () => `canary${randomBytes(12).toString("hex")}`
    const canaries = { name: canary(), signature: canary(), mail: canary(), agent: canary(), speech: canary() }

    const honest = new Agent(sandbox, sandbox.wallets[0]!.privateKey)
    const honestMailbox = await honest.createMailbox(freshName())
    const victim = await settleParty(sandbox, 1, canaries)
    const attacker = await settleParty(sandbox, 2, { name: "a", signature: "b", mail: "c", agent: "d", speech: "e" })
    const [, carrierToken = ""] = (await readFile(join(running.directory, "carrier", "account"), "utf8"))
      .trim()
      .split(":")
    const { hostname, port } = new URL(sandbox.baseUrl)
    return {
      sandbox,
      database,
      http: { host: hostname, port: Number(port) },
      smtp: { host: sandbox.mail.host, port: sandbox.mail.port },
      attacker,
      honest: { agent: honest, token: honest.token!, mailbox: honestMailbox },
      victim,
      canaries: [...Object.values(canaries), victim.token],
      carrierToken,
      chainDirectory: join(running.directory, "chain"),
      serverPid: async () => (await running.describe()).processes.server,
      auditLedger: () => auditLedger(sandbox, operatorToken),
      stop
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The variables of a sandbox that runs another server. */
const rigServer = (server: Partial<RigServer>) => {
  const sources: RigServer = { module: import.meta.resolve("@agentos/server/main"), variables: {}, endpoints: [] }
  return {
    AGENTOS_SANDBOX_SERVER_MODULE: SERVER_MODULE,
    AGENTOS_SANDBOX_RIG_SERVER: JSON.stringify({ ...sources, ...server })
  }
}

interface Texts {
  readonly name: string
  readonly signature: string
  readonly mail: string
  readonly agent: string
  readonly speech: string
}

/** Gives a wallet one of everything, with these texts in it. */
const settleParty = async (sandbox: SandboxDescription, wallet: number, texts: Texts): Promise<Party> => {
  const agent = new Agent(sandbox, sandbox.wallets[wallet]!.privateKey)
  const order = { path: "/api/v1/email/mailboxes", body: { localPart: freshName() } }
  const payment = await agent.payment(order)
  const created = dataOf<{
    readonly mailbox: MailboxFields
    readonly authentication: { readonly accessToken: string }
  }>(await agent.replay(order, payment, randomUUID()))
  const { mailbox } = created
  const { mailboxId } = mailbox
  agent.token = created.authentication.accessToken
  const update = { mailboxId, displayName: texts.name, outboundSignature: texts.signature }
  requireStatus(await agent.pay({ path: "/api/v1/email/mailboxes/update", body: update }), 200)
  const customer = new PhoneCustomer(agent, sandbox.agentWebhookUrl)
  const bought = await customer.buy({ agentName: texts.agent, description: texts.agent, beginMessage: texts.agent })
  await customer.addMinutes(bought.phoneNumberId)
  const callee = await new PhoneCarrier(sandbox).person({ lines: [texts.speech, { hangup: true }] })
  const call = await customer.callOut(bought.phoneNumberId, callee)
  await deliverMail(sandbox, mailbox.address, { subject: texts.mail, text: texts.mail })
  const received = await until("the mail", async () => (await customer.events("email.received"))[0])
  const page = dataOf<{ readonly nextCursor: string }>(
    await agent.send({ path: "/api/v1/events/list", body: { limit: 1 } })
  )
  return {
    agent,
    token: agent.token,
    mailbox,
    cursor: page.nextCursor,
    payment,
    messageId: received.resourceId,
    eventId: received.eventId,
    phoneNumberId: bought.phoneNumberId,
    number: bought.number,
    callId: call.callId
  }
}

const requireStatus = (reply: { readonly status: number; readonly text: string }, status: number): void => {
  if (reply.status !== status) throw new Error(`${reply.status} instead of ${status}: ${reply.text}`)
}

export const deliverMail = async (
  { mail }: Pick<SandboxDescription, "mail">,
  to: string,
  content: { readonly subject: string; readonly text: string },
  localAddress?: string
): Promise<void> => {
  const transport = createTransport({
    host: mail.host,
    port: mail.port,
    tls: { rejectUnauthorized: false },
    ...(localAddress !== undefined && { localAddress })
  })
  await transport.sendMail({ from: "sender@elsewhere.example", to, ...content })
}

/** Polls until `find` finds something. */
export const until = async <A>(what: string, find: () => Promise<A | undefined>): Promise<A> => {
  const deadline = Date.now() + WAIT_MILLIS
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    if (Date.now() > deadline) throw new Error(`${what} did not appear within ${WAIT_MILLIS / 1_000} s`)
    await sleep(100)
  }
}

const auditLedger = async ({ operatorUrl }: SandboxDescription, operatorToken: string): Promise<string | undefined> => {
  const response = await fetch(`${operatorUrl}/internal/jobs/ledger-audit/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}` }
  })
  return response.ok ? undefined : `the ledger audit answered ${response.status}: ${await response.text()}`
}
