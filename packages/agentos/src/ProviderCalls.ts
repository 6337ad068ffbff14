import {
  AgentCallback,
  type AgentUnreachable,
  EmailProvider,
  PaymentRail,
  ProviderError,
  type ProviderErrorReason,
  TelephonyProvider,
  Trace,
  withoutPersons
} from "@agentos/core"
import { Cause, Clock, Effect, Exit, Layer, Metric, Option, Stream } from "effect"

/** The name of a provider that stands for none. */
export const NO_PROVIDER = "none"

/** The methods of each port that call a provider. */
const METHODS = {
  payment: [
    "verify",
    "readFunds",
    "readNonce",
    "simulate",
    "settle",
    "findSettlement",
    "blockBefore",
    "refund",
    "findRefund",
    "transfers",
    "readTransfers"
  ],
  email: ["send"],
  telephony: [
    "search",
    "buy",
    "findNumber",
    "release",
    "listNumbers",
    "place",
    "findCalls",
    "findCall",
    "changeLimit",
    "hangUp"
  ]
} as const
type Port = keyof typeof METHODS

/** `interrupted`: its result was no longer needed, for example because the chain showed a payment before its facilitator answered. */
const OUTCOMES = ["success", "temporary", "rejected", "misconfigured", "unknown", "interrupted"] as const
type Outcome = (typeof OUTCOMES)[number]

/** In seconds. Providers answer between tens of milliseconds and their time limits. */
const BOUNDARIES = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** A failure that repeats is logged once in this time, in milliseconds. */
const LOGGED_EVERY = 1_000

const callsOf = (attributes: { readonly port: Port; readonly method: string; readonly outcome: Outcome }) =>
  Metric.counter("agentos_provider_calls_total", {
    description: "Calls of providers by port, method and outcome.",
    incremental: true,
    attributes
  })

const durationsOf = (attributes: { readonly port: Port; readonly method: string }) =>
  Metric.histogram("agentos_provider_call_duration_seconds", {
    description: "Time from a call of a provider to its answer or failure.",
    boundaries: BOUNDARIES,
    attributes
  })

interface Failure {
  readonly provider: string
  readonly reason: ProviderErrorReason
  readonly message: string
}

/** Returns the failure of a facilitator that the result of `settle` or `refund` reports. */
const failureIn = (result: unknown): Failure | undefined => {
  const { _tag, failure, message } = Object(result) as Readonly<Record<"_tag" | "failure" | "message", unknown>>
  const reason =
    _tag === "Refused" ? "Rejected" : _tag === "Unknown" ? "Unknown" : _tag === "Pending" ? failure : undefined
  if (reason !== "Rejected" && reason !== "Unknown") return undefined
  return { provider: "facilitator", reason, message: String(message) }
}

/** Returns how a call ended. A payment that is refused for its own sake is an answer. */
const failureOf = (exit: Exit.Exit<unknown, unknown>): Failure | "interrupted" | undefined => {
  if (Exit.isSuccess(exit)) return failureIn(exit.value)
  if (Cause.hasInterruptsOnly(exit.cause)) return "interrupted"
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  return error instanceof ProviderError ? error : undefined
}

const logOf = ({ reason }: Failure) => {
  if (reason === "Misconfigured") return Effect.logError
  return reason === "Rejected" ? Effect.logInfo : Effect.logWarning
}

/**
 * Returns the service with its calls counted and timed. A failure is logged with provider, method, reason and duration, at most
 * once a second for each method and reason; `failures` says how many there were since the line before.
 */
