import { type AgentSession, type TenantId, Timestamp, type Transactor, type WakeUp } from "@agentos/core"
import { Context, Effect, Exit, Layer, Semaphore } from "effect"
import { UndoLog } from "./Table.ts"
import { makeTables, type Tables } from "./Tables.ts"

interface OpenTransaction {
  readonly database: UndoLog
  open: boolean
}

/** The open transactions of this fiber. A fiber that outlives a transaction finds it closed, and is in none. */
const OpenTransactions = Context.Reference<ReadonlyArray<OpenTransaction>>("@agentos/memory/OpenTransactions", {
  defaultValue: () => []
})

/**
 * The shared state of all stores in memory: the tables, one transaction at a time, and the listeners to wake.
 *
 * Transactions run one after the other, in the order in which they were requested. Each statement outside a
 * transaction is a transaction of its own, so that uncommitted changes are never visible.
 */
export class MemoryDatabase extends Context.Service<
  MemoryDatabase,
  {
    readonly tables: Tables
    readonly transact: Transactor["Service"]["transact"]
    /**
     * Runs a statement on the tables, in the transaction of the fiber or in one of its own. `now` is the
     * clock's time.
     */
    readonly run: <A>(statement: (now: Timestamp.Timestamp) => A) => Effect.Effect<A>
    /** Wakes the tenant's sessions once the transaction commits. Must be called in a statement. */
    readonly wake: (tenantId: TenantId) => void
    readonly listeners: Set<(wakeUp: WakeUp) => void>
    /** The voice sessions, and the listeners for messages of each server: in no transaction. */
    readonly agentSessions: Map<string, { readonly session: AgentSession; readonly expiresAt: Timestamp.Timestamp }>
    readonly servers: Map<string, (body: string) => void>
  }
>()("@agentos/memory/MemoryDatabase") {
  static readonly layer = Layer.effect(
    MemoryDatabase,
    Effect.gen(function* () {
      const undoLog = new UndoLog()
      const turns = yield* Semaphore.make(1)
      const listeners = new Set<(wakeUp: WakeUp) => void>()
      let woken = new Set<TenantId>()

      const begin = Effect.sync((): OpenTransaction => ({ database: undoLog, open: true }))

      const end = (transaction: OpenTransaction, exit: Exit.Exit<unknown, unknown>) =>
        Effect.sync(() => {
          transaction.open = false
          const toWake = woken
          woken = new Set()
          if (Exit.isFailure(exit)) return undoLog.rollback()
          undoLog.commit()
          if (toWake.size > 0) for (const wakeUp of listeners) wakeUp([...toWake])
        })

      const transact: Transactor["Service"]["transact"] = (effect) =>
        Effect.flatMap(OpenTransactions, (transactions) => {
          if (transactions.some(({ database, open }) => database === undoLog && open)) return effect
          const inside = (transaction: OpenTransaction) =>
            Effect.provideService(effect, OpenTransactions, [...transactions, transaction])
          return turns.withPermit(Effect.acquireUseRelease(begin, inside, end))
        })

      return MemoryDatabase.of({
        tables: makeTables(undoLog),
        transact,
        run: (statement) => transact(Effect.map(Timestamp.now, statement)),
        wake: (tenantId) => void woken.add(tenantId),
        listeners,
        agentSessions: new Map(),
        servers: new Map()
      })
    })
  )
}
