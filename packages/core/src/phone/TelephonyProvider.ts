import { Context, Effect, Option } from "effect"
import type { ProviderError } from "../kernel/ProviderError.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { CallReport } from "./CallProgress.ts"
import type { NumberCountry } from "./PhoneNumber.ts"

/** A number that is for sale. */
export interface AvailableNumber {
  /** In E.164. */
  readonly number: string
  readonly areaCode: string
}

export interface NumberSearch {
  readonly country: NumberCountry
  /** Three digits. */
  readonly areaCode?: string | undefined
  /** An area code, whose surroundings are searched; none are found around one that the carrier does not know. */
  readonly near?: string | undefined
  /** At most so many are answered. */
  readonly limit: number
}

/** A number that the carrier has under our account. */
export interface OwnedNumber {
  readonly providerNumberId: string
  readonly number: string
}

/** A number under our account, and who bought it. */
export interface FoundNumber extends OwnedNumber {
  /** Whether this deployment did, and no other of the same account. */
  readonly isOurs: boolean
}

/** A call to be placed, with our own id of it, which the carrier repeats whenever it tells of the call. */
export interface OutboundCall {
  readonly callId: string
  readonly from: string
  readonly to: string
  /** Connected seconds, which the carrier is told to keep where it can. */
  readonly limitSeconds: number
}

/** A call as the carrier has it. */
export interface ProviderCall {
  readonly providerCallId: string
  /** What the carrier says of it now. */
  readonly report: CallReport
}

/**
 * The port to a carrier: numbers and calls. Nothing is ever recorded: no
 * operation asks for it, and nothing that a carrier says of recordings is kept.
 *
 * Buying and placing are made once each: no adapter repeats them by itself.
 */
export class TelephonyProvider extends Context.Service<
  TelephonyProvider,
  {
    /** The source of its events and the provider of its errors: `twilio`. */
    readonly name: string
    /**
     * Who ends a call at its limit: `provider` when the carrier keeps the limit that it is told, `service` when only
     * this service does. The deadline here is kept either way.
     */
    readonly limitsKeptBy: "provider" | "service"
    /** Numbers that can be bought now. None is no error. */
    readonly search: (search: NumberSearch) => Effect.Effect<ReadonlyArray<AvailableNumber>, ProviderError>
    /** Buys exactly this number. `Rejected` when it is not for sale (any more); `Unknown` when no answer came. */
    readonly buy: (number: string) => Effect.Effect<OwnedNumber, ProviderError>
    /** The number under our account, by which the outcome of `buy` is found out: it was bought if it is ours. */
    readonly findNumber: (number: string) => Effect.Effect<Option.Option<FoundNumber>, ProviderError>
    /** Gives a number back. One that the account does not have (any more) is as good as given back. */
    readonly release: (providerNumberId: string) => Effect.Effect<void, ProviderError>
    /**
     * Every number that this deployment bought, a page at a time, from `cursor` on (undefined: from the first). Others of
     * the same account are not among them: what nobody here knows is given back.
     */
    readonly listNumbers: (
      cursor: string | undefined
    ) => Effect.Effect<
      { readonly items: ReadonlyArray<OwnedNumber>; readonly nextCursor: string | undefined },
      ProviderError
    >
    /** Dials. `Unknown` when no answer came: it may ring. Answers the carrier's id of the call. */
    readonly place: (call: OutboundCall) => Effect.Effect<string, ProviderError>
    /** Calls from one number to another that the carrier made at or after `since`, newest first; at most 50. */
    readonly findCalls: (
      from: string,
      to: string,
      since: Timestamp
    ) => Effect.Effect<ReadonlyArray<ProviderCall>, ProviderError>
    /** What the carrier says of a call; none when it does not know it. */
    readonly findCall: (providerCallId: string) => Effect.Effect<Option.Option<ProviderCall>, ProviderError>
    /** Lets a call go on until so many seconds from its answer. `Rejected` when it has ended. */
    readonly changeLimit: (providerCallId: string, limitSeconds: number) => Effect.Effect<void, ProviderError>
    /** Ends a call. One that has ended is as good as ended. */
    readonly hangUp: (providerCallId: string) => Effect.Effect<void, ProviderError>
  }
>()("@agentos/core/phone/TelephonyProvider") {}
