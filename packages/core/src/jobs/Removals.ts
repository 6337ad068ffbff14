import { Effect } from "effect"
import { MessageStore } from "../email/MessageStore.ts"
import { EventStore } from "../events/EventStore.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { OperationStore } from "../payment/OperationStore.ts"
import { CallStore } from "../phone/CallStore.ts"
import type { OldRows, RetainedData } from "../tenancy/Retention.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"

/** Deletes old rows of each kind of data that a tenant can have a period for. Each call returns how many it deleted. */
export const makeRemovals = Effect.gen(function* () {
  const calls = yield* CallStore
  const events = yield* EventStore
  const messages = yield* MessageStore
  const operations = yield* OperationStore
  const tenants = yield* TenantStore
  const { transact } = yield* Transactor

  /** Deletes the messages of a tenant in one transaction under its lock. */
  const removeMessages = Effect.fnUntraced(function* (old: OldRows) {
    const found = yield* messages.findOld(old)
    const removed = yield* Effect.forEach(
      Map.groupBy(found, ({ tenantId }) => tenantId),
      ([tenantId, ofTenant]) => {
        const messageIds = ofTenant.map(({ messageId }) => messageId)
        return transact(Effect.andThen(tenants.lock([tenantId]), messages.remove(tenantId, messageIds)))
      }
    )
    return removed.reduce((sum, count) => sum + count, 0)
  })

  const removals: Readonly<Record<RetainedData, (old: OldRows) => Effect.Effect<number>>> = {
    messages: removeMessages,
    calls: calls.remove,
    transcripts: calls.removeTurns,
    events: ({ age, limit, ...scope }) => events.remove(age, limit, scope),
    answers: operations.removeAnswers
  }
  return removals
})
