import { EventStore, OperationStore, Timestamp, Transactor } from "@agentos/core"
import { layerPostgres, Postgres } from "@agentos/postgres"
import { startPostgres } from "@agentos/postgres/testing"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { openDatabase } from "../support/ClusterDatabase.ts"
import { type Bench, DURABLE, quantile, table } from "./Bench.ts"
import { appendEvents, makeTenant, newOperation } from "./GrowthDatabase.ts"

const MONTHS = 10
/** How long answers and events are kept. */
const KEPT = 30 * Timestamp.DAY
/** Rows of one statement of the jobs `answer-retention` and `event-retention`. */
const ANSWERS = 50
const EVENTS = 1_000
/** Operations of one statement that fills the database. */
const CHUNK = 500
const TARGET = 1.2

/** A final operation as large as one that sent a mail of 1 KB, with its ledger entries and an acknowledged event. */
const insertFinal = (tenantId: string, from: number, count: number, at: number): ReadonlyArray<string> => {
  const id = (n: string) => `(lpad(to_hex(${at} + ${n}), 12, '0') || '7' || lpad(to_hex(${n}), 19, '0'))::uuid`
  const text = (bytes: number) =>
    `(select string_agg(md5(i::text || random()), '') from generate_series(n, n + ${bytes / 32 - 1}) i)`
  const series = `generate_series(${from}::bigint, ${from + count - 1}) n`
  return [
    `insert into operations (
      operation_id, tenant_id, service_id, endpoint, idempotency_key, fingerprint, request_id, network, asset, payer, nonce,
      amount, proof, terms, input, plan, state, transaction, answer_created, answer_body, answer_slots, receipt, fence,
      created_at, updated_at
    ) select ${id("n")}, '${tenantId}', 'email.message.send', 'POST /api/v1/email/messages', '${at}-' || n,
      md5(n::text) || md5(n::text), gen_random_uuid()::text, 'eip155:196', '0x0a', '0x0b', '0x' || lpad(to_hex(${at} + n), 64, '0'),
      20000, json_build_object('digest', md5(n::text), 'payload', ${text(1_024)})::text, json_build_object('payTo', '0x0c')::text,
      ${text(1_024)}, ${text(256)}, 'fulfilled', '0x' || md5(n::text) || md5(n::text), true, ${text(2_048)}, '[]',
      ${text(1_024)}, 2, ${at} + n, ${at} + n
    from ${series}`,
    `insert into ledger_entries (operation_id, account, network, asset, amount, created_at)
    select ${id("n")}, account, 'eip155:196', '0x0a', 20000, ${at} + n
    from ${series}, unnest(array['received', 'inFlight', 'inFlight', 'fulfilled']) account`,
    `insert into events (
      event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, status, created_at, expires_at
    ) select ${id("n")}, '${tenantId}', 'payment.completed', 'agentos.internal', 'email', 'r', 'a', ${text(512)},
      '${at}-' || n, 'acknowledged', ${at} + n, ${at + KEPT} + n
    from ${series}`
  ]
}

/** The removed rows, and the tables with their indexes. */
const SIZES = `select
  (select sum(pg_column_size(answer_body) + pg_column_size(receipt) + pg_column_size(input) + pg_column_size(plan))
    from operations where answer_body is not null) as answers,
  pg_total_relation_size('events') as events,
  pg_total_relation_size('operations') as operations,
  pg_total_relation_size('ledger_entries') as ledger`

/** The transactions of a paid send: the claim, each move, and the event. */
const send = (tenantId: string) =>
  Effect.gen(function* () {
    const store = yield* OperationStore
    const { transact } = yield* Transactor
    const claimed = yield* newOperation(tenantId)
    yield* transact(store.claim(claimed, Timestamp.MINUTE))
    let current = claimed
    for (const to of ["settling", "settled", "fulfilling", "fulfilled"] as const) {
      const next = to === "fulfilled" ? ({ kind: "none" } as const) : ({ kind: "leased", millis: 60_000 } as const)
      const answer = { created: true, body: "x".repeat(2_048), slots: [] }
      const change = to === "fulfilled" ? { answer, transaction: "0x01" } : {}
      const entries = { to, change, next }
      const moved = yield* transact(store.advance(current, entries))
      current = moved._tag === "Some" ? moved.value : yield* Effect.die(new Error(`no move to ${to}`))
    }
    yield* appendEvents(tenantId, 1)
  })

