import { ScriptedRail } from "@agentos/core/contract-tests"
import {
  AgentCallback,
  type AgentMessage,
  type AgentReply,
  AgentUnreachable,
  EmailProvider,
  MailParser,
  noMailParser,
  type OutgoingMail,
  type PaymentProof,
  PaymentRail,
  type PaymentTerms,
  ProviderError,
  type ProviderErrorReason,
  type Refund,
  TelephonyProvider
} from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Metric, Redacted, Stream } from "effect"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { TestClock } from "effect/testing"
import { type AgentOs, createAgentOs } from "../src/index.ts"
import { observedAgents, observedProviders } from "../src/ProviderCalls.ts"
import { none } from "../src/Telephony.ts"
import { houseCarrier } from "./support/HouseCarrier.ts"
import { testOptions } from "./support/TestHost.ts"

const TOKEN = "operator-token-of-32-characters!"

interface Line {
  readonly level: string
  readonly message: string
  readonly annotations: Readonly<Record<string, unknown>>
}

/** A mail relay that fails with the reasons of the script, in order, and then accepts everything. */
const scriptedRelay = (script: Array<ProviderErrorReason>) =>
  EmailProvider.of({
    name: "scripted",
    domain: "agents.test",
    send: ({ recipients }) => {
      const reason = script.shift()
      const message = "550 <bob@outside.example>, +12125550150: no such user"
      return reason === undefined
        ? Effect.succeed({ accepted: recipients, rejected: [], response: "250 ok" })
        : Effect.fail(new ProviderError({ provider: "scripted", reason, message }))
    }
  })

describe("the calls of a service's providers", () => {
  const script: Array<ProviderErrorReason> = []
  const lines: Array<Line> = []
  const { options } = testOptions()
  let agentos: AgentOs
  beforeAll(async () => {
    const relay = Layer.succeed(EmailProvider, scriptedRelay(script))
    agentos = await createAgentOs({
      ...options,
      mail: { layer: Layer.merge(relay, Layer.succeed(MailParser, noMailParser)) },
      telephony: houseCarrier().carrier,
      operatorToken: TOKEN,
      log: (line) => lines.push(JSON.parse(line))
    })
  })
  afterAll(() => agentos.close())

  /** The number of calls by outcome, as the metrics of the operator show it. */
  const callsOf = async (port: string, method: string) => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const response = await agentos.fetch(new Request(`${options.publicUrl}/internal/metrics`, { headers }))
    const series = new RegExp(
      `^agentos_provider_calls_total\\{port="${port}",method="${method}",outcome="(\\w+)"\\} (\\d+)$`,
      "gm"
    )
    return [...(await response.text()).matchAll(series)].map(([, outcome, count]) => ({
      outcome,
      count: Number(count)
    }))
  }

  let payments = 0
  const pay = (challenge: string) => ScriptedRail.pay(challenge, `0x${"1".repeat(40)}`, `n${++payments}`)

  it("are counted by method and outcome, and a failure is logged without persons", async () => {
    const OUTCOMES = ["success", "temporary", "rejected", "misconfigured", "unknown", "interrupted"]
    const buying = await callsOf("telephony", "buy")
    assert.deepStrictEqual(
      buying.map(({ outcome }) => outcome),
      OUTCOMES
    )
    // The registry of metrics belongs to the process, which runs other tests too.
    const [sentBefore, settledBefore] = [await callsOf("email", "send"), await callsOf("payment", "settle")]
    const added = (before: typeof buying, after: typeof buying) =>
      after.flatMap(({ count, outcome }, index) =>
        count === before[index]?.count ? [] : [`${outcome} ${count - (before[index]?.count ?? 0)}`]
      )
    const { data } = await agentos.operations.purchase({
      service: "email.mailbox.create",
      input: { localPart: "ada" },
      payment: pay
    })
    const tenant = await agentos.authenticate(data.authentication.accessToken ?? "")
    const { mailboxId } = data.mailbox
    script.push("Rejected")
    const input = { mailboxId, to: ["bob@outside.example"], subject: "Hi", text: "Hello" }
    const refused = await agentos.operations
      .purchase({ service: "email.message.send", input, tenant, payment: pay })
      .catch((error: unknown) => error)
    assert.include(Object(refused), { code: "PROVIDER_REJECTED" })
    assert.deepStrictEqual(added(sentBefore, await callsOf("email", "send")), ["rejected 1"])
    assert.deepStrictEqual(added(settledBefore, await callsOf("payment", "settle")), ["success 2"])

    const line = lines.find(({ message }) => message.startsWith("Provider call failed"))
    assert.strictEqual(line?.message, "Provider call failed: 550 <…@…>, +…: no such user")
    assert.strictEqual(line?.level, "INFO")
    const { durationMillis, ...annotations } = line?.annotations ?? {}
    assert.isNumber(durationMillis)
    assert.deepInclude(annotations, { provider: "scripted", method: "send", reason: "Rejected", failures: 1 })
  })
})

