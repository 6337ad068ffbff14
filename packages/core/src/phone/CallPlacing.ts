import { Duration, Effect, Option, Schedule, Schema } from "effect"
import type { ServiceId } from "../catalog/ServiceId.ts"
import { ProviderError } from "../kernel/ProviderError.ts"
import { invalid } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { countRefusal, QuotaExceeded } from "../limits/Refusals.ts"
import * as Uuid from "../kernel/Uuid.ts"
import { Transactor } from "../kernel/Transactor.ts"
import type { OperationContext, PaidService } from "../payment/PaidService.ts"
import { isSuspended, type Tenant, type TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import type { Call } from "./Call.ts"
import { toCallRecord } from "./CallRecord.ts"
import { isPlaceholderNumber } from "./CallerId.ts"
import * as CallProgress from "./CallProgress.ts"
import { CallPolicy, RECENT_LIMIT, VELOCITY_WINDOW, velocityRefusal } from "./CallPolicy.ts"
import { CallReports } from "./Calls.ts"
import { CallStore } from "./CallStore.ts"
import { NumberingPlan, type NumberKind } from "./NumberingPlan.ts"
import { remainingNumber, requireAttended, usableNumber } from "./PhoneChecks.ts"
import { PlaceCallInput } from "./PhoneInput.ts"
import { E164 } from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"

/** The longest time between the claim and the dialing, also when the client retries: a late call is worse than none. */
const DIAL_WITHIN = Timestamp.MINUTE
/** How long after dialing a carrier may take to list a call that it has made. */
const LISTED_WITHIN = 30 * Timestamp.SECOND
/** How long the request itself searches for a call after the carrier's answer was lost. */
const FIND_WITHIN = Duration.seconds(8)
const FIND_EVERY = Duration.seconds(1)

const Plan = Schema.Struct({
  callId: Uuid.Uuid,
  agentId: Uuid.Uuid,
  from: E164,
  greeting: Schema.NullOr(Schema.String)
})
type Plan = typeof Plan.Type

type Placing = PaidService<PlaceCallInput, Plan, string>

const REFUSALS: Readonly<Record<Exclude<NumberKind, "callable">, string>> = {
  emergency: "is an emergency number. Call it from a telephone instead",
  premium: "is a premium-rate number, which this service does not call",
  uncallable: "is not a callable number"
}

/**
 * Places an outbound call of at most `limitSeconds` connected seconds.
 *
 * The call is stored before it is dialed, and dialed once. A retry that finds it stored only asks the carrier for the
 * outcome, by both numbers and the time. If the call was certainly not made, the payment is refunded.
 */
const makePlacing = (serviceId: ServiceId, limitSeconds: number) =>
  Effect.gen(function* () {
    const calls = yield* CallStore
    const numbers = yield* PhoneNumberStore
    const reports = yield* CallReports
    const plan = yield* NumberingPlan
    const provider = yield* TelephonyProvider
    const tenants = yield* TenantStore
    const transactor = yield* Transactor
    const policy = yield* CallPolicy

    const checkCountry = Effect.fnUntraced(function* (toNumber: string) {
      const country = plan.countryOf(toNumber)
      if (country !== undefined && policy.countries.has(country)) return
      yield* countRefusal("call_country")
      return yield* invalid(
        "toNumber",
        `is ${country === undefined ? "not a number of any country" : `in ${country}`}. This service calls ${[...policy.countries].join(", ")} only`
      )
    })

    /** Fails if the tenant has placed too many calls recently. */
    const requireVelocity = Effect.fnUntraced(function* (
      tenantId: TenantId,
      call: Pick<Call, "phoneNumberId" | "toNumber">
    ) {
      const now = yield* Timestamp.now
      const since = Timestamp.Timestamp.make(Math.max(0, now - VELOCITY_WINDOW))
      const refusal = velocityRefusal(policy, yield* calls.recent(tenantId, since, RECENT_LIMIT), call, now)
      if (refusal === undefined) return
      const { message, quota, until } = refusal
      yield* countRefusal(quota)
      return yield* new QuotaExceeded({ quota, message, retryAfterSeconds: Timestamp.secondsUntil(until, now) })
    })

    const usable = (tenant: Tenant | null, input: PlaceCallInput) =>
      Effect.gen(function* () {
        if (isPlaceholderNumber(input.toNumber)) {
          return yield* invalid("toNumber", "stands for a caller who withheld the number. It can't be called back")
        }
        const kind = plan.kindOf(input.toNumber)
        if (kind !== "callable") return yield* invalid("toNumber", REFUSALS[kind])
        yield* checkCountry(input.toNumber)
        const number = yield* usableNumber(numbers, tenant, input.phoneNumberId, limitSeconds)
        if (number.number === input.toNumber) {
          return yield* invalid("toNumber", "is the calling number itself. Choose another one")
        }
        yield* requireVelocity(number.tenantId, input)
        return number
      })

    const rejected = (message: string) => new ProviderError({ provider: provider.name, reason: "Rejected", message })
    const notPlaced = (why: string) => rejected(`The call was not placed: ${why}`)

    /**
     * Ends a call that was never made, so that it is no longer polled. Does not end a call that the carrier has
     * reported.
     */
    const endUnplaced = (callId: string) => reports.change(callId, failedIfUnknown)

    const outcomeUnknown = () =>
      new ProviderError({
        provider: provider.name,
        reason: "Unknown",
        message: "The carrier has not reported yet whether it made the call."
      })

    /**
     * Whether another call that is being dialed has the same numbers: the carrier's list does not tell the two apart.
     */
    const hasSimilarCall = (call: Call) =>
      Effect.zipWith(calls.live(call.phoneNumberId), Timestamp.now, (live, now) =>
        live.some(
          ({ callId, createdAt, providerCallId, toNumber }) =>
            callId !== call.callId &&
            toNumber === call.toNumber &&
            providerCallId === null &&
            now < Timestamp.add(createdAt, LISTED_WITHIN)
        )
      )

    /**
     * Returns the carrier's id of this call: as the carrier has reported it since, or that of a call between the same
     * numbers, made since this call was dialed, that belongs to no other stored call.
     */
    const find = Effect.fnUntraced(function* (dialed: Call) {
      const { callId, createdAt, fromNumber, toNumber } = dialed
      const current = Option.getOrElse(yield* calls.get(callId), () => dialed)
      if (current.providerCallId !== null) return current.providerCallId
      const askedAt = yield* Timestamp.now
      const found = yield* provider.findCalls(fromNumber, toNumber, createdAt)
      // Checked after the carrier's answer: any call in that answer was stored here before it was dialed.
      if (found.length > 0 && (yield* hasSimilarCall(dialed))) return yield* outcomeUnknown()
      for (const { providerCallId } of found.toReversed()) {
        const known = yield* reports.identify(callId, providerCallId)
        // The id does not match if it belongs to another call, or if this call was ended before.
        if (Option.exists(known, (call) => call.providerCallId === providerCallId)) return providerCallId
      }
      if (askedAt < Timestamp.add(createdAt, LISTED_WITHIN)) return yield* outcomeUnknown()
      const reported = Option.flatMapNullishOr(yield* endUnplaced(callId), (call) => call.providerCallId)
      return yield* Option.isSome(reported)
        ? Effect.succeed(reported.value)
        : notPlaced("the carrier has no record of it.")
    })

    /**
     * Stores the call, and returns whether it was not stored before. Runs under the tenant's lock: a concurrent release
     * of the number either finds this call and ends it, or comes first, and then the call is not made.
     */
    const begin = ({ tenant }: OperationContext, call: Call) =>
      transactor
        .transact(
          Effect.gen(function* () {
            const [current] = yield* tenants.lock([tenant.tenantId])
            yield* remainingNumber(numbers, tenant, call.phoneNumberId)
            if (yield* isSuspended(current)) return yield* notPlaced("the tenant is suspended.")
            // Concurrent requests were checked before their calls were stored, so the limit is checked again.
            yield* Effect.catch(requireVelocity(tenant.tenantId, call), ({ message }) => notPlaced(message))
            return yield* calls.create(call)
          })
        )
        .pipe(Effect.catchTag("ResourceGone", ({ message }) => rejected(message)))

    const dial = (call: Call) =>
      provider.place({ callId: call.callId, from: call.fromNumber, to: call.toNumber, limitSeconds }).pipe(
        Effect.tap((providerCallId) => reports.identify(call.callId, providerCallId)),
        Effect.catchTag("ProviderError", (error) =>
          error.reason === "Unknown"
            ? Effect.retry(find(call), {
                while: ({ reason }) => reason !== "Rejected",
                schedule: Schedule.upTo(Schedule.spaced(FIND_EVERY), { duration: FIND_WITHIN })
              })
            : // A call is not dialed later, so a temporary failure is final too.
              Effect.andThen(endUnplaced(call.callId), notPlaced(error.message))
        )
      )

    const service: Placing = {
      serviceId,
      input: PlaceCallInput,
      plan: Plan,
      retryFor: Timestamp.HOUR,
      check: (tenant, input) => Effect.asVoid(usable(tenant, input)),
      prepare: Effect.fnUntraced(function* ({ tenant }, input) {
        const number = yield* usable(tenant, input)
        return {
          callId: yield* Uuid.next,
          agentId: number.agentId,
          from: number.number,
          greeting: input.initialGreeting || number.beginMessage
        }
      }),
      // A call that was made although its outcome could not be determined must not continue unpaid. If its id at the
      // carrier is known, the carrier is asked to end it; otherwise it ends here, and the carrier is told to hang up if
      // it is answered.
      abandon: (_context, { callId }) =>
        Effect.asVoid(
          reports.change(callId, (call, now) =>
            CallProgress.requestHangUp(failedIfUnknown(call, now), "time_limit", now)
          )
        ),
      revalidate: ({ tenant }, _plan, { phoneNumberId }) =>
        Effect.asVoid(remainingNumber(numbers, tenant, phoneNumberId)),
      perform: Effect.fnUntraced(function* (context, planned, input) {
        const before = yield* calls.get(planned.callId)
        if (Option.isSome(before)) {
          const { providerCallId } = before.value
          return providerCallId === null ? yield* find(before.value) : providerCallId
        }
        const now = yield* Timestamp.now
        if (now > Timestamp.add(context.createdAt, DIAL_WITHIN))
          return yield* notPlaced("its request had already ended.")
        yield* requireAttended(context, provider.name, "The call")
        const call = newCall(context, planned, input, limitSeconds, now)
        return (yield* begin(context, call)) ? yield* dial(call) : yield* find(call)
      }),
      record: Effect.fnUntraced(function* (_context, { callId }) {
        const call = Option.getOrThrow(yield* calls.get(callId))
        return { created: true, data: { call: toCallRecord(call, yield* Timestamp.now) } }
      })
    }
    return service
  })

/** Returns the call as failed with 0 s, unless its id at the carrier is known. */
const failedIfUnknown = (call: Call, at: Timestamp.Timestamp): Call =>
  call.providerCallId === null ? CallProgress.apply(call, { _tag: "Ended", at, ending: "failed", seconds: 0 }) : call

const newCall = (
  { tenant }: OperationContext,
  { agentId, callId, from, greeting }: Plan,
  { phoneNumberId, toNumber }: PlaceCallInput,
  authorizedSeconds: number,
  createdAt: Timestamp.Timestamp
): Call => ({
  callId,
  tenantId: tenant.tenantId,
  phoneNumberId,
  agentId,
  direction: "outbound",
  fromNumber: from,
  toNumber,
  state: "queued",
  providerCallId: null,
  greeting,
  authorizedSeconds,
  extendedSeconds: 0,
  hangUpReason: null,
  answeredBy: null,
  endReason: null,
  connectedSeconds: 0,
  watchAt: CallProgress.firstWatch(createdAt),
  createdAt,
  answeredAt: null,
  endedAt: null
})

/** Places a call of at most one minute. */
export const oneMinuteCall = makePlacing("phone.call.outbound.1m", 60)

/** Places a call of at most five minutes. */
export const fiveMinuteCall = makePlacing("phone.call.outbound.5m", 300)
