import {
  EventStore,
  MailboxStore,
  newMailbox,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { layerPostgres, Postgres } from "@agentos/postgres"
import { startPostgres } from "@agentos/postgres/testing"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { databaseUrl, execute } from "../support/ClusterDatabase.ts"
import { type Bench, type BenchRun, DURABLE, quantile, table } from "./Bench.ts"

/** Events of one statement of the job `event-expiry`. */
const BATCH = 1_000
const PAUSE_MILLIS = 5

type Ports = EventStore | MailboxStore | TenantStore | Transactor
type Run = <A>(effect: Effect.Effect<A, never, Ports>) => Promise<A>

/** Opens the stores with connections of their own, like one more server. */
const openStores = (url: string, bench: BenchRun): Run => {
  const database = layerPostgres({ url: Redacted.make(url), applicationName: "bench" })
  const runtime = ManagedRuntime.make(Layer.orDie(Layer.provide(Postgres.layer, database)))
  bench.atEnd(() => runtime.dispose())
  return (effect) => runtime.runPromise(effect)
}

const newTenant = Effect.gen(function* () {
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  yield* (yield* TenantStore).ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
  return tenantId
})

const storeMailbox = Effect.fnUntraced(function* (tenantId: string) {
  const store = yield* MailboxStore
  const [mailboxId, operationId] = [yield* Uuid.next, yield* Uuid.next]
  const createdAt = yield* Timestamp.now
  const mailbox = newMailbox({ mailboxId, tenantId, localPart: mailboxId, domain: "agents.example", createdAt })
  yield* store.reserve(mailboxId, tenantId, operationId)
  yield* store.create(mailbox, operationId)
  return mailboxId
})

/** Returns statements that store messages of a mailbox with their raw mails, and pending events. */
const filling = (tenantId: string, mailboxId: string, messages: number, events: number): ReadonlyArray<string> => [
  `with mails as (
     insert into inbound_mails (inbound_mail_id, envelope, raw, received_at, attempts, completed)
     select gen_random_uuid(), '{}', convert_to(repeat('0123456789', 500), 'utf8'), 0, 1, true
     from generate_series(1, ${messages}) returning inbound_mail_id
   )
   insert into messages (message_id, tenant_id, mailbox_id, thread_id, inbound_mail_id, created_at, summary, body)
   select gen_random_uuid(), '${tenantId}', '${mailboxId}', gen_random_uuid(), inbound_mail_id, 0,
     repeat('0123456789', 100), repeat('0123456789', 200)
   from mails`,
  `insert into events (
     event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, created_at, expires_at
   )
   select gen_random_uuid(), '${tenantId}', 'email.received', 'smtp', 'email', gen_random_uuid()::text, '${mailboxId}',
     repeat('0123456789', 40), gen_random_uuid()::text, at, at + ${30 * Timestamp.DAY}
   from (select epoch_millis() - n as at from generate_series(1, ${events}) n) moments`
]

/** Appends an event of the tenant, leases it and acknowledges it. */
const work = (tenantId: string) =>
  Effect.gen(function* () {
    const store = yield* EventStore
    const id = yield* Uuid.next
    const about = { source: "smtp", service: "email", resourceId: id, agentId: id, payload: {}, dedupeKey: id }
    const [event] = yield* store.append([{ tenantId, type: "email.received", ...about }])
    yield* store.acknowledge(tenantId, [{ eventId: event!.eventId }])
  })

/** Repeats the work of a tenant until `stop` is called, which returns how long each time took. */
const repeatWork = (run: Run, tenantId: string) => {
  const millis: Array<number> = []
  let isOver = false
  const running = (async () => {
    while (!isOver) {
      const startedAt = performance.now()
      await run(work(tenantId))
      millis.push(performance.now() - startedAt)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLIS))
    }
  })()
  return async () => {
    isOver = true
    await running
    return millis.toSorted((a, b) => a - b)
  }
}

export const deletion: Bench = {
  summary: "deletion of a mailbox with many messages and pending events, while two tenants store events",
  options: { messages: 50_000, events: 100_000 },
  run: async (bench) => {
    const [messages, events] = [bench.option("messages"), bench.option("events")]
    const postgres = await startPostgres({ settings: { ...DURABLE, shared_buffers: "256MB" } })
    bench.atEnd(postgres.stop)
    await execute(postgres.url, "create database deletion")
    const url = databaseUrl(postgres.url, "deletion")
    const [run, own, others] = [openStores(url, bench), openStores(url, bench), openStores(url, bench)]
    const [tenantId, otherId] = [await run(newTenant), await run(newTenant)]
    const mailboxId = await run(storeMailbox(tenantId))
    await execute(url, "set statement_timeout = 0", ...filling(tenantId, mailboxId, messages, events))
    await execute(url, "vacuum analyze events", "vacuum analyze messages", "vacuum analyze inbound_mails", "checkpoint")

    const rows: Array<ReadonlyArray<string>> = []
    const measure = async (phase: string, effects: () => Promise<ReadonlyArray<number>>) => {
      const stops = [repeatWork(others, otherId), repeatWork(own, tenantId)]
      const transactions = await effects()
      const [other = [], same = []] = await Promise.all(stops.map((stop) => stop()))
      const shown = (sorted: ReadonlyArray<number>) =>
        `${quantile(sorted, 0.5).toFixed(1)} / ${quantile(sorted, 0.99).toFixed(0)} / ${sorted.at(-1)?.toFixed(0)}`
      const total = transactions.reduce((sum, each) => sum + each, 0)
      const cells = [total / 1_000, Math.max(...transactions) / 1_000].map((seconds) => seconds.toFixed(2))
      rows.push([phase, String(transactions.length), ...cells, shown(other), shown(same)])
    }
    const timed = async <A>(effect: Effect.Effect<A, never, Ports>) => {
      const startedAt = performance.now()
      const result = await run(effect)
      return { result, millis: performance.now() - startedAt }
    }

    await measure("before", async () => {
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      return [0]
    })
    await measure("the deletion", async () => {
      const { millis } = await timed(
        Effect.gen(function* () {
          const { transact } = yield* Transactor
          const body = Effect.gen(function* () {
            yield* (yield* TenantStore).lock([tenantId])
            yield* (yield* MailboxStore).remove(tenantId, mailboxId)
            yield* (yield* EventStore).expireAgent(tenantId, mailboxId)
          })
          yield* transact(body)
        })
      )
      return [millis]
    })
    await measure("the job event-expiry", async () => {
      const batches: Array<number> = []
      for (;;) {
        const { millis, result } = await timed(Effect.flatMap(EventStore, (store) => store.expire(BATCH)))
        batches.push(millis)
        if (result < BATCH) return batches
      }
    })
    const [left] = await execute(
      url,
      `select count(*)::integer as open from events where agent_id = '${mailboxId}' and status = 'pending'`
    )
    bench.say(
      table(
        [
          "phase",
          "transactions",
          "seconds",
          "longest, s",
          "another tenant, ms (p50 / p99 / max)",
          "the same tenant, ms"
        ],
        rows
      )
    )
    bench.say(`${messages} messages of 5 kB, ${events} pending events, ${String(left?.["open"])} left; fsync on`)
  }
}
