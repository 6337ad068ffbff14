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

    /** The number as it is under the lock, if its notice is still due. */
    const still = Effect.fnUntraced(function* (due: PhoneNumber, now: Timestamp.Timestamp) {
      const found = yield* numbers.find(due.tenantId, due.phoneNumberId)
      if (found._tag !== "Owned") return []
      const { value: number } = found
      const { nextNotice } = number
      return number.state === "active" && nextNotice !== null && nextNotice.at <= now ? [{ number, nextNotice }] : []
    })

    const tell = (limit: number) =>
      transactor.transact(
        Effect.gen(function* () {
          const now = yield* Timestamp.now
          const due = yield* numbers.dueForNotice(now, limit)
          yield* tenants.lock(due.map(({ tenantId }) => tenantId))
          const owed = (yield* Effect.forEach(due, (number) => still(number, now))).flat()
          yield* Effect.forEach(owed, ({ nextNotice, number }) =>
            numbers.update({ ...number, nextNotice: Entitlement.noticeAfter(number.expiresAt, nextNotice) })
          )
          yield* events.append(owed.map(({ nextNotice, number }) => PhoneEvent.expiring(number, nextNotice)))
          return due.length
        })
      )

    return { name: "number-notices", every: Timestamp.MINUTE, run: inBatches(tell, BATCH) }
  }
)
