import { EventStore, OperationStore, Timestamp, Uuid } from "@agentos/core"
import { startPostgres } from "@agentos/postgres/testing"
import { Effect } from "effect"
import { databaseUrl, openDatabase } from "../support/ClusterDatabase.ts"
import { type Bench, DURABLE, quantile, table } from "./Bench.ts"
import { appendEvents, DUE_OPERATIONS, type GrowthDatabase, openGrowthDatabase } from "./GrowthDatabase.ts"

/** Old rows of the small database. */
const FEW = 10_000
/** Rounds that warm up caches and plans before any is measured. */
const WARM_UP = 50
/** The maximum ratio of times on the large and the small database. */
const TARGET = 1.1

const FLIGHT = 64
const OTHER_TYPE = "phone.call.ended"
const PAGE = 51

/** A measured function, and its preparation, which is not measured. */
interface Measure {
  readonly name: string
  readonly prepare?: (database: GrowthDatabase) => Promise<unknown>
  readonly run: (database: GrowthDatabase) => Promise<unknown>
}

const events = <A>(use: (store: typeof EventStore.Service) => Effect.Effect<A>) => Effect.flatMap(EventStore, use)

const pending = { statuses: ["pending"] } as const

/** Fills and acknowledges the window of a session. */
const leaseAndAcknowledge = ({ tenantId }: GrowthDatabase) =>
  Effect.gen(function* () {
    const store = yield* EventStore
    const sessionId = yield* Uuid.next
    const [deliveries = []] = yield* store.leaseEach([{ tenantId, sessionId, limit: FLIGHT }])
    if (deliveries.length !== FLIGHT)
      return yield* Effect.die(new Error(`only ${deliveries.length} events were leased`))
    yield* store.acknowledgeEach(
      deliveries.map(({ deliveryId, event }) => ({ tenantId, eventId: event.eventId, deliveryId }))
    )
  })

/** Acknowledges all events of a type that only they have. */
const acknowledgeAll = ({ tenantId }: GrowthDatabase) =>
  Effect.gen(function* () {
    const before = Timestamp.add(yield* Timestamp.now, Timestamp.MINUTE)
    const count = yield* (yield* EventStore).acknowledgeAll(tenantId, { before, types: [OTHER_TYPE] })
    if (count !== FLIGHT) return yield* Effect.die(new Error(`only ${count} events were acknowledged`))
  })

/** Without a lease, they are due again at once. */
const takeDue = Effect.gen(function* () {
  const taken = yield* (yield* OperationStore).takeDue(DUE_OPERATIONS, 0)
  if (taken.length !== DUE_OPERATIONS) {
    return yield* Effect.die(new Error(`only ${taken.length} operations were due`))
  }
})

const MEASURES: ReadonlyArray<Measure> = [
  { name: "replay of 100", run: ({ run, tenantId }) => run(events((store) => store.replayable(tenantId, 100))) },
  {
    name: "list pending, first page",
    run: ({ run, tenantId }) => run(events((store) => store.list(tenantId, pending, undefined, PAGE)))
  },
  {
    name: "list pending, two pages by cursor",
    run: ({ run, tenantId }) =>
      run(
        Effect.gen(function* () {
          const store = yield* EventStore
          const last = (yield* store.list(tenantId, pending, undefined, PAGE)).at(-1)
          const after = last && { createdAt: last.createdAt, id: last.eventId }
          const next = yield* store.list(tenantId, pending, after, PAGE)
          if (next.length !== PAGE) return yield* Effect.die(new Error(`only ${next.length} events on the second page`))
        })
      )
  },
  {
    name: "list all, by cursor from the middle",
    run: ({ middle: createdAt, run, tenantId }) =>
      run(events((store) => store.list(tenantId, {}, { createdAt, id: "ffffffff-ffff-7fff-bfff-ffffffffffff" }, PAGE)))
  },
  {
    name: "count what waits",
    run: ({ run, tenantId }) => run(events((store) => store.countReplayableEach([tenantId], 1_000)))
  },
  {
    name: `lease and acknowledge ${FLIGHT}`,
    prepare: ({ run, tenantId }) => run(appendEvents(tenantId, FLIGHT)),
    run: (database) => database.run(leaseAndAcknowledge(database))
  },
  {
    name: `ack-all of ${FLIGHT}`,
    prepare: ({ run, tenantId }) => run(appendEvents(tenantId, FLIGHT, OTHER_TYPE)),
    run: (database) => database.run(acknowledgeAll(database))
  },
  { name: "append of one", run: ({ run, tenantId }) => run(appendEvents(tenantId, 1)) },
  { name: "expiry of nothing", run: ({ run }) => run(events((store) => store.expire(1_000))) },
  {
    name: "retention of nothing",
    run: ({ run }) => run(events((store) => store.remove(365 * Timestamp.DAY, 1_000)))
  },
  { name: `take ${DUE_OPERATIONS} due operations`, run: ({ run }) => run(takeDue) }
]

