import { Context, Effect, Option } from "effect"
import type { Lookup } from "../kernel/Lookup.ts"
import type { Position } from "../kernel/Page.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { OldRows } from "../tenancy/Retention.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { Call, CallDirection } from "./Call.ts"
import type { Turn } from "./Transcript.ts"

/** A turn that has no index in the call yet. */
export type NewTurn = Omit<Turn, "index">

/** The filter of a list of calls. A call must match every given part. */
export interface CallFilter {
  readonly phoneNumberId?: string | undefined
  readonly direction?: CallDirection | undefined
  /** Inclusive. */
  readonly after?: Timestamp | undefined
  /** Exclusive. */
  readonly before?: Timestamp | undefined
}

/**
 * The declined calls of one caller to one number that are not reported yet. The first one is reported immediately, and
 * those of the minute after it together at its end. So a caller that redials constantly creates one record and one event
 * a minute.
 */
export interface DeclinedCalls {
  readonly tenantId: TenantId
  readonly phoneNumberId: string
  /** A caller, or `FURTHER_CALLERS` for all callers beyond the first ones. */
  readonly caller: string
  /** The number of declined calls since the last report. */
  readonly count: number
  /** The carrier's id of the newest of the calls. */
  readonly providerCallId: string
  readonly declinedAt: Timestamp
  /** The end of the window. */
  readonly dueAt: Timestamp
}

/** The key of a record. */
export type DeclinedKey = Pick<DeclinedCalls, "tenantId" | "phoneNumberId" | "caller">

/**
 * The port that stores calls and their transcripts. Code that changes a call must hold the tenant's lock.
 *
 * Each call belongs to a stored number, is the only call with its providerCallId, and has a `watchAt` until it has
 * ended. Storing anything else is a defect.
 */
export class CallStore extends Context.Service<
  CallStore,
  {
    readonly find: (tenantId: TenantId, callId: string) => Effect.Effect<Lookup<Call>>
    /** Returns a call of any tenant, for reports of a carrier and for jobs. */
    readonly get: (callId: string) => Effect.Effect<Option.Option<Call>>
    readonly findByProvider: (providerCallId: string) => Effect.Effect<Option.Option<Call>>
    /**
     * Stores a call, and returns whether it was not stored before. An inbound call is the same if its providerCallId
     * is.
     */
    readonly create: (call: Call) => Effect.Effect<boolean>
    /** Replaces the call if it belongs to the tenant and has not ended. Returns whether it was replaced. */
    readonly update: (call: Call) => Effect.Effect<boolean>
    /** Returns the calls of a number that have not ended, oldest first. */
    readonly live: (phoneNumberId: string) => Effect.Effect<ReadonlyArray<Call>>
    /** Returns the newest outbound calls of a tenant that were placed at `since` or later, newest first. */
    readonly recent: (tenantId: TenantId, since: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<Call>>
    /** Returns at most `limit` calls of a tenant that come after a position in the list, newest first. */
    readonly list: (
      tenantId: TenantId,
      filter: CallFilter,
      after: Position | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Call>>
    /** Returns the result of `live` for all these numbers from one query, in no defined order. */
    readonly liveEach: (phoneNumberIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Call>>
    /**
     * Extends the limit of a call, once for each operation. Returns the call with its new limit. If the operation has
     * extended it before, returns the call as it is, ended or not. Returns none, and changes nothing, if the call was
     * not answered, has ended or is being ended by this service.
     */
    readonly extend: (callId: string, operationId: string, seconds: number) => Effect.Effect<Option.Option<Call>>
    /** Returns the call that the operation has extended. */
    readonly extended: (operationId: string) => Effect.Effect<Option.Option<Call>>
    /**
     * Revokes the extension by the operation if the call has not ended; the call then becomes due no later than its new
     * deadline. Afterwards the operation counts as one that never extended a call.
     */
    readonly revokeExtension: (operationId: string) => Effect.Effect<void>
    /**
     * Returns up to `limit` calls whose `watchAt` is due, the longest overdue first, and postpones each by `millis`, so
     * that no two servers poll a call at the same time.
     */
    readonly takeWatched: (limit: number, millis: number) => Effect.Effect<ReadonlyArray<Call>>
    /**
     * Postpones a call by `millis` from now if its `watchAt` is still the given one. Returns the new `watchAt`, or null
     * if the call was changed or taken meanwhile.
     */
    readonly postponeWatch: (
      callId: string,
      watchAt: Timestamp | null,
      millis: number
    ) => Effect.Effect<Timestamp | null>
    /** Returns the records of declined calls to a number. */
    readonly declinedOf: (phoneNumberId: string) => Effect.Effect<ReadonlyArray<DeclinedCalls>>
    /** Stores a record, in place of the one with the same key. */
    readonly putDeclined: (record: DeclinedCalls) => Effect.Effect<void>
    readonly forgetDeclined: (key: DeclinedKey) => Effect.Effect<void>
    /** Returns at most `limit` keys of records whose window has ended at `now`, the earliest end first. */
    readonly dueDeclined: (now: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<DeclinedKey>>
    /**
     * Stores the hash of a token that admits one socket, once. It replaces the previous token, which is no longer
     * valid.
     */
    readonly issueRelay: (callId: string, tokenHash: string) => Effect.Effect<void>
    /**
     * Redeems a token and returns its call. The token is not valid afterwards. Returns none for any other token, and if
     * the call has ended.
     */
    readonly redeemRelay: (tokenHash: string) => Effect.Effect<Option.Option<Call>>
    /** Returns the hash of the token that was redeemed last, whose relay has the call; null before the first. */
    readonly redeemedRelay: (callId: string) => Effect.Effect<string | null>
    /**
     * Appends a turn, whatever its time. Turns that are added concurrently each get their own index, without gaps. It
     * is a defect to add to a call that does not exist, and to replace a turn that does not exist.
     */
    readonly addTurn: (callId: string, turn: NewTurn) => Effect.Effect<Turn>
    /** Replaces the text of a turn. An agent's turn grows while it is spoken, and is cut where it was interrupted. */
    readonly setTurnText: (callId: string, index: number, text: string) => Effect.Effect<void>
    /** Returns all turns in order, or the last `limit` of them. */
    readonly turns: (callId: string, limit?: number) => Effect.Effect<ReadonlyArray<Turn>>
    /** Returns at most `limit` turns with an index after `index`, in order. */
    readonly turnsAfter: (callId: string, index: number, limit: number) => Effect.Effect<ReadonlyArray<Turn>>
    /**
     * Deletes up to `limit` calls that ended at least `age` milliseconds ago, with their turns and extensions, those
     * that ended first. Returns how many it deleted.
     */
    readonly remove: (old: OldRows) => Effect.Effect<number>
    /**
     * Deletes the turns of up to `limit` calls that ended at least `age` milliseconds ago, those that ended first.
     * Returns the number of these calls. Takes each call once, also one without turns.
     */
    readonly removeTurns: (old: OldRows) => Effect.Effect<number>
  }
>()("@agentos/core/phone/CallStore") {}
