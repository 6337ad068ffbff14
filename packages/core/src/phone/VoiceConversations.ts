import { Cause, Context, Effect, Exit, Fiber, Layer, Option, Redacted, Stream } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import { addToCount } from "../limits/Counts.ts"
import * as CallbackSecret from "../tenancy/CallbackSecret.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import {
  type AgentAddress,
  AgentCallback,
  type AgentMessage,
  AgentUnreachable,
  CONTEXT_TURNS,
  isPlaceholder
} from "./AgentCallback.ts"
import { AgentSessions } from "./AgentSessions.ts"
import type { Call } from "./Call.ts"
import * as CallProgress from "./CallProgress.ts"
import { CallReports } from "./Calls.ts"
import { CallStore } from "./CallStore.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { hashToken, type RelayEvent, type SendToRelay } from "./VoiceRelay.ts"
import * as VoiceRunner from "./VoiceRunner.ts"

/** The interval at which a relay checks whether it still has its call. */
const OWNER_CHECK = "5 seconds"
/** Requests to the webhooks of one tenant's agents at a time, from one server: one for each call that awaits an answer. */
const REQUESTS_PER_TENANT = 256

/** The live conversations between the people on the line and the agents behind the numbers. */
export class VoiceConversations extends Context.Service<
  VoiceConversations,
  {
    /**
     * Redeems a relay's token and returns its call. The token is not valid afterwards. Returns none for any other
     * token, and if the call has ended.
     */
    readonly admit: (token: Redacted.Redacted<string>) => Effect.Effect<Option.Option<Call>>
    /**
     * Runs the conversation of an admitted call until `events` ends, the call is ended, or another relay of the same
     * call starts on any server: noticed when the person speaks, and every few seconds. Has no typed failure: problems with the agent are spoken to the caller and added to
     * the transcript.
     */
    readonly run: (call: Call, events: Stream.Stream<RelayEvent>, send: SendToRelay) => Effect.Effect<void>
  }