export const retention: Bench = {
  summary: "what the jobs of retention cost sends, and the size of the database over ten simulated months",
  options: { operations: 200_000, sends: 200 },
  run: async (bench) => {
    const [operations, sends] = [bench.option("operations"), bench.option("sends")]
    const postgres = await startPostgres({ settings: DURABLE })
    bench.atEnd(postgres.stop)
    const open = () => {
      const database = layerPostgres({ url: Redacted.make(postgres.url), applicationName: "bench" })
      const runtime = ManagedRuntime.make(Layer.orDie(Layer.provide(Postgres.layer, database)))
      bench.atEnd(() => runtime.dispose())
      return runtime
    }
    const [server, worker] = [open(), open()]
    const tenantId = await server.runPromise(makeTenant)
    const direct = openDatabase(postgres.url)
    bench.atEnd(direct.close)
    await direct.execute("set statement_timeout = 0")
    const sendOne = async (times: Array<number>) => {
      const startedAt = performance.now()
      await server.runPromise(send(tenantId))
      times.push(performance.now() - startedAt)
    }
    /** Runs both jobs until nothing is due. Returns the number of rows that they changed. */
    const clean = async (cutoff: number) => {
      const age = Date.now() - cutoff
      const remove = Effect.gen(function* () {
        const [{ remove: removeEvents }, { removeAnswers }] = [yield* EventStore, yield* OperationStore]
        let count = 0
        for (let done = EVENTS; done === EVENTS; count += done) done = yield* removeEvents(age, EVENTS)
        for (let done = ANSWERS; done === ANSWERS; count += done) done = yield* removeAnswers({ age, limit: ANSWERS })
        return count
      })
      return worker.runPromise(remove)
    }
    const start = Date.now() - (MONTHS + 2) * KEPT
    const [idle, busy]: [Array<number>, Array<number>] = [[], []]
    const rows: Array<ReadonlyArray<string>> = []
    for (let month = 0; month <= MONTHS; month++) {
      for (let from = 0; from < operations / MONTHS; from += CHUNK) {
        await direct.execute(...insertFinal(tenantId, from, CHUNK, start + month * KEPT))
      }
      await direct.execute("vacuum analyze operations", "vacuum analyze events", "checkpoint")
      if (month > 0) for (let index = 0; index < sends; index++) await sendOne(idle)
      let isCleaning = month > 0
      const cleaning = clean(start + month * KEPT - Timestamp.DAY).finally(() => (isCleaning = false))
      while (isCleaning) await sendOne(busy)
      const changed = await cleaning
      await direct.execute("vacuum operations", "vacuum events")
      const [sizes] = await direct.execute(SIZES)
      const megabytes = ["answers", "events", "operations", "ledger"].map((name) =>
        (Number(sizes![name]) / 1e6).toFixed(1)
      )
      rows.push([String(month), String(changed), ...megabytes])
    }
    bench.say(table(["month", "rows changed", "answers, MB", "events, MB", "operations, MB", "ledger, MB"], rows))
    const sorted = [idle, busy].map((times) => times.toSorted((a, b) => a - b))
    const [still, running] = sorted.map((times) => [0.5, 0.99].map((share) => quantile(times, share)))
    const line = (name: string, [p50, p99]: ReadonlyArray<number>) => [name, p50!.toFixed(2), p99!.toFixed(2)]
    bench.say(table(["sends, ms", "p50", "p99"], [line("idle", still!), line("jobs running", running!)]))
    const ratio = running![1]! / still![1]!
    bench.say(
      `p99 with the jobs is ${ratio.toFixed(2)} of idle; the target is ${TARGET}. ${idle.length} and ${busy.length} sends`
    )
  }
}
