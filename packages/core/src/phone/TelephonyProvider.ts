import { Context, Effect, Option } from "effect"
import type { NumberCountry } from "../catalog/NumberCountry.ts"
import type { ProviderError } from "../kernel/ProviderError.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { CallReport } from "./CallProgress.ts"
import type { Voice } from "./Voice.ts"

export interface AvailableNumber {
  /** In E.164. */
  readonly number: string
  readonly areaCode: string
}

export interface NumberSearch {
  readonly country: NumberCountry
  /** Three digits. */
  readonly areaCode?: string | undefined
  /** The area code near which numbers are searched. An area code that the carrier does not know has no results. */
  readonly near?: string | undefined
  /** The maximum number of results. */
  readonly limit: number
}

/** A number under the service's account at the carrier. */
export interface OwnedNumber {
  readonly providerNumberId: string
  readonly number: string
}

/** A number under the service's account, with its owner. */
export interface FoundNumber extends OwnedNumber {
  /** Whether this deployment bought it, and not another one with the same account. */
  readonly isOurs: boolean
}

/** A call to be placed, with this service's id of it, which the carrier repeats in each report. */
export interface OutboundCall {
  readonly callId: string
  readonly from: string
  readonly to: string
  /** The limit in connected seconds, which the carrier enforces if it can. */
  readonly limitSeconds: number
}

/** A call in the carrier's records. */
export interface ProviderCall {
  readonly providerCallId: string
  /** The state of the call at the carrier. */
  readonly report: CallReport
}

/**
 * The port to a carrier: numbers and calls. Calls are never recorded: no operation requests a recording, and any data
 * that a carrier sends about recordings is discarded.
 *
 * Adapters send each purchase and each call once, and never retry them.
 */
export class TelephonyProvider extends Context.Service<
  TelephonyProvider,
  {
    /** The source of its events and the provider of its errors, for example `twilio`. */
    readonly name: string
    /**
     * Which side ends a call at its limit: `provider` if the carrier enforces the limit that it receives, `service` if
     * only this service does. This service enforces its own deadline in both cases.
     */
    readonly limitsKeptBy: "provider" | "service"
    /** The voices that the carrier can speak with. */
    readonly voices: ReadonlyArray<Voice>
    /** Returns numbers that can be bought now. An empty result is not an error. */
    readonly search: (search: NumberSearch) => Effect.Effect<ReadonlyArray<AvailableNumber>, ProviderError>
    /**
     * Buys exactly this number. Fails with `Rejected` if it is not for sale (any more), and `Unknown` if no answer
     * arrived.
     */
    readonly buy: (number: string) => Effect.Effect<OwnedNumber, ProviderError>
    /**
     * Returns the number under the service's account. This determines the outcome of `buy`: it succeeded if `isOurs`.
     */
    readonly findNumber: (number: string) => Effect.Effect<Option.Option<FoundNumber>, ProviderError>
    /** Releases a number. Succeeds if the account does not have it (any more). */
    readonly release: (providerNumberId: string) => Effect.Effect<void, ProviderError>
    /**
     * Returns all numbers that this deployment bought, page by page from `cursor` on (undefined: from the first page).
     * Numbers of other deployments with the same account are left out.
     */
    readonly listNumbers: (
      cursor: string | undefined
    ) => Effect.Effect<
      { readonly items: ReadonlyArray<OwnedNumber>; readonly nextCursor: string | undefined },
      ProviderError
    >
    /**
     * Dials, and returns the carrier's id of the call. Fails with `Unknown` if no answer arrived: the telephone may
     * ring.
     */
    readonly place: (call: OutboundCall) => Effect.Effect<string, ProviderError>
    /**
     * Returns the calls from one number to another that the carrier made at or after `since`, newest first; at most 50.
     */
    readonly findCalls: (
      from: string,
      to: string,
      since: Timestamp
    ) => Effect.Effect<ReadonlyArray<ProviderCall>, ProviderError>
    /** Returns the carrier's record of a call, or none if the carrier does not know it. */
    readonly findCall: (providerCallId: string) => Effect.Effect<Option.Option<ProviderCall>, ProviderError>
    /** Sets the limit of a call in seconds from its answer. Fails with `Rejected` if the call has ended. */
    readonly changeLimit: (providerCallId: string, limitSeconds: number) => Effect.Effect<void, ProviderError>
    /** Ends a call. Succeeds if the call has already ended. */
    readonly hangUp: (providerCallId: string) => Effect.Effect<void, ProviderError>
  }
>()("@agentos/core/phone/TelephonyProvider") {}
