import { SaxesParser } from "saxes"

const interruptibles = ["none", "dtmf", "speech", "any"] as const

/** The input that interrupts speech. `true` and `false` of older documents mean `any` and `none`. */
export type Interruptible = (typeof interruptibles)[number]
type InterruptibleAttribute = Interruptible | "true" | "false"

/** The attributes of a `<ConversationRelay>` that have an effect without sound. */
export interface RelaySettings {
  /** The URL of the application's WebSocket, unchanged, because the signature covers it. */
  readonly url: string
  readonly welcomeGreeting: string | undefined
  readonly welcomeGreetingInterruptible: Interruptible
  readonly interruptible: Interruptible
  /** If false, pressed keys are not reported. */
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

/** An invalid or unsupported document, with a code of Twilio's error dictionary. */
export class TwimlError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** The attributes of https://www.twilio.com/docs/voice/twiml/connect/conversationrelay. Most affect only sound. */
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
 * Parses the supported part of TwiML: Say, Pause, Hangup, Reject, and Connect with a ConversationRelay. Fails with
 * `TwimlError` for everything else, Record included. Twilio would log a warning and continue, which a test might miss.
 */
export const readTwiml = (text: string): ReadonlyArray<Verb> => {
  const response = parseXml(text)
  if (response.name !== "Response")
    throw new TwimlError(12_100, `the root element is <${response.name}>, not <Response>`)
  return elementsOf(response).map(readVerb)
}

const invalid = (message: string): TwimlError => new TwimlError(12_200, message)

const elementsOf = (element: XmlElement): ReadonlyArray<XmlElement> =>
  element.children.flatMap((child) => {
    if (typeof child !== "string") return [child]
    if (child.trim() !== "") throw invalid(`<${element.name}> must not contain text`)
    return []
  })

const checkAttributes = (element: XmlElement, names: ReadonlyArray<string>): void => {
  const unknown = Object.keys(element.attributes).filter((name) => !names.includes(name))
  if (unknown.length > 0) throw invalid(`unsupported attribute of <${element.name}>: ${unknown.join(", ")}`)
}

const checkEmpty = (element: XmlElement): void => {
  if (elementsOf(element).length > 0) throw invalid(`<${element.name}> must be empty`)
}

const readVerb = (element: XmlElement): Verb => {
  switch (element.name) {
    case "Say":
      return readSay(element)
    case "Pause":
      checkAttributes(element, ["length"])
      checkEmpty(element)
      return { _tag: "Pause", seconds: readSeconds(element.attributes["length"] ?? "1") }
    case "Hangup":
      checkAttributes(element, [])
      checkEmpty(element)
      return { _tag: "Hangup" }
    case "Reject":
      checkAttributes(element, ["reason"])
      checkEmpty(element)
      return { _tag: "Reject", reason: readOneOf(element, "reason", ["rejected", "busy"], "rejected") }
    case "Connect":
      return readConnect(element)
    default:
      throw invalid(`<${element.name}> is not supported`)
  }
}

const readSay = (element: XmlElement): Verb => {
  checkAttributes(element, ["voice", "language", "loop"])
  const words = element.children.map((child) => {
    if (typeof child !== "string") throw invalid(`<${child.name}> in <Say> is not supported`)
    return child
  })
  return { _tag: "Say", text: words.join("").trim() }
}

const readConnect = (element: XmlElement): Verb => {
  checkAttributes(element, ["action", "method"])
  const [relay, ...more] = elementsOf(element)
  if (relay?.name !== "ConversationRelay" || more.length > 0) {
    throw invalid("<Connect> must contain exactly one <ConversationRelay>")
  }
  return {
    _tag: "Connect",
    action: element.attributes["action"],
    method: readOneOf(element, "method", ["GET", "POST"], "POST"),
    relay: readRelay(relay)
  }
}

const readRelay = (element: XmlElement): RelaySettings => {
  checkAttributes(element, relayAttributes)
  const { language, url, welcomeGreeting } = element.attributes
  const address = url === undefined ? null : URL.parse(url)
  // Twilio requires wss. The sandbox also accepts ws, because the connection does not leave the machine.
  if (url === undefined || address === null || !/^wss?:$/.test(address.protocol)) {
    throw invalid(`url of <ConversationRelay> must be a wss URL, but is ${url}`)
  }
  const parameters: Record<string, string> = {}
  for (const child of elementsOf(element)) {
    checkEmpty(child)
    if (child.name === "Language") checkAttributes(child, languageAttributes)
    else if (child.name === "Parameter") {
      checkAttributes(child, ["name", "value"])
      const { name, value } = child.attributes
      if (name === undefined || value === undefined) throw invalid("<Parameter> requires name and value")
      parameters[name] = value
    } else throw invalid(`<${child.name}> in <ConversationRelay> is not supported`)
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
  toInterruptible(readOneOf<InterruptibleAttribute>(element, name, [...interruptibles, "true", "false"], "any"))

/** Converts the older boolean values. */
export const toInterruptible = (value: InterruptibleAttribute | boolean): Interruptible => {
  if (value === "true" || value === true) return "any"
  return value === "false" || value === false ? "none" : value
}

const readOneOf = <Value extends string>(
  element: XmlElement,
  name: string,
  values: ReadonlyArray<Value>,
  defaultValue: Value
): Value => {
  const attribute = element.attributes[name]
  const match = attribute === undefined ? defaultValue : values.find((value) => value === attribute)
  if (match === undefined) throw invalid(`${name} of <${element.name}> must be one of ${values.join(", ")}`)
  return match
}

const readSeconds = (text: string): number => {
  if (!/^\d{1,5}$/.test(text)) throw invalid(`length of <Pause> must be an integer, but is ${text}`)
  return Number(text)
}

export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: ReadonlyArray<XmlElement | string>
}

type OpenElement = XmlElement & { readonly children: Array<XmlElement | string> }

const depthMax = 20

/** Parses an XML document. A document type, and with it custom entities, is rejected. Fails with `TwimlError`. */
export const parseXml = (text: string): XmlElement => {
  const parser = new SaxesParser()
  const fail = (message: string): never => {
    throw new TwimlError(12_100, `the document is not valid XML: ${message}`)
  }
  let root: XmlElement | undefined
  const open: Array<OpenElement> = []
  const addText = (content: string) => void open.at(-1)?.children.push(content)
  parser.on("error", (error) => fail(error.message))
  parser.on("doctype", () => fail("a document type is not allowed"))
  parser.on("text", addText)
  parser.on("cdata", addText)
  parser.on("opentag", ({ attributes, name }) => {
    const element: OpenElement = { name, attributes: { ...attributes }, children: [] }
    if (open.length >= depthMax) fail("the elements are nested too deeply")
    open.at(-1)?.children.push(element)
    root ??= element
    open.push(element)
  })
  parser.on("closetag", () => void open.pop())
  parser.write(text.trimStart()).close()
  return root ?? fail("the root element is missing")
}
