import { type ApiError, InternalError, type Operation, routerPath, ServiceUnavailable, takesBody } from "@agentos/api"
import { type CatalogEntry, isAvailable, type OperationName } from "@agentos/core"
import { Cause, Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { errorResponse } from "../edge/ErrorResponse.ts"
import { jsonBudgetOf } from "../edge/RequestLimits.ts"
import { RequestRecord } from "../edge/RequestRecord.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { decodeInput, parseBody } from "./Decoding.ts"
import type { RequestBody } from "./RequestBody.ts"

type AnyCodec = Schema.Codec<unknown, unknown>

/** The decoded input of a request. */
export interface OperationInput<Params, Query, Payload> {
  readonly params: Params
  readonly query: Query
  readonly payload: Payload
}

/** Fails unless this server offers the operation. */
export const requireAvailable = (entry: CatalogEntry): Effect.Effect<void, ServiceUnavailable, ServerSettings> =>
  Effect.flatMap(ServerSettings, ({ capabilities }) =>
    isAvailable(entry, capabilities)
      ? Effect.void
      : Effect.fail(new ServiceUnavailable({ ever: entry.capability !== "never" }))
  )

/**
 * Returns the decoder of an operation's complete input, which is built once. An operation without a body accepts an
 * empty object.
 */
export const inputDecoder = <
  Params extends AnyCodec,
  Query extends AnyCodec,
  Payload extends AnyCodec,
  Data extends AnyCodec
>(
  operation: Operation<OperationName, Params, Query, Payload, Data>
) => {
  const decodeParams = decodeInput<Params["Type"]>(Schema.toCodecStringTree(operation.params), "path parameter")
  const decodeQuery = decodeInput<Query["Type"]>(Schema.toCodecStringTree(operation.query), "query parameter")
  const decodePayload = decodeInput<Payload["Type"]>(operation.payload)
  const budget = jsonBudgetOf(operation.entry.path)
  return Effect.fnUntraced(function* ({ bytes }: RequestBody) {
    const { params } = yield* HttpRouter.RouteContext
    const search = yield* HttpServerRequest.ParsedSearchParams
    const isLeftOut = bytes.length === 0 && !takesBody(operation)
    const input: OperationInput<Params["Type"], Query["Type"], Payload["Type"]> = {
      params: yield* decodeParams(params),
      query: yield* decodeQuery(search),
      payload: yield* decodePayload(isLeftOut ? {} : yield* parseBody(bytes, budget))
    }
    return input
  })
}

/**
 * The route of an operation. Every failure becomes the operation's error response, which states the payment's state.
 */
export const operationRoute = <R>(
  { entry, name }: Operation,
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R>
) =>
  HttpRouter.route(
    entry.method,
    routerPath(entry),
    Effect.gen(function* () {
      const record = yield* RequestRecord
      record.operation = name
      return yield* handler.pipe(
        Effect.catch((error) => errorResponse(error, entry)),
        Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : failure(entry, cause)))
      )
    })
  )

const failure = Effect.fnUntraced(function* (entry: CatalogEntry, cause: Cause.Cause<never>) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  yield* Effect.logError("operation failed", cause)
  return yield* errorResponse(
    new InternalError({ withPayment: entry.price !== null && headers["payment-signature"] !== undefined }),
    entry
  )
})
