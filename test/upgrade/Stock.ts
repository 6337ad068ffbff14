import { CallState, EventStatus, NumberState, OperationState } from "@agentos/core"
import { dumpRows, plainSql } from "@agentos/postgres/testing"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createTransport } from "nodemailer"
import { generatePrivateKey } from "viem/accounts"
import { sendMessage, updateMailbox } from "../faults/client/Requests.ts"
import { useOf, Wallet } from "../faults/client/Wallet.ts"
import { planProviderFault } from "../faults/fault/ProviderFaults.ts"
import { Agent, freshName, type Request } from "../support/Agent.ts"
import { until } from "../support/AttackRig.ts"
import type { Cluster } from "../support/Cluster.ts"
import { buyAll } from "../support/PaidServices.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import { dataOf, NUMBERS, type NumberFields, PhoneCustomer, RELEASE } from "../support/PhoneCustomer.ts"
import { Treasury } from "../support/Treasury.ts"
import type { Customer } from "./Release.ts"

const FUNDS = 1_000

/** The states of each machine, by table and column. */
const STATES = [
  ["operations", "state", OperationState.literals],
  ["events", "status", EventStatus.literals],
  ["phone_numbers", "state", NumberState.literals],
  ["calls", "state", CallState.literals],
  ["event_webhooks", "state", ["active", "paused"]],
  ["inbound_mails", "completed", ["true", "false"]],
  ["local_parts", "owned", ["true", "false"]]
] as const

/**
 * A copy of the first row that a condition selects, with other values. Its unique texts and ids are to be among them.
 */
const copied = (table: string, condition: string, values: string): string => `
  do $$ declare columns text;
  begin
    select string_agg(quote_ident(attname), ', ') into columns from pg_attribute
    where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = '';
    execute format($copy$
      insert into ${table} (%1$s)
      select %1$s from jsonb_populate_record(null::${table}, (
        select to_jsonb(t) || ${values} from ${table} t where ${condition} limit 1
      )) $copy$, columns);
    if not found then raise exception '${table} has no row where ${condition.replaceAll("'", "''")}'; end if;
  end $$`

const id = "gen_random_uuid()"
const nowMillis = "epoch_millis()"
/** An operation whose authorization was never submitted. */
const operation = (state: string, more = ""): string => {
  const nonce = `'0x' || encode(sha256('${state}'), 'hex')`
  return copied(
    "operations",
    "state = 'settling'",
    `jsonb_build_object('operation_id', ${id}, 'idempotency_key', ${id}, 'state', '${state}', 'fence', 1, 'nonce', ${nonce},
      'proof', replace(proof, nonce, ${nonce}) ${more})`
  )
}
const FAILURE = `, 'failure', '{"kind":"refused","message":"The facilitator refused the payment."}'`

