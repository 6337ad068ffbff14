import { type ApiError, type Operation, ServiceUnavailable, takesBody } from "@agentos/api"
import { type CatalogEntry, isAvailable, type OperationName } from "@agentos/core"
import { Effect, Schema } from "effect"
import type { HttpServerResponse } from "effect/http"
import { bodyLimitsOf } from "../edge/RequestLimits.ts"
import { type Route, RouteMatch } from "../edge/Routing.ts"
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
  const { json } = bodyLimitsOf(operation)
  return Effect.fnUntraced(function* ({ lengthBytes, take }: RequestBody) {
    const { params, query } = yield* RouteMatch
    const isLeftOut = lengthBytes === 0 && !takesBody(operation)
    const input: OperationInput<Params["Type"], Query["Type"], Payload["Type"]> = {
      params: yield* decodeParams(params),
      query: yield* decodeQuery(query),
      payload: yield* decodePayload(isLeftOut ? {} : yield* parseBody(take(), json))
    }
    return input
  })
}

/** The route of an operation. */
export const operationRoute = <R>(
  operation: Operation,
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R>
): Route<R> => {
  const { entry, name } = operation
  return {
    method: entry.method,
    path: entry.path,
    audience: "clients",
    isRateLimited: true,
    entry,
    operation: name,
    body: bodyLimitsOf(operation),
    handler
  }
}
