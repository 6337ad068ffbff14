import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { WebSocket } from "ws"
import type { PersonSimulator } from "./PersonSimulator.ts"
import { type RelaySettings, toInterruptible } from "./Twiml.ts"

// The messages follow https://www.twilio.com/docs/voice/conversationrelay/websocket-messages.

const Interruptible = Schema.Union([
  Schema.Boolean,
  Schema.Literals(["none", "dtmf", "speech", "any", "true", "false"])
])

/** A token of speech. `last` (default false) ends the utterance. */
const Text = Schema.Struct({
  type: Schema.Literal("text"),
  token: Schema.String,
  last: Schema.optionalKey(Schema.Boolean),
  lang: Schema.optionalKey(Schema.String),
  interruptible: Schema.optionalKey(Interruptible),
  preemptible: Schema.optionalKey(Schema.Boolean)
})

const Play = Schema.Struct({
  type: Schema.Literal("play"),
  source: Schema.NonEmptyString,
  loop: Schema.optionalKey(Schema.Int),
  interruptible: Schema.optionalKey(Interruptible),
  preemptible: Schema.optionalKey(Schema.Boolean)
})

const SendDigits = Schema.Struct({
  type: Schema.Literal("sendDigits"),
  digits: Schema.String.check(Schema.isPattern(/^[0-9w#*]+$/))
})

const Language = Schema.Struct({
  type: Schema.Literal("language"),
  ttsLanguage: Schema.optionalKey(Schema.NonEmptyString),
  transcriptionLanguage: Schema.optionalKey(Schema.NonEmptyString)
})

/** Ends the session, not the call. The action receives the data and decides how the call continues. */
const End = Schema.Struct({ type: Schema.Literal("end"), handoffData: Schema.optionalKey(Schema.String) })

const ApplicationMessage = Schema.Union([Text, Play, SendDigits, Language, End])
type ApplicationMessage = typeof ApplicationMessage.Type

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(ApplicationMessage), { onExcessProperty: "error" })

type RelayMessage =
  | SetupMessage
  | { readonly type: "prompt"; readonly voicePrompt: string; readonly lang: string; readonly last: boolean }
  | { readonly type: "dtmf"; readonly digit: string }
  | {
      readonly type: "interrupt"
      readonly utteranceUntilInterrupt: string
      readonly durationUntilInterruptMs: number
    }
  | { readonly type: "error"; readonly description: string }

/**
 * The first message. The fields are those of the documentation's example. `callStatus` is RINGING in the first session of
 * an inbound call and IN_PROGRESS in later ones, as observed in real calls (github.com/ivy/thicket, docs/reference.md).
 */
export interface SetupMessage {
  readonly type: "setup"
  readonly sessionId: string
  readonly accountSid: string
  readonly parentCallSid: string
  readonly callSid: string
  readonly from: string
  readonly to: string
  readonly forwardedFrom: string
  readonly callType: "PSTN"
  readonly callerName: string
  readonly direction: string
  readonly callStatus: "RINGING" | "IN_PROGRESS"
  readonly customParameters: Readonly<Record<string, string>>
}

/** The end of a ConversationRelay session. */
export type RelayEnd =
  /** The call ended or was redirected. */
  | { readonly _tag: "Left" }
  /** The application ended the session. */
  | { readonly _tag: "Ended"; readonly handoffData: string | undefined }
  /** The socket failed, with a code of Twilio's error dictionary. */
  | { readonly _tag: "Failed"; readonly code: number; readonly message: string }

export interface RelayOptions {
  readonly settings: RelaySettings
  readonly setup: SetupMessage
  /** X-Twilio-Signature of the handshake. */
  readonly signature: string
  readonly person: PersonSimulator
  /** Aborted when the call ends or is redirected. */
  readonly signal: AbortSignal
  /** Called when the socket is open and the setup message is sent. */
  readonly onOpen: () => void
  readonly log: (event: string, details: Readonly<Record<string, unknown>>) => void
}

const handshakeMillis = 5_000
/** The time after which a socket is terminated if the other side does not close it. */
const closeMillis = 1_000
const messageBytesMax = 64 * 1_024
/** Twilio closes the socket after this many consecutive invalid messages. */
const invalidMessagesMax = 10

/**
 * Opens the application's socket and connects it with the person until one side ends. The codes are those observed in real
 * calls (github.com/ivy/thicket, docs/reference.md): Twilio closes with 1000. A socket that breaks, or that the application
 * closes without a message `end`, is error 64105. A socket that does not open is error 64102. Twilio does not reconnect by
 * itself. Never rejects.
 */
export const runRelay = (options: RelayOptions): Promise<RelayEnd> =>
  new Promise((resolve) => {
    const { person, settings, signal } = options
    const socket = new WebSocket(settings.url, {
      headers: { "X-Twilio-Signature": options.signature },
      handshakeTimeout: handshakeMillis,
      perMessageDeflate: false,
      maxPayload: messageBytesMax
    })
    const send = (message: RelayMessage): void => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
    }
    let isOpen = false
    let end: RelayEnd | undefined
    let terminateTimer: NodeJS.Timeout | undefined
    const finish = (ending: RelayEnd, code: number, reason: string): void => {
      end ??= ending
      person.detach()
      socket.close(code, reason)
      terminateTimer ??= setTimeout(() => socket.terminate(), closeMillis)
    }
    const leave = () => finish({ _tag: "Left" }, 1_000, "Closing websocket session")
    const conversation = makeConversation(options, send, finish)

    socket.on("open", () => {
      isOpen = true
      send(options.setup)
      options.log("relay opened", { sessionId: options.setup.sessionId })
      options.onOpen()
      person.attach(conversation.output)
      const { welcomeGreeting, welcomeGreetingInterruptible } = settings
      if (welcomeGreeting !== undefined) person.hear(welcomeGreeting, true, welcomeGreetingInterruptible)
    })
    socket.on("message", (data, isBinary) => {
      if (end === undefined) conversation.receive(isBinary ? "" : (data as Buffer).toString())
    })
    socket.on("error", (error) => options.log("relay error", { message: error.message }))
    socket.on("close", (code) => {
      clearTimeout(terminateTimer)
      signal.removeEventListener("abort", leave)
      person.detach()
      const failure = isOpen
        ? { code: 64_105, message: "Websocket ended" }
        : { code: 64_102, message: "Unable to connect to websocket URL" }
      const ending: RelayEnd = end ?? { _tag: "Failed", ...failure }
      options.log("relay closed", { closeCode: code, ...ending, _tag: undefined, how: ending._tag })
      resolve(ending)
    })
    signal.addEventListener("abort", leave, { once: true })
    if (signal.aborted) leave()
  })

/** Translates between the application's messages and the person. */
const makeConversation = (
  { log, person, settings }: RelayOptions,
  send: (message: RelayMessage) => void,
  finish: (ending: RelayEnd, code: number, reason: string) => void
) => {
  let language = settings.language
  let invalidMessages = 0

  const say = (text: string): void => {
    const words = text.split(" ")
    const half = words.slice(0, Math.ceil(words.length / 2)).join(" ")
    if (settings.partialPrompts) send({ type: "prompt", voicePrompt: half, lang: language, last: false })
    send({ type: "prompt", voicePrompt: text, lang: language, last: true })
  }
  const press = (keys: string): void => {
    if (!settings.dtmfDetection) return log("keys ignored", { keys, because: "dtmfDetection is off" })
    for (const digit of keys) send({ type: "dtmf", digit })
  }
  const interrupt = (heard: string, millis: number): void =>
    send({ type: "interrupt", utteranceUntilInterrupt: heard, durationUntilInterruptMs: millis })

  const handle = (message: ApplicationMessage): void => {
    switch (message.type) {
      case "text":
      case "play": {
        const interruptible = toInterruptible(message.interruptible ?? settings.interruptible)
        if (message.type === "text") return person.hear(message.token, message.last ?? false, interruptible)
        return person.hear(`[sound of ${message.source}]`, true, interruptible)
      }
      case "sendDigits":
        return person.hearAnnouncement(`[keys ${message.digits}]`)
      case "language":
        language = message.transcriptionLanguage ?? language
        return log("language", { ...message, type: undefined })
      case "end":
        return finish({ _tag: "Ended", handoffData: message.handoffData }, 1_000, "Closing websocket session")
    }
  }
  /** Messages with invalid JSON, an unknown type, or unknown or invalid fields are answered with Twilio's error 64107. */
  const receive = (text: string): void => {
    const message = decode(text)
    if (Result.isSuccess(message)) {
      invalidMessages = 0
      return handle(message.success)
    }
    invalidMessages += 1
    log("invalid relay message", { message: text.slice(0, 1_000) })
    send({ type: "error", description: `Invalid message received, code: 64107, ${text}` })
    if (invalidMessages >= invalidMessagesMax) {
      const failure = { _tag: "Failed", code: 64_105, message: "Websocket ended" } as const
      finish(failure, 1_007, "Too many consecutive malformed messages.")
    }
  }
  return { output: { say, press, interrupt }, receive }
}
