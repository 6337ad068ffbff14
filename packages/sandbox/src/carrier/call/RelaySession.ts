import { WebSocket } from "ws"
import { interruptibleOf, type RelaySettings } from "../twiml/Twiml.ts"
import type { PersonOnCall } from "./PersonOnCall.ts"
import {
  type ApplicationMessage,
  readApplicationMessage,
  type RelayMessage,
  type SetupMessage
} from "./RelayMessage.ts"

/** How a session of ConversationRelay ended. */
export type RelayEnd =
  /** The call ended, or was sent elsewhere. */
  | { readonly _tag: "Left" }
  /** The application ended it. */
  | { readonly _tag: "Ended"; readonly handoffData: string | undefined }
  /** With the code of Twilio's dictionary. */
  | { readonly _tag: "Failed"; readonly code: number; readonly message: string }

export interface RelayOptions {
  readonly settings: RelaySettings
  readonly setup: SetupMessage
  /** X-Twilio-Signature of the handshake. */
  readonly signature: string
  readonly person: PersonOnCall
  /** Aborted when the call ends or is sent elsewhere. */
  readonly signal: AbortSignal
  /** The socket is open and the setup sent. */
  readonly opened: () => void
  readonly note: (event: string, details: Readonly<Record<string, unknown>>) => void
}

const handshakeMillis = 5_000
/** A socket whose other side does not close it too is cut after this. */
const closeMillis = 1_000
const messageBytesMax = 64 * 1_024
/** Twilio closes the socket at so many messages in a row that it can't use. */
const malformedMax = 10

/**
 * Opens the application's socket and lets the person speak with it until one of both is gone. What ends how was seen on
 * the wire (github.com/ivy/thicket, docs/reference.md): Twilio closes with 1000; a socket that breaks, or that the
 * application closes without a message `end`, is 64105; one that never opens is 64102. Twilio does not connect again by
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
    let cut: NodeJS.Timeout | undefined
    const finish = (how: RelayEnd, code: number, reason: string): void => {
      end ??= how
      person.detach()
      socket.close(code, reason)
      cut ??= setTimeout(() => socket.terminate(), closeMillis)
    }
    const leave = () => finish({ _tag: "Left" }, 1_000, "Closing websocket session")
    const application = makeApplication(options, send, finish)

    socket.on("open", () => {
      isOpen = true
      send(options.setup)
      options.note("relay opened", { sessionId: options.setup.sessionId })
      options.opened()
      person.attach(application.mouth)
      const { welcomeGreeting, welcomeGreetingInterruptible } = settings
      if (welcomeGreeting !== undefined) person.hear(welcomeGreeting, true, welcomeGreetingInterruptible)
    })
    socket.on("message", (data, isBinary) => {
      if (end === undefined) application.receive(isBinary ? "" : (data as Buffer).toString())
    })
    socket.on("error", (error) => options.note("relay error", { message: error.message }))
    socket.on("close", (code) => {
      clearTimeout(cut)
      signal.removeEventListener("abort", leave)
      person.detach()
      const broken = isOpen
        ? { code: 64_105, message: "Websocket ended" }
        : { code: 64_102, message: "Unable to connect to websocket URL" }
      const ended: RelayEnd = end ?? { _tag: "Failed", ...broken }
      options.note("relay closed", { closeCode: code, ...ended, _tag: undefined, how: ended._tag })
      resolve(ended)
    })
    signal.addEventListener("abort", leave, { once: true })
    if (signal.aborted) leave()
  })

/** What the application hears and says, apart from how its socket is held. */
const makeApplication = (
  { note, person, settings }: RelayOptions,
  send: (message: RelayMessage) => void,
  finish: (how: RelayEnd, code: number, reason: string) => void
) => {
  let language = settings.language
  let malformed = 0

  const say = (text: string): void => {
    const words = text.split(" ")
    const half = words.slice(0, Math.ceil(words.length / 2)).join(" ")
    if (settings.partialPrompts) send({ type: "prompt", voicePrompt: half, lang: language, last: false })
    send({ type: "prompt", voicePrompt: text, lang: language, last: true })
  }
  const press = (keys: string): void => {
    if (!settings.dtmfDetection) return note("keys not told", { keys, because: "dtmfDetection is off" })
    for (const digit of keys) send({ type: "dtmf", digit })
  }
  const interrupt = (heard: string, millis: number): void =>
    send({ type: "interrupt", utteranceUntilInterrupt: heard, durationUntilInterruptMs: millis })

  const act = (message: ApplicationMessage): void => {
    switch (message.type) {
      case "text":
      case "play": {
        const interruptible = interruptibleOf(message.interruptible ?? settings.interruptible)
        if (message.type === "text") return person.hear(message.token, message.last ?? false, interruptible)
        return person.hear(`[sound of ${message.source}]`, true, interruptible)
      }
      case "sendDigits":
        return person.overhear(`[keys ${message.digits}]`)
      case "language":
        language = message.transcriptionLanguage ?? language
        return note("language", { ...message, type: undefined })
      case "end":
        return finish({ _tag: "Ended", handoffData: message.handoffData }, 1_000, "Closing websocket session")
    }
  }
  const receive = (text: string): void => {
    const message = readApplicationMessage(text)
    if (message !== undefined) {
      malformed = 0
      return act(message)
    }
    malformed += 1
    note("invalid relay message", { message: text.slice(0, 1_000) })
    send({ type: "error", description: `Invalid message received, code: 64107, ${text}` })
    if (malformed >= malformedMax) {
      const failed = { _tag: "Failed", code: 64_105, message: "Websocket ended" } as const
      finish(failed, 1_007, "Too many consecutive malformed messages.")
    }
  }
  return { mouth: { say, press, interrupt }, receive }
}