const observe = Effect.fnUntraced(function* <Service extends object>(port: Port, service: Service) {
  const observed: Record<string, unknown> = {}
  for (const method of METHODS[port]) {
    const call = (service as Readonly<Record<string, (...input: Array<never>) => Effect.Effect<unknown, unknown>>>)[
      method
    ]
    if (call === undefined) continue
    const durations = durationsOf({ port, method })
    const counters = new Map(OUTCOMES.map((outcome) => [outcome, callsOf({ port, method, outcome })]))
    for (const counter of counters.values()) yield* Metric.update(counter, 0)
    const unlogged = new Map<ProviderErrorReason, { failures: number; loggedAt: number }>()

    const report = (failure: Failure, startedAt: number, now: number) => {
      const known = unlogged.get(failure.reason) ?? { failures: 0, loggedAt: -Infinity }
      unlogged.set(failure.reason, known)
      known.failures++
      if (now >= known.loggedAt && now < known.loggedAt + LOGGED_EVERY) return Effect.void
      const { failures } = known
      Object.assign(known, { failures: 0, loggedAt: now })
      const { provider, reason } = failure
      return logOf(failure)(`Provider call failed: ${withoutPersons(failure.message)}`).pipe(
        Effect.annotateLogs({ provider, method, reason, durationMillis: now - startedAt, failures })
      )
    }
    observed[method] = (...input: Array<never>) =>
      Effect.withFiber((fiber) => {
        const clock = fiber.getRef(Clock.Clock)
        const startedAt = clock.currentTimeMillisUnsafe()
        return Effect.onExit(Trace.span(`${port}.${method}`, "client")(call(...input)), (exit) => {
          const failure = failureOf(exit)
          const now = clock.currentTimeMillisUnsafe()
          const reason = typeof failure === "string" ? failure : failure?.reason.toLowerCase()
          durations.updateUnsafe((now - startedAt) / 1_000, fiber.context)
          counters.get((reason ?? "success") as Outcome)!.updateUnsafe(1, fiber.context)
          return typeof failure === "object" ? report(failure, startedAt, now) : Effect.void
        })
      })
  }
  return { ...service, ...observed } as Service
})

/** How an answer of an agent's webhook ended; `interrupted`: the person spoke, or the call ended, before the whole answer was read. */
const AGENT_OUTCOMES = ["success", "address", "connection", "timeout", "status", "answer", "interrupted"] as const

/** Counts the answers of agents. Their failures are no line in the log: they are shown to the tenant, whose agent it is. */
const observeAgents = Effect.fnUntraced(function* (callback: AgentCallback["Service"]) {
  const counters = new Map(
    AGENT_OUTCOMES.map((outcome) => [
      outcome,
      Metric.counter("agentos_agent_answers_total", {
        description: "Answers of agents' webhooks to the turns of callers, by outcome.",
        incremental: true,
        attributes: { outcome }
      })
    ])
  )
  for (const counter of counters.values()) yield* Metric.update(counter, 0)
  const outcomeOf = (exit: Exit.Exit<unknown, AgentUnreachable>): (typeof AGENT_OUTCOMES)[number] => {
    if (Exit.isSuccess(exit)) return "success"
    return Option.match(Exit.findErrorOption(exit), { onNone: () => "interrupted", onSome: ({ reason }) => reason })
  }
  const ask: AgentCallback["Service"]["ask"] = (address, message) =>
    Stream.onExit(callback.ask(address, message), (exit) => Metric.update(counters.get(outcomeOf(exit))!, 1))
  return { ...callback, ask }
})

/** Observes a provider, unless the host has none, and so makes no calls. */
const observeNamed = <Service extends { readonly name: string }>(port: Port, service: Service) =>
  service.name === NO_PROVIDER ? Effect.succeed(service) : observe(port, service)

/** The ports of providers, with every call counted, timed and, if it fails, logged. */
export const observedProviders = Layer.mergeAll(
  Layer.effect(
    PaymentRail,
    Effect.flatMap(PaymentRail, (rail) => observe("payment", rail))
  ),
  Layer.effect(
    EmailProvider,
    Effect.flatMap(EmailProvider, (provider) => observeNamed("email", provider))
  ),
  Layer.effect(
    TelephonyProvider,
    Effect.flatMap(TelephonyProvider, (provider) => observeNamed("telephony", provider))
  )
)

/** The port of agents' webhooks, with every answer counted. */
export const observedAgents = Layer.effect(AgentCallback, Effect.flatMap(AgentCallback, observeAgents))