/** Rows in states that a server leaves at once, or has only with other settings. */
const PLANTED: ReadonlyArray<string> = [
  operation("claimed"),
  operation("refused", FAILURE),
  operation("unpaid", `${FAILURE}, 'due_at', null, 'leased_until', null`),
  `update operations set state = 'settled' where operation_id = (
    select operation_id from operations where state = 'fulfilling' order by created_at limit 1)`,
  ...["expired", "failed", "delivered"].map((status) =>
    copied(
      "events",
      "status = 'acknowledged'",
      `jsonb_build_object('event_id', ${id}, 'dedupe_key', ${id}, 'status', '${status}', 'acknowledged_at', null,
        'leased_until', ${status === "delivered" ? nowMillis : "null"}, 'delivery_id', ${id}, 'session_id', ${id})`
    )
  ),
  copied(
    "phone_numbers",
    "state = 'released'",
    `jsonb_build_object('phone_number_id', ${id}, 'agent_id', ${id},
    'number', '+14155550177', 'provider_number_id', 'PN' || md5('a'), 'state', 'suspended', 'released_at', null)`
  ),
  ...["queued", "ringing"].map((state) =>
    copied(
      "calls",
      "direction = 'outbound' and state <> 'ended'",
      `jsonb_build_object('call_id', ${id},
      'provider_call_id', 'CA' || md5('${state}'), 'state', '${state}', 'relay_token_hash', null, 'answered_at', null)`
    )
  ),
  `insert into held_numbers values ('+14155550178', ${id})`,
  `insert into deleted_agents select tenant_id, ${id}::text from tenants limit 1`,
  `insert into declined_calls select phone_number_id, '+14155550179', tenant_id, 1, 'CA1', ${nowMillis}, ${nowMillis}
    from phone_numbers limit 1`,
  `insert into local_parts select 'reserved', tenant_id, false, ${id}, ${id} from tenants limit 1`,
  `insert into gas_wallets values ('eip155:1', '0x${"1".repeat(40)}', 8)`,
  `insert into gas_transactions values ('eip155:1', '0x${"1".repeat(40)}', 7, 'a reference', '{0x01}', '{0x02}', 1, 1)`,
  `insert into rate_limits values ('a rule', 'a subject', 10, 1, 3, ${nowMillis}, ${nowMillis})`,
  `insert into server_messages (server_id, body, expires_at) values (${id}, '{}', ${nowMillis})`,
  `insert into agent_sessions select ${id}, tenant_id, ${id}, ${nowMillis}, null from tenants limit 1`,
  `insert into sales_stops values ('phone.number.ca.30d', ${nowMillis}, 'The carrier has no numbers.')`,
  copied(
    "event_webhooks",
    "state = 'active'",
    `jsonb_build_object('webhook_id', ${id}, 'state', 'paused', 'paused_at', ${nowMillis},
    'due_at', null, 'leased_until', null, 'tenant_id', (
      select tenant_id from tenants where tenant_id not in (select tenant_id from event_webhooks) limit 1))`
  ),
  copied("inbound_mails", "completed", `jsonb_build_object('inbound_mail_id', ${id}, 'completed', false)`),
  copied(
    "inbound_mails",
    "completed",
    `jsonb_build_object('inbound_mail_id', ${id}, 'completed', false, 'staged', true)`
  ),
  `insert into inbound_mail_pieces select inbound_mail_id, 0, raw from inbound_mails where staged`,
  copied(
    "sent_attachments",
    "message_id is not null",
    `jsonb_build_object('attachment_id', ${id}, 'operation_id', ${id},
    'tenant_id', null, 'message_id', null)`
  ),
  `insert into mail_reports select ${id}, message_id, ${nowMillis}, '127.0.0.1', '{}' from messages limit 1`
]

interface Items<A> {
  readonly items: ReadonlyArray<A>
}

/**
 * Buys and uses everything through the doors of a cluster's one server. Then kills the server while operations are unfinished,
 * and adds the rows that remain.
 */
