import {
  type AvailableNumber,
  type CallProgress,
  type FoundNumber,
  type NumberSearch,
  type OutboundCall,
  type OwnedNumber,
  TelephonyProvider,
  Timestamp,
  type Voice
} from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import type { Telephony } from "../Telephony.ts"
import { caller } from "./AdapterError.ts"

type MaybePromise<A> = A | PromiseLike<A>

/** A report of the carrier about a call. Without a time, it is about now. */
export type CarrierReport =
  | { readonly state: "ringing" }
  | { readonly state: "answered"; readonly at?: Date | undefined }
  | {
      readonly state: "ended"
      readonly ending: CallProgress.Ending
      readonly at?: Date | undefined
      /** The connected time that the carrier reports, if it does. A second that has begun counts. */
      readonly seconds?: number | undefined
    }

/** A call in the carrier's records. */
export interface CarrierCall {
  readonly providerCallId: string
  readonly report: CarrierReport
}

/**
 * A carrier of the host: numbers and calls. Methods may return promises, and throw `AdapterError`. Each purchase and each
 * call is sent once, and not retried by the adapter. `agentos.carrier` takes the carrier's reports.
 */
export interface CustomCarrier {
  /** The source of its events; by default `custom`. */
  readonly name?: string | undefined
  /** `provider` if the carrier ends a call at its limit; by default only this service does. */
  readonly limitsKeptBy?: "provider" | "service" | undefined
  /** The voices that it can speak with; by default none can be chosen. */
  readonly voices?: ReadonlyArray<Voice> | undefined
  /** Returns numbers that can be bought now. */
  readonly search: (search: NumberSearch) => MaybePromise<ReadonlyArray<AvailableNumber>>
  /** Buys exactly this number. Throws `Rejected` if it is not for sale. */
  readonly buy: (number: string) => MaybePromise<OwnedNumber>
  /** Returns the number if the account has it, which determines the outcome of `buy`. */
  readonly findNumber: (number: string) => MaybePromise<FoundNumber | null>
  /** Releases a number. Succeeds if the account does not have it. */
  readonly release: (providerNumberId: string) => MaybePromise<void>
  /** Returns the numbers that this deployment bought, page by page. One without a record is logged and kept. */
  readonly listNumbers: (
    cursor: string | undefined
  ) => MaybePromise<{ readonly items: ReadonlyArray<OwnedNumber>; readonly nextCursor?: string | undefined }>
  /** Dials, and returns the carrier's id of the call. */
  readonly place: (call: OutboundCall) => MaybePromise<string>
  /** Returns the calls between two numbers since a moment, newest first; at most 50. */
  readonly findCalls: (from: string, to: string, since: Date) => MaybePromise<ReadonlyArray<CarrierCall>>
  readonly findCall: (providerCallId: string) => MaybePromise<CarrierCall | null>
  /** Sets the limit of a call in seconds from its answer. Throws `Rejected` if it has ended. */
  readonly changeLimit: (providerCallId: string, limitSeconds: number) => MaybePromise<void>
  /** Ends a call. Succeeds if it has already ended. */
  readonly hangUp: (providerCallId: string) => MaybePromise<void>
}

const timestamp = (at: Date | undefined, now: Timestamp.Timestamp): Timestamp.Timestamp =>
  at === undefined || Number.isNaN(at.getTime()) ? now : Timestamp.Timestamp.make(at.getTime())

/** Returns null, as for a duration that is not reported, if the value is not a duration. */
const wholeSeconds = (seconds = Number.NaN): number | null =>
  Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds) : null

/** Returns the report in the form of the core. Its time is now if the carrier states none. */
export const toCallReport = (report: CarrierReport, now: Timestamp.Timestamp): CallProgress.CallReport => {
  switch (report.state) {
    case "ringing":
      return { _tag: "Ringing" }
    case "answered":
      return { _tag: "Answered", at: timestamp(report.at, now) }
    case "ended": {
      const { at, ending, seconds } = report
      return { _tag: "Ended", at: timestamp(at, now), ending, seconds: wholeSeconds(seconds) }
    }
  }
}

const toProviderCall = ({ providerCallId, report }: CarrierCall) =>
  Effect.map(Timestamp.now, (now) => ({ providerCallId, report: toCallReport(report, now) }))

const makeCarrier = (carrier: CustomCarrier) => {
  const { limitsKeptBy = "service", name = "custom", voices = [] } = carrier
  const call = caller("telephony", name, carrier)
  return TelephonyProvider.of({
    name,
    limitsKeptBy,
    voices,
    search: (search) => call("search", "Temporary", search),
    buy: (number) => call("buy", "Unknown", number),
    findNumber: (number) => Effect.map(call("findNumber", "Temporary", number), Option.fromNullishOr),
    release: (id) => call("release", "Temporary", id),
    listNumbers: (cursor) =>
      Effect.map(call("listNumbers", "Temporary", cursor), ({ items, nextCursor }) => ({ items, nextCursor })),
    place: (outbound) => call("place", "Unknown", outbound),
    findCalls: (from, to, since) =>
      Effect.flatMap(call("findCalls", "Temporary", from, to, new Date(since)), Effect.forEach(toProviderCall)),
    findCall: (id) =>
      Effect.flatMap(call("findCall", "Temporary", id), (found) =>
        found === null ? Effect.succeedNone : Effect.asSome(toProviderCall(found))
      ),
    changeLimit: (id, seconds) => call("changeLimit", "Temporary", id, seconds),
    hangUp: (id) => call("hangUp", "Temporary", id)
  })
}

/** Returns the carrier as the port of the core. Its reports come in through `agentos.carrier`. */
export const customCarrier = (carrier: CustomCarrier): Telephony => ({
  layer: () => Layer.sync(TelephonyProvider, () => makeCarrier(carrier)),
  ingress: () => Effect.succeed([])
})
