import { InboundMailStore, Timestamp, type WaitingMail } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Array, Effect } from "effect"
import { StoreClock } from "../StoreClock.ts"
import * as Sample from "./MessageSample.ts"

/** Duration of a lease in milliseconds. */
export const LEASE = 60_000

/** Completes all mails that other tests have left in the queue, which all tenants share. */
export const emptied = Effect.gen(function* () {
  const store = yield* InboundMailStore
  const clock = yield* StoreClock
  yield* clock.advance(Timestamp.DAY)
  for (const _ of Array.range(1, 20)) {
    const mails = yield* store.lease(1_000, LEASE)
    if (mails.length === 0) return store
    yield* store.complete(mails)
  }
  return assert.fail("the queue does not become empty")
})

export const ids = (mails: ReadonlyArray<Pick<WaitingMail, "inboundMailId">>) => mails.map((mail) => mail.inboundMailId)

/** Adds `count` mails, received one second apart. */
export const queued = Effect.fnUntraced(function* (count: number) {
  const clock = yield* StoreClock
  const now = yield* clock.now
  return yield* Effect.forEach(Array.range(1, count), (n) =>
    Sample.addedMail({ receivedAt: Timestamp.add(now, n * 1_000) })
  )
})
