import { readXml, type XmlElement, XmlError } from "./Xml.ts"

const interruptibles = ["none", "dtmf", "speech", "any"] as const

/** What interrupts speech. `true` and `false` of older documents are `any` and `none`. */
export type Interruptible = (typeof interruptibles)[number]
type WrittenInterruptible = Interruptible | "true" | "false"

/** What a `<ConversationRelay>` asks for, as far as it can be seen without sound. */
export interface RelaySettings {
  /** The address of the application's WebSocket, exactly as it was written: it is signed. */
  readonly url: string
  readonly welcomeGreeting: string | undefined
  readonly welcomeGreetingInterruptible: Interruptible
  readonly interruptible: Interruptible
  /** Without it pressed keys are not told. */
  readonly dtmfDetection: boolean
  readonly partialPrompts: boolean
  readonly language: string
  readonly parameters: Readonly<Record<string, string>>
}

export type Verb =
  | { readonly _tag: "Say"; readonly text: string }
  | { readonly _tag: "Pause"; readonly seconds: number }
  | { readonly _tag: "Hangup" }
  | { readonly _tag: "Reject"; readonly reason: "rejected" | "busy" }
  | {
      readonly _tag: "Connect"
      readonly action: string | undefined
      readonly method: "GET" | "POST"
      readonly relay: RelaySettings
    }

/** A document that can't be carried out, with the code of Twilio's dictionary. */
export class TwimlError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** The attributes of https://www.twilio.com/docs/voice/twiml/connect/conversationrelay. Most only change the sound. */
const relayAttributes = [
  "url",
  "welcomeGreeting",
  "welcomeGreetingInterruptible",
  "language",
  "ttsLanguage",
  "ttsProvider",
  "voice",
  "transcriptionLanguage",
  "transcriptionProvider",
  "speechModel",
  "interruptible",
  "interruptSensitivity",
  "dtmfDetection",
  "reportInputDuringAgentSpeech",
  "ignoreBackchannel",
  "preemptible",
  "hints",
  "partialPrompts",
  "profanityFilter",
  "deepgramSmartFormat",
  "speechTimeout",
  "eotThreshold",
  "elevenlabsTextNormalization",
  "events",
  "debug",
  "intelligenceService",
  "conversationConfiguration"
]
const languageAttributes = [
  "code",
  "ttsProvider",
  "voice",
  "transcriptionProvider",
  "speechModel",
  "transcriptionLanguage",
  "ttsLanguage"
]

/**
 * Reads the part of TwiML that this carrier carries out: Say, Pause, Hangup, Reject, and Connect with a
 * ConversationRelay. Everything else, Record among it, is refused, where Twilio would warn and go on: a test is to see
 * it. Fails with a `TwimlError`.
 */
export const readTwiml = (text: string): ReadonlyArray<Verb> => {
  const response = readDocument(text)
  if (response.name !== "Response") throw new TwimlError(12_100, `the document is a <${response.name}>, no <Response>`)
  return elementsOf(response).map(readVerb)
}

const readDocument = (text: string): XmlElement => {
  try {
    return readXml(text)
  } catch (error) {
    if (error instanceof XmlError) throw new TwimlError(12_100, `the document can't be read: ${error.message}`)
    throw error
  }
}

const refuse = (message: string): TwimlError => new TwimlError(12_200, message)

const elementsOf = (element: XmlElement): ReadonlyArray<XmlElement> =>
  element.children.flatMap((child) => {
    if (typeof child !== "string") return [child]
    if (child.trim() !== "") throw refuse(`text directly in <${element.name}>`)
    return []
  })

const known = (element: XmlElement, names: ReadonlyArray<string>): void => {
  const unknown = Object.keys(element.attributes).filter((name) => !names.includes(name))
  if (unknown.length > 0) throw refuse(`<${element.name}> has no attribute ${unknown.join(", ")} here`)
}

const childless = (element: XmlElement): void => {
  if (elementsOf(element).length > 0) throw refuse(`<${element.name}> holds nothing`)
}

