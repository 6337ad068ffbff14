import { Schema } from "effect"
import { nameText, plainText } from "../kernel/PlainText.ts"
import { GivenUuid } from "../kernel/Uuid.ts"
import { E164 } from "./PhoneNumber.ts"

const NAME_LIMIT = 128
const URL_LIMIT = 2_048
const TEXT_LIMIT = 1_000
/** RFC 5646, section 4.4.1: the buffer length for a language tag. */
const LANGUAGE_LIMIT = 35

/** A public https URL. Whether it is public is checked when it is set and on each connection. */
const HttpsUrl = plainText(URL_LIMIT).check(
  Schema.isPattern(/^https:\/\//u, { expected: "a URL that begins with https://" }),
  Schema.makeFilter((url: string) => URL.canParse(url) || "must be a valid URL that begins with https://")
)

/**
 * A language tag (RFC 5646, section 2.1). Only its form is checked: a carrier ends calls whose language tag it can't
 * parse. An empty text means no language.
 */
const LanguageTag = plainText(LANGUAGE_LIMIT).check(
  Schema.isPattern(/^(?:[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)?$/u, { expected: "a language tag, for example en-US" })
)

const AreaCode = Schema.String.check(
  Schema.isPattern(/^[0-9]{3}$/u, { expected: "an area code of 3 digits, for example 415" })
)

const phoneNumberId = GivenUuid.annotateKey({
  description: "Id of your number.",
  examples: ["019ab1c8-8d52-7a44-9f0b-7f2f7a6a3d20"]
})

export const PurchaseNumberInput = Schema.Struct({
  agentName: nameText(NAME_LIMIT)
    .check(Schema.isMinLength(1))
    .annotateKey({ description: "Name of the agent that answers the number.", examples: ["Ada"] }),
  agentWebhookUrl: HttpsUrl.annotateKey({
    description:
      "URL that receives what callers say and returns the agent's replies: https on port 443 of a public host. An agent without one answers over its realtime socket, and gives a host under .invalid.",
    format: "uri",
    examples: ["https://agent.example.com/voice"]
  }),
  areaCode: Schema.optionalKey(AreaCode).annotateKey({
    description: "Preferred area code, three digits.",
    examples: ["415"]
  }),
  description: Schema.optionalKey(plainText(TEXT_LIMIT)).annotateKey({
    description: "Your note about the number.",
    examples: ["Support line"]
  }),
  beginMessage: Schema.optionalKey(plainText(TEXT_LIMIT)).annotateKey({
    description: "Greeting that callers hear first.",
    examples: ["Hello, this is Ada."]
  }),
  voice: Schema.optionalKey(plainText(NAME_LIMIT)).annotateKey({
    description: "Voice that speaks the agent's replies, one of GET /api/v1/phone/voices.",
    examples: ["en-US-Chirp3-HD-Kore"]
  }),
  language: Schema.optionalKey(LanguageTag).annotateKey({
    description: "Language of the calls as a BCP 47 tag, one of GET /api/v1/phone/voices.",
    examples: ["en-US"]
  })
}).annotate({ identifier: "PurchaseNumberInput" })
export type PurchaseNumberInput = typeof PurchaseNumberInput.Type

export const NumberIdInput = Schema.Struct({ phoneNumberId }).annotate({ identifier: "NumberIdInput" })
export type NumberIdInput = typeof NumberIdInput.Type

export const PlaceCallInput = Schema.Struct({
  phoneNumberId,
  toNumber: E164.annotateKey({ description: "Number to call, in E.164 format.", examples: ["+14155550150"] }),
  initialGreeting: Schema.optionalKey(plainText(TEXT_LIMIT)).annotateKey({
    description: "Greeting that the called person hears first.",
    examples: ["Hello, this is Ada."]
  })
}).annotate({ identifier: "PlaceCallInput" })
export type PlaceCallInput = typeof PlaceCallInput.Type

export const CallIdInput = Schema.Struct({
  callId: GivenUuid.annotateKey({
    description: "Id of your call.",
    examples: ["019ab1cb-1c5d-7f39-8f6f-02a8a0c1d9b4"]
  })
}).annotate({ identifier: "CallIdInput" })
export type CallIdInput = typeof CallIdInput.Type

/** The number to release, with an explicit confirmation. */
export const ReleaseNumberInput = Schema.Struct({
  phoneNumberId,
  confirmRelease: Schema.Literal(true).annotateKey({
    description: "Must be true. A release can't be undone.",
    examples: [true]
  })
}).annotate({ identifier: "ReleaseNumberInput" })
export type ReleaseNumberInput = typeof ReleaseNumberInput.Type
