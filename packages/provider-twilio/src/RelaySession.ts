import type { Call, IngressSocket, RelayCommand, RelayEvent, SocketSession, VoiceConversations } from "@agentos/core"
import { type Cause, Effect, Filter, Metric, Option, Queue, Stream } from "effect"
import { readRelayMessage, type RelayInbound, writeRelayMessage } from "./RelayMessage.ts"

/** A socket that has not named its call by then is closed. */
const SETUP_TIMEOUT = "10 seconds"
/** Policy violation (RFC 6455, section 7.4.1). */
const REFUSED = 1008

const relays = Metric.gauge("agentos_call_relays", { description: "Calls whose conversation this server leads now." })
const broken = Metric.counter("agentos_call_relays_broken_total", {
  description: "Relays that the carrier reported to this server as broken.",
  incremental: true
})

/** Reports both metrics from the start, so that a first increase is seen. */
export const startCounting = Effect.andThen(Metric.modify(relays, 0), Metric.update(broken, 0))

/** Counts a conversation while it runs. */
const countRelay = <A, E, R>(conversation: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Metric.modify(relays, 1),
    () => conversation,
    () => Metric.modify(relays, -1)
  )

export const countBrokenRelay: Effect.Effect<void> = Metric.update(broken, 1)

const relayEventOf = (message: RelayInbound): RelayEvent | undefined => {
  switch (message.type) {
    case "setup":
      return undefined
    case "prompt":
      // A prompt that is not the last is a partial transcription; the last one contains the whole text.
      return message.last === false || message.last === "false"
        ? undefined
        : { _tag: "Said", text: message.voicePrompt }
    case "interrupt":
      return { _tag: "Interrupted", spoken: message.utteranceUntilInterrupt ?? "" }
    case "dtmf":
      return { _tag: "Pressed", key: String(message.digit) }
    case "error":
      return { _tag: "Failed", why: typeof message.description === "string" ? message.description : "no description" }
  }
}

/** Keeps the messages that report something about the person on the line. */
const relayEventIn = Filter.fromPredicateOption((text: string) =>
  Option.flatMap(readRelayMessage(text), (message) => Option.fromUndefinedOr(relayEventOf(message)))
)

/** Waits for the setup message, which comes first, and returns Twilio's id of the call. None if the socket closes. */
const readSetup = (messages: Queue.Dequeue<string, Cause.Done>): Effect.Effect<Option.Option<string>> =>
  Effect.gen(function* () {
    for (;;) {
      const message = readRelayMessage(yield* Queue.take(messages))
      if (Option.isSome(message) && message.value.type === "setup") return Option.some(message.value.callSid)
    }
  }).pipe(Effect.orElseSucceed(() => Option.none()))

const textOf = (command: RelayCommand): string => {
  switch (command._tag) {
    case "Say":
      return writeRelayMessage({ type: "text", token: command.text, last: command.isLast })
    case "Press":
      return writeRelayMessage({ type: "sendDigits", digits: command.digits })
    case "End":
      return writeRelayMessage({ type: "end" })
  }
}

/** Returns the session of an admitted call: its conversation over the socket, once the socket has named the call. */
export const relaySession = (call: Call, runConversation: VoiceConversations["Service"]["run"]): SocketSession => {
  const converse = Effect.fnUntraced(function* ({ close, messages, send }: IngressSocket) {
    const callSid = Option.flatten(yield* Effect.timeoutOption(readSetup(messages), SETUP_TIMEOUT))
    if (Option.isNone(callSid)) return yield* close(REFUSED, "no setup")
    if (call.providerCallId !== null && call.providerCallId !== callSid.value) {
      yield* Effect.logWarning("a relay was set up for another call than its own")
      return yield* close(REFUSED, "another call")
    }
    const events = Stream.filterMap(Stream.fromQueue(messages), relayEventIn)
    yield* runConversation(call, events, (command) => send(textOf(command)))
  })
  return {
    id: call.callId,
    run: (socket) => countRelay(converse(socket)).pipe(Effect.annotateLogs("callId", call.callId))
  }
}
