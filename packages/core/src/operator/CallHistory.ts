import { Effect, Option, Schema } from "effect"
import type { Page } from "../kernel/Page.ts"
import * as PageInput from "../kernel/PageInput.ts"
import { type InvalidRequest, ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { type CallRecord, toCallRecord } from "../phone/CallRecord.ts"
import { Calls } from "../phone/Calls.ts"
import { CallStore } from "../phone/CallStore.ts"
import type { Tenant } from "../tenancy/Tenant.ts"

export const DEFAULT_CALLS_SHOWN = 20
const CALLS_SHOWN_LIMIT = 100

/** Selects a page of the calls of a tenant. */
export const QueryTenantCallsInput = Schema.Struct({
  limit: PageInput.limit({ maximum: CALLS_SHOWN_LIMIT, default: DEFAULT_CALLS_SHOWN }),
  cursor: PageInput.cursor
})
export type QueryTenantCallsInput = typeof QueryTenantCallsInput.Type

/** One moment of a call: of the call itself, or a turn without its text. */
export interface CallMoment {
  /** In ISO 8601. */
  readonly at: string
  readonly event: string
}

/** A call for the operator. Contains nothing that was said. */
export interface CallHistory extends CallRecord {
  readonly tenantId: string
  readonly providerCallId: string | null
  /** Oldest first. */
  readonly timeline: ReadonlyArray<CallMoment>
}

/** Turns of a call that its timeline shows, the last ones. */
const TURNS_SHOWN = 200

/** Returns the calls of a tenant, newest first. */
export const listTenantCalls = Effect.fnUntraced(function* (
  tenant: Tenant,
  { cursor, limit = DEFAULT_CALLS_SHOWN }: QueryTenantCallsInput
): Effect.fn.Return<Page<CallRecord>, ResourceNotFound | ResourceNotOwned | InvalidRequest, Calls> {
  const { list } = yield* Calls
  const { items, nextCursor } = yield* list(tenant, {}, { limit, cursor })
  const now = yield* Timestamp.now
  return { items: items.map((call) => toCallRecord(call, now)), nextCursor }
})

/** Returns a call of any tenant with its moments. */
export const showCall = Effect.fnUntraced(function* (
  callId: string
): Effect.fn.Return<CallHistory, ResourceNotFound, CallStore> {
  const { get, turns } = yield* CallStore
  const found = yield* get(callId)
  if (Option.isNone(found)) return yield* new ResourceNotFound({ kind: "call", id: callId })
  const call = found.value
  const { answeredAt, createdAt, direction, endedAt, endReason, providerCallId, tenantId } = call
  const said = yield* turns(callId, TURNS_SHOWN)
  const moments = [
    { at: createdAt, event: direction === "inbound" ? "announced" : "placed" },
    ...(answeredAt === null ? [] : [{ at: answeredAt, event: "answered" }]),
    ...said.map(({ at, role }) => ({ at, event: `turn of ${role}` })),
    ...(endedAt === null ? [] : [{ at: endedAt, event: `ended: ${endReason}` }])
  ]
  return {
    ...toCallRecord(call, yield* Timestamp.now),
    tenantId,
    providerCallId,
    timeline: moments.toSorted((a, b) => a.at - b.at).map(({ at, event }) => ({ at: Timestamp.toIso(at), event }))
  }
})
