import { Context, Effect, Option } from "effect"
import type { Lookup } from "../kernel/Lookup.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { Call } from "./Call.ts"
import type { Turn } from "./Transcript.ts"

/** Something said, before it has its place in the call. */
export type NewTurn = Omit<Turn, "index">

/**
 * The port that keeps calls and what was said in them. Callers that change a call hold its tenant's lock.
 *
 * Each call is of a stored number, is the only one of its providerCallId, and has a moment at which it is looked at
 * until it has ended: to store anything else is a defect.
 */
export class CallStore extends Context.Service<
  CallStore,
  {
    readonly find: (tenantId: TenantId, callId: string) => Effect.Effect<Lookup<Call>>
    /** A call of whatever tenant: for what comes from a carrier, and for jobs. */
    readonly get: (callId: string) => Effect.Effect<Option.Option<Call>>
    readonly findByProvider: (providerCallId: string) => Effect.Effect<Option.Option<Call>>
    /** Stores a call, once: whether it was not there before. An inbound one is there if its providerCallId is. */
    readonly create: (call: Call) => Effect.Effect<boolean>
    /** Replaces the call, if the tenant has it and it has not ended; whether it did. */
    readonly update: (call: Call) => Effect.Effect<boolean>
    /** The calls of a number that have not ended, oldest first. */
    readonly live: (phoneNumberId: string) => Effect.Effect<ReadonlyArray<Call>>
    /** The newest outbound calls of a tenant that were placed at `since` or later, the newest first. */
    readonly recent: (tenantId: TenantId, since: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<Call>>
    /** `live` of each of these numbers, in one go and in no order. */
    readonly liveEach: (phoneNumberIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Call>>
    /**
     * Grants an operation so many more seconds of a call, once: the call with its new limit, or the call as it is, ended
     * or not, when the operation was granted them before. None, and nothing granted, when the call does not go on: it was
     * not answered, or has ended, or is being ended by this service.
     */
    readonly grant: (callId: string, operationId: string, seconds: number) => Effect.Effect<Option.Option<Call>>
    /** The call of which the operation was granted seconds; none when it was granted none. */
    readonly granted: (operationId: string) => Effect.Effect<Option.Option<Call>>
    /**
     * Takes back what `grant` gave the operation, if the call still goes on; it is then looked at no later than when it
     * has to end now. The operation counts as one that was never granted anything.
     */
    readonly revoke: (operationId: string) => Effect.Effect<void>
    /**
     * Takes calls that are to be looked at, the longest due first, and puts the next look of each off by `millis`, so
     * that no two servers look at one at once.
     */
    readonly takeWatched: (limit: number, millis: number) => Effect.Effect<ReadonlyArray<Call>>
    /** Lets one socket in, once, with this token's hash; the token given before is worth nothing then. */
    readonly issueRelay: (callId: string, tokenHash: string) => Effect.Effect<void>
    /** The call that the token lets in, which is worth nothing from then on; none for any other, or once it has ended. */
    readonly redeemRelay: (tokenHash: string) => Effect.Effect<Option.Option<Call>>
    /**
     * Adds a turn at the end, whatever its moment. Turns that are added at one time each have a place of their own, and
     * none is left out. To add to a call that is not there is a defect, as it is to replace a turn that is not there.
     */
    readonly addTurn: (callId: string, turn: NewTurn) => Effect.Effect<Turn>
    /** Replaces the text of a turn: an agent's grows while it is spoken, and is cut where it was interrupted. */
    readonly setTurnText: (callId: string, index: number, text: string) => Effect.Effect<void>
    /** All turns, in order; the last `limit` of them when that is given. */
    readonly turns: (callId: string, limit?: number) => Effect.Effect<ReadonlyArray<Turn>>
  }
>()("@agentos/core/phone/CallStore") {}
