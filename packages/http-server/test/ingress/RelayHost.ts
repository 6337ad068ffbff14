import {
  type Call,
  CallAdmission,
  CallReports,
  type ProviderIngress,
  RateLimiter,
  type RelayCommand,
  type RelayEvent,
  Timestamp,
  Uuid,
  VoiceConversations
} from "@agentos/core"
import { TwilioIngress } from "@agentos/provider-twilio"
import { Deferred, Effect, Layer, Option, Redacted, Stream } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as ConnectionGate from "../../src/connection/ConnectionGate.ts"
import { RateLimiting } from "../../src/edge/RateLimiting.ts"
import { Upgrades } from "../../src/connection/Upgrades.ts"
import { NodeServer } from "../../src/connection/NodeServer.ts"
import { upgradeListener } from "../../src/Server.ts"
import { type RateLimit, ServerSettings } from "../../src/ServerSettings.ts"
import { ACCOUNT_SID, freshCallSid } from "../support/ScriptedCarrier.ts"
import { CARRIER_TOKEN, PUBLIC_URL, RelayClient, signatureOf } from "./CarrierClient.ts"
import { testSite } from "../support/TestSite.ts"

/** The state of a conversation that a relay has started. */
export interface Led {
  readonly call: Call
  readonly heard: Array<RelayEvent>
  readonly say: (command: RelayCommand) => Effect.Effect<void>
  /** Ends the conversation when it is completed. */
  readonly end: Deferred.Deferred<void>
  /** Whether the conversation completed or was interrupted. */
  readonly ended: Deferred.Deferred<"done" | "interrupted">
}

/** Conversations for which the test provides both the tokens and the agent. */
export const makeConversations = () => {
  const tokens = new Map<string, Call>()
  const calls: Array<Call> = []
  const led: Array<Led> = []
  const asked: Array<string> = []
  /** `isDeaf`: the conversation reads no events. `dies`: it fails at its start. */
  const script = { isDeaf: false, dies: false }
  const layer = Layer.succeed(VoiceConversations, {
    admit: (token) =>
      Effect.sync(() => {
        const text = Redacted.value(token)
        asked.push(text)
        const call = tokens.get(text)
        tokens.delete(text)
        return Option.fromUndefinedOr(call)
      }),
    run: (call, events, send) =>
      Effect.gen(function* () {
        if (script.dies) return yield* Effect.die(new Error("the agent's own fault"))
        const one: Led = {
          call,
          heard: [],
          say: send,
          end: Deferred.makeUnsafe(),
          ended: Deferred.makeUnsafe()
        }
        led.push(one)
        const listen = script.isDeaf
          ? Effect.never
          : Stream.runForEach(events, (next) => Effect.sync(() => void one.heard.push(next)))
        yield* Effect.raceFirst(listen, Deferred.await(one.end)).pipe(
          Effect.onExit((exit) =>
            Deferred.succeed(one.ended, exit._tag === "Success" ? ("done" as const) : ("interrupted" as const))
          )
        )
      })
  })
  return { tokens, calls, led, asked, script, layer }
}
export type Conversations = ReturnType<typeof makeConversations>

const nodeServer = Layer.effect(
  NodeServer,
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer()
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
  )
)

const settings = (rateLimit: RateLimit | null) =>
  Layer.succeed(ServerSettings, {
    environment: "sandbox",
    publicUrl: PUBLIC_URL,
    capabilities: { email: true, phone: true },
    rateLimit,
    trustedProxies: [],
    signInOrigins: [],
    operatorToken: null,
    site: testSite
  })

/** The dependencies of relays, except the conversations. Clients are limited unless the rate limit is null. */
export const hostWith = (rateLimit: RateLimit | null) =>
  Layer.mergeAll(upgradeListener, RateLimiting.layer).pipe(
    Layer.provideMerge(Upgrades.layer),
    Layer.provide(ConnectionGate.layer),
    Layer.provideMerge(nodeServer),
    Layer.provideMerge(
      Layer.sync(RateLimiter.RateLimiter, rateLimit === null ? () => RateLimiter.unlimited : RateLimiter.makeLocal)
    ),
    Layer.provideMerge(settings(rateLimit))
  )
