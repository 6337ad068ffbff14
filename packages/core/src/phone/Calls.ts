import { Context, Effect, Layer, Option, Schema } from "effect"
import { EventStore } from "../events/EventStore.ts"
import * as Cursor from "../kernel/Cursor.ts"
import type { Page, PageRequest } from "../kernel/Page.ts"
import { invalid, type InvalidRequest, type ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import type { Call } from "./Call.ts"
import { consumeAllowance } from "./CallLimits.ts"
import * as CallProgress from "./CallProgress.ts"
import { type CallFilter, CallStore } from "./CallStore.ts"
import { ownedCall, ownedNumber } from "./PhoneChecks.ts"
import * as PhoneEvent from "./PhoneEvent.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { TelephonyProvider } from "./TelephonyProvider.ts"
import { type Turn, TURNS_MAX } from "./Transcript.ts"

export const DEFAULT_CALL_LIMIT = 50

/** The read access of a tenant to its calls. All of it is free. */
export class Calls extends Context.Service<
  Calls,
  {
    readonly get: (tenant: Tenant, callId: string) => Effect.Effect<Call, ResourceNotFound | ResourceNotOwned>
    /** Returns a page of calls, newest first. */
    readonly list: (
      tenant: Tenant,
      filter: CallFilter,
      page: PageRequest
    ) => Effect.Effect<Page<Call>, ResourceNotFound | ResourceNotOwned | InvalidRequest>
    /** Returns the call and a page of its transcript so far, in order; all of it by default. */
    readonly transcript: (
      tenant: Tenant,
      callId: string,
      page?: PageRequest
    ) => Effect.Effect<
      { readonly call: Call; readonly turns: Page<Turn> },
      ResourceNotFound | ResourceNotOwned | InvalidRequest
    >
  }
>()("@agentos/core/phone/Calls") {
  static readonly layer = Layer.effect(
    Calls,
    Effect.gen(function* () {
      const calls = yield* CallStore
      const numbers = yield* PhoneNumberStore
      const readPage = yield* Cursor.reader
      return Calls.of({
        get: (tenant, callId) => ownedCall(calls, tenant, callId),
        list: Effect.fnUntraced(function* (tenant, given, { cursor, limit = DEFAULT_CALL_LIMIT }) {
          const { after, before, direction, phoneNumberId } = given
          if (after !== undefined && before !== undefined && after >= before) {
            return yield* invalid("before", "must be later than after")
          }
          if (phoneNumberId !== undefined) yield* ownedNumber(numbers, tenant, phoneNumberId)
          const { tenantId } = tenant
          // Its order is part of the scope.
          const filter = { phoneNumberId, direction, after, before }
          return yield* readPage(
            { tenantId, list: "calls", filter },
            { cursor, limit },
            (position, count) => calls.list(tenantId, filter, position, count),
            ({ callId, createdAt }) => ({ createdAt, id: callId })
          )
        }),
        transcript: Effect.fnUntraced(function* (tenant, callId, { cursor, limit = TURNS_MAX } = {}) {
          const call = yield* ownedCall(calls, tenant, callId)
          // The position of a turn is its index.
          const turns = yield* readPage(
            { tenantId: tenant.tenantId, list: "turns", filter: callId },
            { cursor, limit },
            (after, count) => calls.turnsAfter(callId, after?.createdAt ?? -1, count),
            ({ index }) => ({ createdAt: index, id: callId })
          )
          return { call, turns }
        })
      })
    })
  )
}

const isId = Schema.is(Uuid.Uuid)

/** Applies reports and decisions to stored calls, and appends the events that follow from them. */
export class CallReports extends Context.Service<
  CallReports,
  {
    /**
     * Returns the call that has both ids. A call that does not have a carrier id yet, because the response to dialing
     * has not arrived, gets this one.
     */
    readonly find: (callId: string, providerCallId: string) => Effect.Effect<Option.Option<Call>>
    /** Returns the call with this carrier id. */
    readonly findByProvider: (providerCallId: string) => Effect.Effect<Option.Option<Call>>
    /**
     * Applies a report of the carrier to a call. Reports may repeat and arrive in any order. Returns the resulting
     * call, or none if there is no such call.
     */
    readonly apply: (callId: string, report: CallProgress.CallReport) => Effect.Effect<Option.Option<Call>>
    /**
     * Stores the carrier's id of a call, unless the call has one or another call has this one. Returns the resulting
     * call.
     */
    readonly identify: (callId: string, providerCallId: string) => Effect.Effect<Option.Option<Call>>
    /** Changes a call that has not ended, under its tenant's lock. Returns the resulting call. */
    readonly change: (
      callId: string,
      change: (call: Call, now: Timestamp.Timestamp) => Call
    ) => Effect.Effect<Option.Option<Call>>
  }
>()("@agentos/core/phone/CallReports") {
  static readonly layer = Layer.effect(
    CallReports,
    Effect.gen(function* () {
      const calls = yield* CallStore
      const numbers = yield* PhoneNumberStore
      const tenants = yield* TenantStore
      const events = yield* EventStore
      const transactor = yield* Transactor
      const { name: source } = yield* TelephonyProvider

      const decideOn = Effect.fnUntraced(function* (
        callId: string,
        decide: (call: Call, now: Timestamp.Timestamp) => Effect.Effect<Call>
      ) {
        const known = yield* calls.get(callId)
        if (Option.isNone(known)) return known
        return yield* transactor.transact(
          Effect.gen(function* () {
            yield* tenants.lock([known.value.tenantId])
            const current = yield* calls.get(callId)
            if (Option.isNone(current) || current.value.state === "ended") return current
            const now = yield* Timestamp.now
            const before = current.value
            const after = yield* decide(before, now)
            if (after === before) return current
            yield* calls.update(after)
            const isAnswer = before.answeredAt === null && after.answeredAt !== null
            const isEnd = after.state === "ended"
            if (isAnswer || isEnd) yield* consumeAllowance(calls, numbers, after, now)
            yield* events.append([
              ...(isAnswer ? [PhoneEvent.callStarted(after, source)] : []),
              ...(isEnd ? [PhoneEvent.callEnded(after, source)] : [])
            ])
            return Option.some(after)
          })
        )
      })

      const change = (callId: string, decide: (call: Call, now: Timestamp.Timestamp) => Call) =>
        decideOn(callId, (call, now) => Effect.succeed(decide(call, now)))

      // All calls between the same two numbers belong to one tenant, so its lock prevents two calls from storing one
      // id.
      const identify = (callId: string, providerCallId: string) =>
        decideOn(callId, (call) =>
          call.providerCallId !== null
            ? Effect.succeed(call)
            : Effect.map(calls.findByProvider(providerCallId), (known) =>
                Option.isNone(known) ? { ...call, providerCallId } : call
              )
        )

      const find = Effect.fnUntraced(function* (callId: string, providerCallId: string) {
        if (!isId(callId)) return Option.none<Call>()
        const stored = yield* calls.get(callId)
        const isUnidentified = Option.isSome(stored) && stored.value.providerCallId === null
        const call = isUnidentified ? yield* identify(callId, providerCallId) : stored
        return Option.filter(call, (known) => known.providerCallId === null || known.providerCallId === providerCallId)
      })

      return CallReports.of({
        find,
        findByProvider: calls.findByProvider,
        identify,
        apply: (callId, report) => change(callId, (call) => CallProgress.apply(call, report)),
        change
      })
    })
  )
}
