import { Unauthenticated, type IngressWebhookRequest } from "@agentos/core"
import { Effect, type Redacted } from "effect"
import * as TwilioSignature from "./TwilioSignature.ts"

/** The account whose forms are read. */
export interface SigningAccount {
  /** The account whose calls are served. */
  readonly accountSid: string
  /** The key of Twilio's signatures. */
  readonly authToken: Redacted.Redacted
  /** The secrets of the SharedKeys that may sign instead, at most `TwilioSignature.SHARED_KEYS_MAX`. Default: none. */
  readonly sharedKeys?: ReadonlyArray<Redacted.Redacted> | undefined
  /** The URL at which Twilio reaches this service, without a trailing slash. */
  readonly publicUrl: string
}

const decoder = new TextDecoder()

/** Maximum number of fields of a form. Twilio sends about thirty. */
const FIELDS_LIMIT = 200
const AMPERSAND = 0x26

/** Returns whether a form has too many fields. Counted before parsing, because any client can send a form. */
const hasTooManyFields = (bytes: Uint8Array): boolean => {
  let fields = 1
  for (const byte of bytes) {
    if (byte === AMPERSAND && ++fields > FIELDS_LIMIT) return true
  }
  return false
}

/**
 * Returns the form of a request that Twilio has signed for this exact URL: the public URL, with path and query as
 * received. Without a signature, the body is not read. A form about another account is refused, whoever signed it.
 */
export const readSignedForm = Effect.fnUntraced(function* <BodyError>(
  request: IngressWebhookRequest<BodyError>,
  { accountSid, authToken, publicUrl, sharedKeys = [] }: SigningAccount
): Effect.fn.Return<URLSearchParams, BodyError | Unauthenticated> {
  const signature = request.headers[TwilioSignature.SIGNATURE_HEADER]
  if (signature === undefined) return yield* new Unauthenticated()
  const bytes = yield* request.body
  if (hasTooManyFields(bytes)) return yield* new Unauthenticated()
  const form = new URLSearchParams(decoder.decode(bytes))
  const isSigned = TwilioSignature.verify(authToken, `${publicUrl}${request.target}`, form, signature, {
    header: request.headers[TwilioSignature.SETTINGS_HEADER],
    sharedKeys
  })
  const isOurs = form.getAll("AccountSid").every((sid) => sid === accountSid)
  return isSigned && isOurs ? form : yield* new Unauthenticated()
})