/** Sorted milliseconds of a measure on each database. */
type Times = ReadonlyArray<ReadonlyArray<number>>

/** Measures everything on each database in turn, so that other load on the machine affects all equally. */
const measureAll = async (databases: ReadonlyArray<GrowthDatabase>, rounds: number): Promise<ReadonlyArray<Times>> => {
  const times = MEASURES.map(() => databases.map((): Array<number> => []))
  for (let round = 0; round < WARM_UP + rounds; round++) {
    for (const [index, { prepare, run }] of MEASURES.entries()) {
      for (let turn = 0; turn < databases.length; turn++) {
        const which = (round + turn) % databases.length
        const database = databases[which]!
        await prepare?.(database)
        const startedAt = performance.now()
        await run(database)
        if (round >= WARM_UP) times[index]![which]!.push(performance.now() - startedAt)
      }
    }
  }
  return times.map((each) => each.map((millis) => millis.toSorted((a, b) => a - b)))
}

export const growth: Bench = {
  summary:
    "replay, list, lease, acknowledge, and take due operations: with few and with many rows of the past behind them",
  options: { old: 10_000_000, final: 1_000_000, rounds: 500 },
  run: async (bench) => {
    const [old, final, rounds] = [bench.option("old"), bench.option("final"), bench.option("rounds")]
    const postgres = await startPostgres({ settings: { ...DURABLE, shared_buffers: "4GB", max_wal_size: "4GB" } })
    bench.atEnd(postgres.stop)
    const open = async (name: string, growth: { readonly events: number; readonly operations: number }) => {
      const server = openDatabase(postgres.url)
      await server.execute(`create database ${name}`)
      await server.close()
      const database = await openGrowthDatabase(databaseUrl(postgres.url, name), growth, bench.say)
      bench.atEnd(database.close)
      return database
    }
    const startedAt = performance.now()
    const databases = [
      await open("little", { events: FEW, operations: FEW }),
      await open("much", { events: old, operations: final })
    ]
    bench.say(`filled in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`)

    const slow: Array<string> = []
    const rows: Array<ReadonlyArray<string>> = []
    const times = await measureAll(databases, rounds)
    for (const [index, each] of MEASURES.entries()) {
      const [little = [], much = []] = times[index]!
      const ratio = quantile(much, 0.5) / quantile(little, 0.5)
      if (ratio > TARGET) slow.push(each.name)
      const millis = [little, much].flatMap((times) => [0.5, 0.99].map((share) => quantile(times, share).toFixed(2)))
      rows.push([each.name, ...millis, ratio.toFixed(2), (quantile(much, 0.99) / quantile(little, 0.99)).toFixed(2)])
    }
    bench.say(
      table(["milliseconds", `p50, ${FEW} old`, "p99", `p50, ${old} old`, "p99", "ratio of p50", "ratio of p99"], rows)
    )
    bench.say(
      `${old} acknowledged events, half of them of the tenant that is measured, and ${final} final operations against ` +
        `${FEW} of each; ${rounds} rounds in turns; fsync on`
    )
    bench.say(slow.length === 0 ? `all within ${TARGET}` : `more than ${TARGET} times as slow: ${slow.join(", ")}`)
  }
}