describe("a facilitator", () => {
  it.effect("that does not refund has a line, and an interrupted call to it is counted", () =>
    Effect.gen(function* () {
      const lines: Array<Line> = []
      const { rail } = ScriptedRail.make()
      const providers = Layer.provide(
        observedProviders,
        Layer.mergeAll(
          Layer.succeed(EmailProvider, scriptedRelay([])),
          Layer.succeed(PaymentRail, {
            ...rail,
            settle: () => Effect.never,
            refund: () => Effect.succeed({ _tag: "Pending", message: "No answer.", failure: "Unknown" })
          }),
          Layer.mock(TelephonyProvider, { name: "none", limitsKeptBy: "provider", voices: [] })
        )
      )
      const series = yield* Effect.gen(function* () {
        const { refund, settle } = yield* PaymentRail
        yield* refund({} as Refund)
        const settling = yield* Effect.forkChild(settle({} as PaymentProof, {} as PaymentTerms))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(settling)
        return yield* PrometheusMetrics.format()
      }).pipe(
        Effect.provide(
          Layer.merge(providers, Logger.layer([Logger.map(Logger.formatJson, (line) => lines.push(JSON.parse(line)))]))
        ),
        Effect.provideService(Metric.MetricRegistry, new Map())
      )
      assert.include(series, '{port="payment",method="refund",outcome="unknown"} 1')
      assert.include(series, '{port="payment",method="settle",outcome="interrupted"} 1')
      assert.deepStrictEqual(
        lines.map(({ annotations, message }) => [message, annotations["method"], annotations["reason"]]),
        [["Provider call failed: No answer.", "refund", "Unknown"]]
      )
    })
  )
})

describe("a provider that keeps failing", () => {
  it.effect("has one line a second for each reason, with the number of failures", () =>
    Effect.gen(function* () {
      const lines: Array<Line> = []
      const reasons: ReadonlyArray<ProviderErrorReason> = [
        "Temporary",
        "Temporary",
        "Unknown",
        "Temporary",
        "Misconfigured"
      ]
      const providers = Layer.provide(
        observedProviders,
        Layer.mergeAll(
          Layer.succeed(EmailProvider, scriptedRelay([...reasons, "Temporary"])),
          Layer.succeed(PaymentRail, ScriptedRail.make().rail),
          Layer.mock(TelephonyProvider, { name: "none", limitsKeptBy: "provider", voices: [] })
        )
      )
      const send = Effect.flatMap(EmailProvider, (relay) =>
        Effect.flip(relay.send({ recipients: [] } as unknown as OutgoingMail))
      )
      yield* Effect.gen(function* () {
        for (const reason of reasons) assert.strictEqual((yield* send).reason, reason)
        yield* TestClock.adjust("1 second")
        yield* send
      }).pipe(
        Effect.provide(
          Layer.merge(providers, Logger.layer([Logger.map(Logger.formatJson, (line) => lines.push(JSON.parse(line)))]))
        ),
        Effect.provideService(Metric.MetricRegistry, new Map())
      )
      assert.deepStrictEqual(
        lines.map(({ annotations, level }) => [level, annotations["reason"], annotations["failures"]]),
        [
          ["WARN", "Temporary", 1],
          ["WARN", "Unknown", 1],
          ["ERROR", "Misconfigured", 1],
          ["WARN", "Temporary", 3]
        ]
      )
    })
  )

  it.effect("are no calls, and no failures, without a provider", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const providers = Layer.provide(
        observedProviders,
        Layer.mergeAll(
          Layer.succeed(EmailProvider, scriptedRelay([])),
          Layer.succeed(PaymentRail, ScriptedRail.make().rail),
          none.layer("https://agentos.example")
        )
      )
      const metrics = new Map()
      yield* Effect.flatMap(TelephonyProvider, (carrier) => Effect.flip(carrier.listNumbers(undefined))).pipe(
        Effect.provide(
          Layer.merge(providers, Logger.layer([Logger.map(Logger.formatJson, (line) => lines.push(line))]))
        ),
        Effect.provideService(Metric.MetricRegistry, metrics)
      )
      assert.deepStrictEqual(lines, [])
      assert.notInclude([...metrics.keys()].join(), "telephony")
    })
  )
})

describe("the webhooks of agents", () => {
  it.effect("have a count of answers by outcome, from 0 on", () =>
    Effect.gen(function* () {
      const unreachable = (reason: AgentUnreachable["reason"]) =>
        Stream.fail(new AgentUnreachable({ reason, message: "" }))
      const answers: Record<string, Stream.Stream<AgentReply, AgentUnreachable>> = {
        whole: Stream.make<[AgentReply]>({ _tag: "HangUp" }),
        late: unreachable("timeout"),
        broken: unreachable("status"),
        silent: Stream.never
      }
      const callback = AgentCallback.of({
        refusal: () => Effect.succeed(undefined),
        ask: ({ url }) => answers[url]!
      })
      const series = yield* Effect.gen(function* () {
        const { ask } = yield* AgentCallback
        const asking = (url: string) =>
          Effect.ignore(Stream.runDrain(ask({ url, secret: Redacted.make("") }, {} as AgentMessage)))
        yield* Effect.forEach(["whole", "whole", "late", "broken"], asking)
        const waiting = yield* Effect.forkChild(asking("silent"))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(waiting)
        return yield* PrometheusMetrics.format()
      }).pipe(
        Effect.provide(Layer.provide(observedAgents, Layer.succeed(AgentCallback, callback))),
        Effect.provideService(Metric.MetricRegistry, new Map())
      )
      const counts = [...series.matchAll(/^agentos_agent_answers_total\{outcome="(\w+)"\} (\d+)$/gm)]
      assert.deepStrictEqual(Object.fromEntries(counts.map(([, outcome, count]) => [outcome, Number(count)])), {
        success: 2,
        address: 0,
        connection: 0,
        timeout: 1,
        status: 1,
        answer: 0,
        interrupted: 1
      })
    })
  )
})
