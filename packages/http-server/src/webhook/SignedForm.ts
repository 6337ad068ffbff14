import { TwilioSignature } from "@agentos/provider-twilio"
import { Effect, Option, type Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { readBody } from "../operation/RequestBody.ts"
import { ServerSettings } from "../ServerSettings.ts"

const decoder = new TextDecoder()

/** Maximum number of fields of a form. The carrier sends about thirty. */
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
 * Returns the form of a request, if the carrier has signed it for this exact URL: the configured public URL, with path
 * and query as received. Without a signature, the body is not read.
 */
export const signedForm = (authToken: Redacted.Redacted) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { publicUrl } = yield* ServerSettings
    const signature = request.headers[TwilioSignature.SIGNATURE_HEADER]
    if (signature === undefined) return Option.none()
    const { bytes } = yield* readBody
    if (hasTooManyFields(bytes)) return Option.none()
    const form = new URLSearchParams(decoder.decode(bytes))
    return TwilioSignature.verify(authToken, `${publicUrl}${request.url}`, form, signature)
      ? Option.some(form)
      : Option.none()
  })
