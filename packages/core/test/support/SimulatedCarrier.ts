import {
  AgentCallback,
  WebhookClient,
  type AvailableNumber,
  type CallProgress,
  NumberingPlan,
  type NumberKind,
  type OutboundCall,
  type OwnedNumber,
  ProviderError,
  TelephonyProvider,
  Timestamp
} from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import * as SimulatedAgent from "./SimulatedAgent.ts"

/**
 * The outcome of a request to the carrier: success; a failure with no effect; or success with an answer that is lost or
 * arrives two seconds later.
 */
export type CarrierOutcome = "do" | ProviderError["reason"] | "done, answer lost" | "done, answered late"

type CarrierMethod = "search" | "buy" | "release" | "listNumbers" | "place" | "findCalls" | "changeLimit" | "hangUp"

export interface SimulatedCall extends OutboundCall {
  readonly providerCallId: string
  readonly placedAt: Timestamp.Timestamp
  report: CallProgress.CallReport
}

/** Numbers that must not be called. */
const KINDS: ReadonlyMap<string, NumberKind> = new Map([
  ["+1911", "emergency"],
  ["+19005550100", "premium"],
  ["+15550000000", "uncallable"]
])
/** The countries of numbers. Other numbers with +1 are in the US. */
const COUNTRIES: ReadonlyMap<string, string> = new Map([
  ["+24762889", "AC"],
  ["+18765230199", "JM"],
  ["+442079460958", "GB"],
  ["+16045550123", "CA"]
])

/** A carrier in memory that the test controls: numbers for sale, and calls that the test answers and ends. */
export const make = () => {
  const inventory: Record<"US" | "CA", Array<AvailableNumber>> = {
    US: ["0100", "0101", "0102"].map((line) => ({ number: `+1415555${line}`, areaCode: "415" })),
    CA: [{ number: "+16045550100", areaCode: "604" }]
  }
  const owned: Array<OwnedNumber> = []
  /** Numbers that another deployment of the same account bought after they were found for sale. */
  const others: Array<OwnedNumber> = []
  const calls: Array<SimulatedCall> = []
  const limits: Array<readonly [string, number]> = []
  const script: Partial<Record<CarrierMethod, Array<CarrierOutcome>>> = {}
  const log: Array<string> = []
  const agent = SimulatedAgent.make()
  let ids = 0

  const failure = (reason: ProviderError["reason"]) =>
    new ProviderError({ provider: "scripted", reason, message: `the carrier says ${reason}` })

  /** Runs a request with the next outcome of the script. */
  const act = <A>(operation: CarrierMethod, about: string, work: Effect.Effect<A, ProviderError>) =>
    Effect.gen(function* () {
      log.push(`${operation} ${about}`)
      const outcome = script[operation]?.shift() ?? "do"
      if (outcome !== "do" && outcome !== "done, answer lost" && outcome !== "done, answered late")
        return yield* failure(outcome)
      const done = yield* work
      if (outcome === "done, answered late") yield* Effect.sleep("2 seconds")
      return outcome === "done, answer lost" ? yield* failure("Unknown") : done
    })

  const provider = TelephonyProvider.of({
    name: "scripted",
    limitsKeptBy: "provider",
    voices: [{ voice: "en-US-Chirp3-HD-Kore", language: "en-US", vendor: "Google" }],
    search: ({ areaCode, country, limit, near }) =>
      act(
        "search",
        `${country} ${areaCode ?? near ?? "anywhere"}`,
        Effect.sync(() =>
          inventory[country]
            .filter((one) => areaCode === undefined || one.areaCode === areaCode)
            // In this simulation, nearby area codes have the same first two digits.
            .filter((one) => near === undefined || one.areaCode.slice(0, 2) === near.slice(0, 2))
            .filter(({ number }) => !owned.some((one) => one.number === number))
            .slice(0, limit)
        )
      ),
    buy: (number) =>
      act(
        "buy",
        number,
        Effect.suspend(() => {
          const isForSale = Object.values(inventory).some((list) => list.some((one) => one.number === number))
          if (!isForSale || [...owned, ...others].some((one) => one.number === number)) return failure("Rejected")
          const bought = { number, providerNumberId: `PN${++ids}` }
          owned.push(bought)
          return Effect.succeed(bought)
        })
      ),
    findNumber: (number) =>
      Effect.sync(() => {
        const found = [...owned, ...others].find((one) => one.number === number)
        return Option.map(Option.fromUndefinedOr(found), (one) => ({ ...one, isOurs: owned.includes(one) }))
      }),
    release: (providerNumberId) =>
      act(
        "release",
        providerNumberId,
        Effect.sync(() => {
          const at = owned.findIndex((one) => one.providerNumberId === providerNumberId)
          if (at >= 0) owned.splice(at, 1)
        })
      ),
    listNumbers: () =>
      act(
        "listNumbers",
        "all",
        Effect.sync(() => ({ items: [...owned], nextCursor: undefined }))
      ),
    place: (call) =>
      act(
        "place",
        `${call.from} ${call.to}`,
        Effect.map(Timestamp.now, (placedAt) => {
          const providerCallId = `CA${++ids}`
          calls.push({ ...call, providerCallId, placedAt, report: { _tag: "Ringing" } })
          return providerCallId
        })
      ),
    findCalls: (from, to, since) =>
      act(
        "findCalls",
        `${from} ${to}`,
        Effect.sync(() =>
          calls.filter((call) => call.from === from && call.to === to && call.placedAt >= since).toReversed()
        )
      ),
    findCall: (id) =>
      Effect.sync(() => Option.fromUndefinedOr(calls.find(({ providerCallId }) => providerCallId === id))),
    changeLimit: (id, seconds) =>
      act(
        "changeLimit",
        `${id} ${seconds}`,
        Effect.suspend(() => {
          const call = calls.find(({ providerCallId }) => providerCallId === id)
          if (call === undefined || call.report._tag === "Ended") return failure("Rejected")
          limits.push([id, seconds])
          return Effect.void
        })
      ),
    hangUp: (id) =>
      act(
        "hangUp",
        id,
        Effect.map(Timestamp.now, (at) => {
          const call = calls.find(({ providerCallId }) => providerCallId === id)
          if (call !== undefined && call.report._tag !== "Ended") {
            call.report = { _tag: "Ended", at, ending: "completed", seconds: null }
          }
        })
      )
  })

  const layer = Layer.mergeAll(
    Layer.succeed(TelephonyProvider, provider),
    Layer.succeed(NumberingPlan, {
      kindOf: (number) => KINDS.get(number) ?? "callable",
      countryOf: (number) => COUNTRIES.get(number) ?? (number.startsWith("+1") ? "US" : undefined)
    }),
    Layer.succeed(AgentCallback, {
      refusal: (url) => Effect.succeed(url.includes("private") ? "not a public address" : undefined),
      ask: agent.ask
    }),
    Layer.succeed(WebhookClient, { refusal: () => Effect.undefined, post: () => Effect.succeed(204) })
  )
  return { inventory, owned, others, calls, limits, script, log, agent, layer }
}