const readVerb = (element: XmlElement): Verb => {
  switch (element.name) {
    case "Say":
      return readSay(element)
    case "Pause":
      known(element, ["length"])
      childless(element)
      return { _tag: "Pause", seconds: readSeconds(element.attributes["length"] ?? "1") }
    case "Hangup":
      known(element, [])
      childless(element)
      return { _tag: "Hangup" }
    case "Reject":
      known(element, ["reason"])
      childless(element)
      return { _tag: "Reject", reason: readOneOf(element, "reason", ["rejected", "busy"], "rejected") }
    case "Connect":
      return readConnect(element)
    default:
      throw refuse(`<${element.name}> is not carried out here`)
  }
}

const readSay = (element: XmlElement): Verb => {
  known(element, ["voice", "language", "loop"])
  const words = element.children.map((child) => {
    if (typeof child !== "string") throw refuse(`<Say> with <${child.name}> is not carried out here`)
    return child
  })
  return { _tag: "Say", text: words.join("").trim() }
}

const readConnect = (element: XmlElement): Verb => {
  known(element, ["action", "method"])
  const [relay, ...more] = elementsOf(element)
  if (relay?.name !== "ConversationRelay" || more.length > 0) {
    throw refuse("<Connect> is carried out with one <ConversationRelay> alone")
  }
  return {
    _tag: "Connect",
    action: element.attributes["action"],
    method: readOneOf(element, "method", ["GET", "POST"], "POST"),
    relay: readRelay(relay)
  }
}

const readRelay = (element: XmlElement): RelaySettings => {
  known(element, relayAttributes)
  const { language, url, welcomeGreeting } = element.attributes
  const address = url === undefined ? null : URL.parse(url)
  // Twilio takes wss alone. On one machine there is no wire to be listened to.
  if (url === undefined || address === null || !/^wss?:$/.test(address.protocol)) {
    throw refuse(`<ConversationRelay> needs a url of the scheme wss: ${url}`)
  }
  const parameters: Record<string, string> = {}
  for (const child of elementsOf(element)) {
    childless(child)
    if (child.name === "Language") known(child, languageAttributes)
    else if (child.name === "Parameter") {
      known(child, ["name", "value"])
      const { name, value } = child.attributes
      if (name === undefined || value === undefined) throw refuse("<Parameter> needs name and value")
      parameters[name] = value
    } else throw refuse(`<ConversationRelay> holds no <${child.name}>`)
  }
  return {
    url,
    welcomeGreeting: welcomeGreeting === "" ? undefined : welcomeGreeting,
    welcomeGreetingInterruptible: readInterruptible(element, "welcomeGreetingInterruptible"),
    interruptible: readInterruptible(element, "interruptible"),
    dtmfDetection: readOneOf(element, "dtmfDetection", ["true", "false"], "false") === "true",
    partialPrompts: readOneOf(element, "partialPrompts", ["true", "false"], "false") === "true",
    language: element.attributes["transcriptionLanguage"] ?? language ?? "en-US",
    parameters
  }
}

const readInterruptible = (element: XmlElement, name: string): Interruptible =>
  interruptibleOf(readOneOf<WrittenInterruptible>(element, name, [...interruptibles, "true", "false"], "any"))

/** The meaning of the older truth values. */
export const interruptibleOf = (value: WrittenInterruptible | boolean): Interruptible => {
  if (value === "true" || value === true) return "any"
  return value === "false" || value === false ? "none" : value
}

const readOneOf = <Value extends string>(
  element: XmlElement,
  name: string,
  values: ReadonlyArray<Value>,
  absent: Value
): Value => {
  const given = element.attributes[name]
  const found = given === undefined ? absent : values.find((value) => value === given)
  if (found === undefined) throw refuse(`${name} of <${element.name}> must be one of ${values.join(", ")}`)
  return found
}

const readSeconds = (text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw refuse(`<Pause> needs a length in whole seconds: ${text}`)
  return Number(text)
}