>()("@agentos/core/phone/VoiceConversations") {
  static readonly layer = Layer.effect(
    VoiceConversations,
    Effect.gen(function* () {
      const calls = yield* CallStore
      const numbers = yield* PhoneNumberStore
      const agents = yield* AgentCallback
      const sessions = yield* AgentSessions
      const reports = yield* CallReports
      const keyring = yield* Keyring

      /**
       * Returns the webhook URL and the secret of the call's agent, or the error that explains why it can't be called.
       */
      const addressOf = Effect.fnUntraced(function* ({ phoneNumberId, tenantId }: Call) {
        const number = yield* numbers.find(tenantId, phoneNumberId)
        if (number._tag !== "Owned") return unusable("Its number does not exist.")
        const { agentWebhookUrl: url, callbackKeyId: keyId, callbackVersion: version } = number.value
        if (isPlaceholder(url))
          return unusable("No voice session answers it, and its agentWebhookUrl is a placeholder.")
        const secret = CallbackSecret.derive(keyring, { keyId, phoneNumberId, version })
        return secret === undefined ? unusable("The key of its callback secret is not configured.") : { url, secret }
      })

      const asked = new Map<TenantId, number>()
      /** Asks a webhook, unless too many requests to those of its tenant are under way. */
      const askWebhook = (tenantId: TenantId, address: AgentAddress, message: AgentMessage) =>
        Stream.suspend(() => {
          if ((asked.get(tenantId) ?? 0) >= REQUESTS_PER_TENANT) return Stream.fail(tooManyRequests)
          addToCount(asked, tenantId, 1)
          const ended = Effect.sync(() => addToCount(asked, tenantId, -1))
          return Stream.ensuring(agents.ask(address, message), ended)
        })

      /** By callId: the hash of the token that opened its relay on this server. */
      const redeemed = new Map<string, string>()

      /** Whether another relay has the call by now. */
      const isReplaced = (callId: string, hash: string): Effect.Effect<boolean> =>
        Effect.map(calls.redeemedRelay(callId), (last) => last !== null && last !== hash)

      /** Ends when another relay has the call. */
      const replaced = (callId: string): Effect.Effect<void> => {
        const hash = redeemed.get(callId)
        if (hash === undefined) return Effect.never
        return Effect.repeat(Effect.delay(isReplaced(callId, hash), OWNER_CHECK), { until: (isOther) => isOther }).pipe(
          Effect.andThen(Effect.logWarning("a newer relay has the call; this one ends"))
        )
      }

      /** The events of a relay, up to the first one that arrives after another relay has the call. */
      const whileOwned = (callId: string, events: Stream.Stream<RelayEvent>): Stream.Stream<RelayEvent> => {
        const hash = redeemed.get(callId)
        return hash === undefined
          ? events
          : Stream.takeWhileEffect(events, () => Effect.map(isReplaced(callId, hash), (isOther) => !isOther))
      }

      const run = Effect.fnUntraced(function* (call: Call, events: Stream.Stream<RelayEvent>, send: SendToRelay) {
        const { callId, direction, fromNumber: from, greeting, phoneNumberId, tenantId, toNumber: to } = call
        const [address, turns] = yield* Effect.all([addressOf(call), calls.turns(callId, CONTEXT_TURNS + 1)], {
          concurrency: "unbounded"
        })
        yield* VoiceRunner.run(
          {
            callId,
            greeting,
            turns,
            calls,
            send,
            ask: ({ at, text }, transcriptSoFar) => {
              const message = { callId, phoneNumberId, direction, from, to, turn: { text, at }, transcriptSoFar }
              const otherwise =
                address instanceof AgentUnreachable ? Stream.fail(address) : askWebhook(tenantId, address, message)
              return sessions.ask(tenantId, message, otherwise)
            },
            interrupted: sessions.interrupted(callId),
            hangUp: (at) =>
              Effect.asVoid(
                reports.change(callId, (current, now) => CallProgress.requestHangUp(current, "hangup_agent", now, at))
              )
          },
          whileOwned(callId, events)
        ).pipe(Effect.raceFirst(replaced(callId)), Effect.ensuring(sessions.forget(callId)))
        yield* reports.change(callId, CallProgress.relayEnded)
      })

      const runNewest = newestOnly()

      return VoiceConversations.of({
        admit: (token) =>
          Effect.gen(function* () {
            const hash = yield* Effect.provideService(hashToken(Redacted.value(token)), Keyring, keyring)
            const call = yield* calls.redeemRelay(hash)
            if (Option.isSome(call)) redeemed.set(call.value.callId, hash)
            return call
          }),
        run: (call, events, send) => {
          const hash = redeemed.get(call.callId)
          const ended = Effect.sync(() => redeemed.get(call.callId) === hash && redeemed.delete(call.callId))
          return Effect.ensuring(runNewest(call.callId, run(call, events, send)), ended)
        }
      })
    })
  )
}

/**
 * Runs one effect per name at a time, the newest one: it first interrupts the previous one. A carrier that reconnects a
 * call knows that the previous relay is gone, but the socket of that relay may report it much later.
 */
const newestOnly = () => {
  const running = new Map<string, Fiber.Fiber<void>>()
  return Effect.fnUntraced(function* (name: string, work: Effect.Effect<void>) {
    for (let older = running.get(name); older !== undefined; older = running.get(name)) {
      yield* Fiber.interrupt(older)
      if (running.get(name) === older) running.delete(name)
    }
    const fiber = yield* Effect.forkChild(work)
    running.set(name, fiber)
    const forget = Effect.sync(() => running.get(name) === fiber && running.delete(name))
    const exit = yield* Effect.ensuring(Fiber.await(fiber), forget)
    if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) yield* exit
  })
}

const tooManyRequests = new AgentUnreachable({
  reason: "connection",
  message: `The agent was not asked: ${REQUESTS_PER_TENANT} requests to your agents' webhooks are under way. Answer faster.`
})

const unusable = (why: string) =>
  new AgentUnreachable({ reason: "address", message: `The agent can't be called. ${why}` })
