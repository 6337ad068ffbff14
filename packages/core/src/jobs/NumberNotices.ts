import { Effect } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Entitlement from "../phone/Entitlement.ts"
import * as PhoneEvent from "../phone/PhoneEvent.ts"
import type { PhoneNumber } from "../phone/PhoneNumber.ts"
import { PhoneNumberStore } from "../phone/PhoneNumberStore.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { inBatches } from "./Batches.ts"
import type { Job } from "./Job.ts"

/** How many numbers one transaction tells of. */
const BATCH = 100

/** The job that tells tenants 5, 3 and 1 days before a number's end, once each, also of what came due while nothing ran. */
export const make: Effect.Effect<Job, never, PhoneNumberStore | EventStore | TenantStore | Transactor> = Effect.gen(
  function* () {
    const numbers = yield* PhoneNumberStore
    const events = yield* EventStore
    const tenants = yield* TenantStore
    const transactor = yield* Transactor

    /** The number as it is under the lock, with what it is to be told of; nothing of one that is not active any more. */
    const owedTo = Effect.fnUntraced(function* (listed: PhoneNumber, now: Timestamp.Timestamp) {
      const found = yield* numbers.find(listed.tenantId, listed.phoneNumberId)
      if (found._tag !== "Owned" || found.value.state !== "active") return []
      const { due, next } = Entitlement.noticesDue(found.value.expiresAt, found.value.nextNotice, now)
      return [{ number: { ...found.value, nextNotice: next }, due }]
    })

    const tell = (limit: number) =>
      transactor.transact(
        Effect.gen(function* () {
          const now = yield* Timestamp.now
          const listed = yield* numbers.dueForNotice(now, limit)
          yield* tenants.lock(listed.map(({ tenantId }) => tenantId))
          const owed = (yield* Effect.forEach(listed, (number) => owedTo(number, now))).flat()
          yield* Effect.forEach(owed, ({ number }) => numbers.update(number), { discard: true })
          yield* events.append(
            owed.flatMap(({ due, number }) => due.map((notice) => PhoneEvent.expiring(number, notice)))
          )
          return listed.length
        })
      )

    return { name: "number-notices", every: Timestamp.MINUTE, run: inBatches(tell, BATCH) }
  }
)
