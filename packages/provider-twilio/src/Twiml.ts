export interface RelayConnection {
  /** The socket's URL, with the token that admits one connection. */
  readonly relayUrl: string
  /** Requested for the next step when the session has ended or its socket has failed. */
  readonly actionUrl: string
  /** A language tag of RFC 5646; null for Twilio's default. */
  readonly language: string | null
  /** A voice of Twilio; null for Twilio's default. */
  readonly voice: string | null
  /** The company whose voice it is. Default: Twilio's. */
  readonly vendor?: string | null | undefined
  /** Time before the socket is opened, in whole seconds; the caller hears silence meanwhile. Default: 0. */
  readonly waitSeconds?: number | undefined
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;"
}

/** Escapes the value of an attribute. Characters that XML 1.0 cannot represent are removed. */
const escape = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replace(/[&<>"'\t\n\r]/g, (character) => ENTITIES[character]!)

const attribute = (name: string, value: string | null): string => (value === null ? "" : ` ${name}="${escape(value)}"`)

const document = (inside: string): string => `<?xml version="1.0" encoding="UTF-8"?><Response>${inside}</Response>`

/** The content type of the documents. */
export const TWIML_TYPE = "text/xml; charset=utf-8"

/**
 * Answers the call if necessary, and has ConversationRelay convert speech to text and back over a socket of
 * this service (https://www.twilio.com/docs/voice/twiml/connect/conversationrelay). It has no greeting: the
 * first words are sent over the socket like all others, so that they are in the transcript. Pressed keys are
 * reported. Nothing is recorded.
 */
export const connect = ({
  actionUrl,
  language,
  relayUrl,
  vendor = null,
  voice,
  waitSeconds = 0
}: RelayConnection): string =>
  document(
    `${waitSeconds > 0 ? `<Pause length="${waitSeconds}"/>` : ""}<Connect${attribute("action", actionUrl)} method="POST"><ConversationRelay${attribute("url", relayUrl)}` +
      `${attribute("language", language)}${attribute("ttsProvider", vendor)}${attribute("voice", voice)} dtmfDetection="true"/></Connect>`
  )

/** Signals busy for a call that is not answered yet. The call is never answered, and costs nothing. */
export const decline: string = document(`<Reject reason="busy"/>`)

/** Ends an answered call. It would answer an unanswered one: use `decline` for that. */
export const end: string = document("<Hangup/>")