export const host = hostWith(null)

const unused = Effect.die(new Error("not used by relays"))

/** Twilio's ingress over the scripted conversations. Every call continues over another relay when it is asked about. */
export const twilioOver = (conversations: Conversations): Effect.Effect<ProviderIngress> => {
  const find = (callId: string) =>
    Effect.sync(() => Option.fromUndefinedOr(conversations.calls.find((call) => call.callId === callId)))
  const admission = Layer.succeed(CallAdmission, {
    admit: () => unused,
    answered: () => unused,
    resume: (callId) =>
      Effect.map(find(callId), (call) =>
        Option.match(call, {
          onNone: () => ({ _tag: "Decline" }),
          onSome: (known) => ({
            _tag: "Connect",
            call: known,
            token: Redacted.make("next"),
            language: null,
            voice: null,
            waitSeconds: 0
          })
        })
      )
  })
  const reports = Layer.succeed(CallReports, {
    find,
    findByProvider: () => unused,
    apply: () => unused,
    identify: () => unused,
    change: () => unused
  })
  return TwilioIngress.make({
    accountSid: ACCOUNT_SID,
    authToken: Redacted.make(CARRIER_TOKEN),
    publicUrl: PUBLIC_URL
  }).pipe(Effect.provide([conversations.layer, admission, reports]))
}

/** Asks as Twilio how a call continues whose relay broke. Returns the document of the answer. */
export const askToResume = Effect.fnUntraced(function* ({ webhooks }: ProviderIngress, call: Call) {
  const webhook = webhooks.find(({ path }) => path.includes("/resume/"))!
  const target = `/webhooks/twilio/resume/${call.callId}`
  const form = { CallSid: call.providerCallId ?? "", CallStatus: "in-progress", SessionStatus: "failed" }
  const { body = "" } = yield* webhook.handle({
    target,
    parameter: call.callId,
    headers: { "x-twilio-signature": signatureOf(`${PUBLIC_URL}${target}`, form) },
    body: Effect.succeed(new TextEncoder().encode(new URLSearchParams(form).toString()))
  })
  return body
})

let tokens = 0
/** Creates an answered call that admits one relay, and returns it with the relay's path. */
export const newCall = Effect.fnUntraced(function* (
  conversations: Conversations,
  providerCallId: string | null = freshCallSid()
) {
  const now = Timestamp.Timestamp.make(0)
  const call: Call = {
    callId: yield* Uuid.next,
    tenantId: yield* Uuid.next,
    phoneNumberId: yield* Uuid.next,
    agentId: yield* Uuid.next,
    direction: "outbound",
    fromNumber: "+14155550100",
    toNumber: "+12025550150",
    state: "in_progress",
    providerCallId,
    greeting: null,
    authorizedSeconds: 60,
    extendedSeconds: 0,
    hangUpReason: null,
    answeredBy: null,
    endReason: null,
    connectedSeconds: 0,
    watchAt: now,
    createdAt: now,
    answeredAt: now,
    endedAt: null
  }
  const token = `token-${++tokens}`
  conversations.tokens.set(token, call)
  conversations.calls.push(call)
  return { call, token, path: `/webhooks/twilio/relay/${token}` }
})

/** Opens the carrier's end of a relay at the host. */
export const connect = Effect.fnUntraced(function* (path: string, signature?: string) {
  const server = yield* NodeServer
  const { port } = server.address() as AddressInfo
  return yield* Effect.acquireRelease(
    Effect.sync(() => new RelayClient(port, path, signature)),
    ({ socket }) => Effect.sync(() => socket.terminate())
  )
})

const PATIENCE = 60_000

/** Waits in real time until the condition is true. Throws after a minute. */
export const until = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.promise(async () => {
    const startedAt = performance.now()
    while (!isSo()) {
      if (performance.now() - startedAt > PATIENCE) throw new Error("it did not come to be")
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  })