export const stock = async (cluster: Cluster): Promise<ReadonlyArray<Customer>> => {
  const [server] = cluster.servers
  const carrier = new PhoneCarrier(cluster.phones)
  const keys = [generatePrivateKey(), generatePrivateKey()] as const
  const [wallet, other] = keys.map((key) => new Wallet(cluster.servers, key)) as [Wallet, Wallet]
  await new Treasury(cluster.chain).fund([wallet.address, other.address], FUNDS)
  const agent = wallet.on()
  const receiver = createServer((request, response) => request.resume().on("end", () => response.end()))
  await once(receiver.listen(0, "127.0.0.1"), "listening")
  const ask = async <A>(path: string, body?: object): Promise<A> =>
    dataOf<A>(await agent.send({ path, ...(body && { body }) }))
  /** Waits until a condition holds in the database. */
  const untilTrue = async (condition: string): Promise<void> => {
    const read = () => plainSql(cluster.database.url, `select (${condition}) as holds`)
    const [row] = await until(read, ([found]) => found?.["holds"] === true)
    if (row?.["holds"] !== true) throw new Error(`never true: ${condition}\n${server!.log()}`)
  }
  try {
    await other.on().createMailbox(freshName())
    const customer = new PhoneCustomer(agent, cluster.phones.agentWebhookUrl)
    await buyAll(carrier, customer, async (path, body) => {
      const reply = await agent.pay({ path, body })
      return { status: reply.status, receipt: reply.headers.get("payment-response"), data: reply.body.data }
    })
    agent.token = await new Agent({ baseUrl: cluster.phones.publicUrl }, keys[0]).signIn()
    const mailbox = await agent.createMailbox(freshName())
    wallet.token = agent.token
    const relay = createTransport({ ...server!.mail, tls: { rejectUnauthorized: false } })
    for (const subject of ["First", "Second", "Third"])
      await relay.sendMail({
        from: "friend@outside.example",
        to: mailbox.address,
        subject,
        text: `Grüße 👋, ${subject}.`,
        attachments: [{ filename: "note.txt", content: "A note." }]
      })
    await untilTrue("(select count(*) = 3 from messages where inbound_mail_id is not null)")
    const { items } = await ask<Items<{ readonly messageId: string }>>(
      `/api/v1/email/messages/query?mailboxId=${mailbox.mailboxId}`
    )
    const messageIds = [items[0]!.messageId]
    await ask("/api/v1/email/messages/update", { messageIds, addLabels: ["kept"], unread: false })

    const message = (recipient: string, more: object = {}) => {
      const { body, path } = sendMessage(mailbox.mailboxId, recipient)
      return { path, body: { ...(body as object), ...more } }
    }
    for (const domain of ["elsewhere.test", "greylist.test", "bounced.test", "complained.test", "reject.test"])
      await agent.pay(message(`${freshName()}@${domain}`))
    await agent.pay(message("late@elsewhere.test", { sendAt: new Date(Date.now() + 86_400_000).toISOString() }))
    await untilTrue("exists (select from suppressions) and exists (select from operations where state = 'refunded')")

    const numbers = (await ask<Items<NumberFields>>(NUMBERS)).items
    const lines = ["Hello.", { hangup: true }] as const
    await carrier.over(await carrier.callIn(numbers[0]!.number, { lines }))
    await ask(RELEASE, { phoneNumberId: numbers[1]!.phoneNumberId, confirmRelease: true })
    await untilTrue("exists (select from phone_numbers where state = 'released')")
    await ask("/api/v1/events/webhook", { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` })
    await untilTrue("exists (select from event_webhook_attempts)")
    await ask("/api/v1/events/ack-all", { before: new Date().toISOString() })

    await leaveOpen(cluster, wallet, mailbox.mailboxId, untilTrue)
    await server!.kill()
    for (const statement of PLANTED) await plainSql(cluster.database.url, statement)
    return keys.map((privateKey, index) => ({ privateKey, accessToken: [wallet, other][index]!.on().token! }))
  } finally {
    receiver.close()
    receiver.closeAllConnections()
  }
}

/** Leaves operations in the states in which a server waits for a provider. */
const leaveOpen = async (
  cluster: Cluster,
  wallet: Wallet,
  mailboxId: string,
  untilTrue: (condition: string) => Promise<void>
): Promise<void> => {
  const begin = async (request: Request, state: string, plan: (nonce: string) => Promise<void>) => {
    const payment = await wallet.sign(request)
    const { nonce } = payment.authorization
    await plan(nonce)
    // Its server is killed before it answers.
    void wallet.send(payment, useOf(payment, request)).catch(() => undefined)
    await untilTrue(`(select state = '${state}' from operations where nonce = lower('${nonce}'))`)
  }
  const hung = `${freshName()}@elsewhere.test`
  for (const recipient of [hung, `other-${hung}`]) {
    await begin(sendMessage(mailboxId, recipient), "fulfilling", () =>
      planProviderFault(cluster, { operation: "send", mode: "hang", only: recipient })
    )
  }
  await begin(updateMailbox(mailboxId, "Ada"), "settling", (only) =>
    planProviderFault(cluster, { operation: "settle", mode: "hang", only })
  )
  const rejected = `${freshName()}@reject.test`
  await begin(sendMessage(mailboxId, rejected), "refund_due", async (only) => {
    await planProviderFault(cluster, { operation: "settle", mode: "after", only })
    await planProviderFault(cluster, { operation: "settle", mode: "before", times: 1_000 })
  })
}

/** Returns the tables without rows and the states that no row has. */
export const missing = async (url: string): Promise<ReadonlyArray<string>> => {
  const rows = await dumpRows(url)
  const empty = Object.entries(rows).flatMap(([table, text]) => (text === "[]" ? [table] : []))
  const absent = STATES.flatMap(([table, column, states]) => {
    const found = new Set(
      (JSON.parse(rows[table]!) as ReadonlyArray<Record<string, unknown>>).map((row) => String(row[column]))
    )
    return states.filter((state) => !found.has(state)).map((state) => `${table}.${column} = ${state}`)
  })
  return [...empty, ...absent]
}
