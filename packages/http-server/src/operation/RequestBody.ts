import { BodyTooLarge } from "@agentos/api"
import { InvalidRequest } from "@agentos/core"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, HttpServerRequest } from "effect/http"
import { createHash } from "node:crypto"
import { bodyLimitOf, pathOf } from "../edge/RequestLimits.ts"

/** A body as it came, byte for byte. */
export interface RequestBody {
  readonly bytes: Uint8Array
  /** SHA-256 of the bytes, in hex: what a payment is bound to. */
  readonly hash: string
}

const unreadable = new InvalidRequest({
  message: "The body could not be read to its end.",
  issues: [{ path: "", message: "could not be read" }]
})

/** Reads the body of the request, at once or never: no further than its path allows. */
export const readBody: Effect.Effect<RequestBody, BodyTooLarge | InvalidRequest, HttpServerRequest.HttpServerRequest> =
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const limitBytes = bodyLimitOf(pathOf(request.url))
    const buffer = yield* request.arrayBuffer.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limitBytes)),
      Effect.mapError(({ reason }) =>
        reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
          ? new BodyTooLarge({ limitBytes })
          : unreadable
      )
    )
    const bytes = new Uint8Array(buffer)
    return { bytes, hash: createHash("sha256").update(bytes).digest("hex") }
  })

/** What a request that has no body is read as. */
export const NO_BODY: RequestBody = { bytes: new Uint8Array(0), hash: createHash("sha256").digest("hex") }
