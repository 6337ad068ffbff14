import {
  AgentCallback,
  WebhookClient,
  type AgentMessage,
  type AgentReply,
  type AgentUnreachable,
  type CallProgress,
  NumberingPlan,
  type OutboundCall,
  type OwnedNumber,
  ProviderError,
  TelephonyProvider
} from "@agentos/core"
import { Effect, Layer, Option, Stream } from "effect"

/** Carrier operations that can fail. */
type CarrierMethod = "search" | "buy" | "release" | "place"

/** A call at the scripted carrier. */
export interface ScriptedCall extends OutboundCall {
  readonly providerCallId: string
  report: CallProgress.CallReport
}

let ids = 0
/** Returns a new call id in Twilio's format. */
/** The account of the test servers at the carrier. */
export const ACCOUNT_SID = `AC${"a1".repeat(16)}`

export const freshCallSid = (): string => `CA${(++ids).toString(16).padStart(32, "0")}`

/** A carrier that sells numbers, places calls and fails on request; and the agents of the numbers. */
export const make = () => {
  const owned: Array<OwnedNumber> = []
  const calls: Array<ScriptedCall> = []
  const asked: Array<AgentMessage> = []
  const failures: Partial<Record<CarrierMethod, Array<ProviderError["reason"]>>> = {}
  const agent = { answer: (_message: AgentMessage): Stream.Stream<AgentReply, AgentUnreachable> => Stream.empty }
  /** Searches wait for this effect. */
  const pace = { search: Effect.void as Effect.Effect<void> }
  let sold = 0

  const act = <A>(operation: CarrierMethod, work: () => A): Effect.Effect<A, ProviderError> =>
    Effect.suspend(() => {
      const reason = failures[operation]?.shift()
      return reason === undefined
        ? Effect.sync(work)
        : Effect.fail(new ProviderError({ provider: "scripted", reason, message: `The carrier says ${reason}.` }))
    })

  /** Returns the next number for sale. Area 999 has none. */
  const nextOf = (country: "US" | "CA", areaCode = country === "US" ? "415" : "604") =>
    areaCode === "999" ? [] : [{ number: `+1${areaCode}${String(5_550_100 + sold).padStart(7, "0")}`, areaCode }]

  const provider = TelephonyProvider.of({
    name: "scripted",
    limitsKeptBy: "provider",
    voices: [
      { voice: "Amy-Neural", language: "en-GB", vendor: "Amazon" },
      { voice: "en-US-Chirp3-HD-Kore", language: "en-US", vendor: "Google" }
    ],
    search: ({ areaCode, country, near }) =>
      Effect.andThen(
        Effect.suspend(() => pace.search),
        act("search", () => (near === undefined ? nextOf(country, areaCode) : []))
      ),
    buy: (number) =>
      act("buy", () => {
        const bought = { number, providerNumberId: `PN${++sold}` }
        owned.push(bought)
        return bought
      }),
    findNumber: (number) =>
      Effect.sync(() => {
        const found = owned.find((one) => one.number === number)
        return Option.map(Option.fromUndefinedOr(found), (one) => ({ ...one, isOurs: true }))
      }),
    release: (id) =>
      act("release", () => {
        const at = owned.findIndex(({ providerNumberId }) => providerNumberId === id)
        if (at >= 0) owned.splice(at, 1)
      }),
    listNumbers: () => Effect.sync(() => ({ items: [...owned], nextCursor: undefined })),
    // If the outcome must be unknown, the call is placed and the response is lost.
    place: (call) => {
      const placed: ScriptedCall = { ...call, providerCallId: freshCallSid(), report: { _tag: "Ringing" } }
      if (failures.place?.[0] === "Unknown") calls.push(placed)
      return act("place", () => {
        calls.push(placed)
        return placed.providerCallId
      })
    },
    findCalls: () => Effect.succeed([]),
    findCall: (id) =>
      Effect.sync(() => Option.fromUndefinedOr(calls.find(({ providerCallId }) => providerCallId === id))),
    changeLimit: () => Effect.void,
    hangUp: () => Effect.void
  })

  const layer = Layer.mergeAll(
    Layer.succeed(TelephonyProvider, provider),
    Layer.succeed(NumberingPlan, {
      kindOf: (number) => (number.startsWith("+1900") ? "premium" : "callable"),
      countryOf: (number) => (number.startsWith("+247") ? "AC" : "US")
    }),
    Layer.succeed(AgentCallback, {
      refusal: (url) =>
        Effect.succeed(url.includes("private") ? "must have a host with a public internet address" : undefined),
      ask: (_address, message) =>
        Stream.suspend(() => {
          asked.push(message)
          return agent.answer(message)
        })
    }),
    Layer.succeed(WebhookClient, { refusal: () => Effect.undefined, post: () => Effect.succeed(204) })
  )
  return { owned, calls, asked, failures, agent, pace, layer }
}
export type ScriptedCarrier = ReturnType<typeof make>
