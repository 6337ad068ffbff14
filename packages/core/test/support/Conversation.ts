import {
  type Call,
  CallAdmission,
  CallStore,
  type RelayCommand,
  type RelayEvent,
  VoiceConversations
} from "@agentos/core"
import { assert } from "@effect/vitest"
import { type Cause, Effect, Fiber, Option, Queue, Stream } from "effect"
import { adasNumber, bought, PERSON } from "./PhonePurchase.ts"
import type * as TestHost from "./TestHost.ts"

/** An answered call of Ada, and the token of its relay. */
export const answeredCall = Effect.fnUntraced(function* (greeting?: string) {
  const { phoneNumberId, tenant } = yield* adasNumber
  const initialGreeting = greeting === undefined ? {} : { initialGreeting: greeting }
  const input = { phoneNumberId, toNumber: PERSON, ...initialGreeting }
  const data = yield* bought({ serviceId: "phone.call.outbound.5m", tenant, input })
  const { callId } = (data as { readonly call: { readonly callId: string } }).call
  const admission = yield* (yield* CallAdmission).answered(callId)
  return admission._tag === "Connect" ? admission : yield* Effect.die("the call is declined")
})

/** The transcript of a call, one line per turn. */
export const linesOf = Effect.fnUntraced(function* ({ callId }: Call) {
  const turns = yield* (yield* CallStore).turns(callId)
  return turns.map(({ role, text }) => `${role}: ${text}`)
})

/** Runs all fibers that can run now: in memory, nothing waits except for the clock. */
export const settle = Effect.repeat(Effect.yieldNow, { times: 300 })

/** A conversation over a relay that the test simulates. */
export const conversation = Effect.fnUntraced(function* (host: ReturnType<typeof TestHost.make>, call: Call) {
  const voices = yield* VoiceConversations
  const store = yield* CallStore
  const line = yield* Queue.unbounded<RelayEvent, Cause.Done>()
  const spoken: Array<RelayCommand> = []
  /** The first pieces of turns that were spoken before they were in the transcript. */
  const unwritten: Array<string> = []
  const speak = Effect.fnUntraced(function* (command: RelayCommand) {
    const isFirst = spoken.at(-1)?._tag !== "Say" || (spoken.at(-1) as { readonly isLast: boolean }).isLast
    spoken.push(command)
    const last = (yield* store.turns(call.callId, 1)).at(-1)
    if (command._tag === "Say" && isFirst && last?.text !== command.text) unwritten.push(command.text)
  })
  const fiber = yield* Effect.forkScoped(voices.run(call, Stream.fromQueue(line), speak))
  yield* settle
  return {
    fiber,
    spoken,
    unwritten,
    /** Sends events from the relay. */
    tell: (...heard: ReadonlyArray<RelayEvent>) => Effect.andThen(Queue.offerAll(line, heard), settle),
    say: (text: string) => Effect.andThen(Queue.offer(line, { _tag: "Said", text }), settle),
    /** Closes the relay, and waits for the end of the conversation. */
    leave: Effect.andThen(Queue.end(line), Fiber.join(fiber)),
    /** The text that was spoken, with `|` after each speech. */
    heard: () =>
      spoken
        .map((one) => {
          if (one._tag === "Say") return one.text + (one.isLast ? "|" : "")
          return one._tag === "End" ? "[end]" : `[keys ${one.digits}]`
        })
        .join(""),
    /** Asserts the number of questions, and returns the last one. */
    asked: (count: number) => {
      assert.lengthOf(host.carrier.agent.asked, count)
      return host.carrier.agent.asked[count - 1]!
    }
  }
})

/** A conversation in a new answered call. */
export const talk = Effect.fnUntraced(function* (host: ReturnType<typeof TestHost.make>, greeting?: string) {
  const { token } = yield* answeredCall(greeting)
  const call = Option.getOrThrow(yield* (yield* VoiceConversations).admit(token))
  return { call, ...(yield* conversation(host, call)) }
})
