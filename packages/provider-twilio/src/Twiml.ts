/** What a call is connected with. */
export interface RelayConnection {
  /** The socket's address, with the token that lets it in once. */
  readonly relayUrl: string
  /** Asked how to go on when the session has ended or its socket has broken. */
  readonly actionUrl: string
  /** As RFC 5646 has it; Twilio's own default where it is null. */
  readonly language: string | null
  /** A voice of Twilio's; its own default where it is null. */
  readonly voice: string | null
  /** How long to wait before the socket is opened, in whole seconds; the caller hears nothing meanwhile. 0 unless given. */
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

/** A value of an attribute. What XML 1.0 can't hold in any form is left out. */
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
 * Answers the call, if it is not answered yet, and has ConversationRelay turn speech to text and back over a socket of
 * ours (https://www.twilio.com/docs/voice/twiml/connect/conversationrelay). It greets nobody: what is said first comes
 * over the socket, like all else, so that the transcript has it. Keys that are pressed are told. Nothing is recorded.
 */
export const connect = ({ actionUrl, language, relayUrl, voice, waitSeconds = 0 }: RelayConnection): string =>
  document(
    `${waitSeconds > 0 ? `<Pause length="${waitSeconds}"/>` : ""}<Connect${attribute("action", actionUrl)} method="POST"><ConversationRelay${attribute("url", relayUrl)}` +
      `${attribute("language", language)}${attribute("voice", voice)} dtmfDetection="true"/></Connect>`
  )

/** Lets a call that is not answered yet hear that the line is busy. It is never answered, and costs nobody. */
export const decline: string = document(`<Reject reason="busy"/>`)

/** Ends an answered call. One that is not answered would be: decline it. */
export const end: string = document("<Hangup/>")
