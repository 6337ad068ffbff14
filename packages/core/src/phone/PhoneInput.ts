import { Schema } from "effect"
import { nameText, plainText } from "../kernel/PlainText.ts"
import { GivenUuid } from "../kernel/Uuid.ts"
import { E164 } from "./PhoneNumber.ts"

const NAME_LIMIT = 128
const URL_LIMIT = 2_048
const TEXT_LIMIT = 1_000
/** RFC 5646, section 4.4.1: the buffer length for a language tag. */
const LANGUAGE_LIMIT = 35

const text = Schema.optionalKey(plainText(TEXT_LIMIT))

/** A public https URL. Whether it is public is checked when it is set and on each connection. */
const HttpsUrl = plainText(URL_LIMIT)
  .check(
    Schema.isPattern(/^https:\/\//u, { expected: "a URL that begins with https://" }),
    Schema.makeFilter((url: string) => URL.canParse(url) || "must be a valid URL")
  )
  .annotate({ format: "uri" })

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

export const PurchaseNumberInput = Schema.Struct({
  agentName: nameText(NAME_LIMIT).check(Schema.isMinLength(1)),
  agentWebhookUrl: HttpsUrl,
  areaCode: Schema.optionalKey(AreaCode),
  description: text,
  beginMessage: text,
  voice: Schema.optionalKey(plainText(NAME_LIMIT)),
  language: Schema.optionalKey(LanguageTag)
}).annotate({ identifier: "PurchaseNumberInput" })
export type PurchaseNumberInput = typeof PurchaseNumberInput.Type

export const NumberIdInput = Schema.Struct({ phoneNumberId: GivenUuid }).annotate({ identifier: "NumberIdInput" })
export type NumberIdInput = typeof NumberIdInput.Type

export const PlaceCallInput = Schema.Struct({
  phoneNumberId: GivenUuid,
  toNumber: E164,
  initialGreeting: text
}).annotate({ identifier: "PlaceCallInput" })
export type PlaceCallInput = typeof PlaceCallInput.Type

export const CallIdInput = Schema.Struct({ callId: GivenUuid }).annotate({ identifier: "CallIdInput" })
export type CallIdInput = typeof CallIdInput.Type

/** The number to release, with an explicit confirmation. */
export const ReleaseNumberInput = Schema.Struct({
  phoneNumberId: GivenUuid,
  confirmRelease: Schema.Literal(true)
}).annotate({ identifier: "ReleaseNumberInput" })
export type ReleaseNumberInput = typeof ReleaseNumberInput.Type
