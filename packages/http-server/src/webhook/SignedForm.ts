import type { BodyTooLarge } from "@agentos/api"
import type { InvalidRequest } from "@agentos/core"
import { TwilioSignature } from "@agentos/provider-twilio"
import { Effect, Option, type Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { readBody } from "../operation/RequestBody.ts"
import { ServerSettings } from "../ServerSettings.ts"

const decoder = new TextDecoder()

/**
 * The form of a request, if the carrier has signed it for this very address: that of the configured public URL, with
 * path and query as they came. Who shows no signature has nothing read.
 */
export const signedForm = (
  authToken: Redacted.Redacted
): Effect.Effect<
  Option.Option<URLSearchParams>,
  BodyTooLarge | InvalidRequest,
  HttpServerRequest.HttpServerRequest | ServerSettings
> =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { publicUrl } = yield* ServerSettings
    const signature = request.headers[TwilioSignature.SIGNATURE_HEADER]
    if (signature === undefined) return Option.none()
    const form = new URLSearchParams(decoder.decode((yield* readBody).bytes))
    return TwilioSignature.verify(authToken, `${publicUrl}${request.url}`, form, signature)
      ? Option.some(form)
      : Option.none()
  })
