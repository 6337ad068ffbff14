import { inputsOf, type ApiOperation, requiresBody, ServiceUnavailable } from "@agentos/api"
import { type CatalogEntry, type InvalidRequest, isAvailable } from "@agentos/core"
import { Effect, Schema } from "effect"
import { bodyLimitsOf } from "../edge/RequestLimits.ts"
import { type Handler, RequestRecord, type Route } from "../edge/Route.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { decodeInput, parseBody, refusal } from "./Decoding.ts"
import type { RequestBody } from "./RequestBody.ts"

/** The decoded input of a request for an operation. */
export interface OperationInput<Operation extends ApiOperation> {
  readonly params: Operation["params"]["Type"]
  readonly query: Operation["query"]["Type"]
  readonly payload: Operation["payload"]["Type"]
}

/** Fails unless this server offers the operation. */
export const requireAvailable = (entry: CatalogEntry): Effect.Effect<void, ServiceUnavailable, ServerSettings> =>
  Effect.flatMap(ServerSettings, ({ capabilities }) =>
    isAvailable(entry, capabilities)
      ? Effect.void
      : Effect.fail(new ServiceUnavailable({ ever: entry.capability !== "never" }))
  )

type Texts = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/**
 * Adds to a decoder of texts the rule that the integers among them are written in digits. The codec accepts everything
 * that JavaScript converts, such as `1e2`, `+5`, `0x10` and ` 5`.
 */
const inDigits =
  <A>(decode: (texts: Texts) => Effect.Effect<A, InvalidRequest>, integers: ReadonlyArray<string>) =>
  (texts: Texts): Effect.Effect<A, InvalidRequest> => {
    const flaws = integers.flatMap((path) => {
      const text = texts[path]
      return typeof text !== "string" || /^[0-9]+$/.test(text)
        ? []
        : [{ path, message: "must be an integer, written in digits" }]
    })
    if (flaws.length === 0) return decode(texts)
    return Effect.matchEffect(decode(texts), {
      onFailure: ({ issues }) => {
        const others = issues.filter(({ path }) => !flaws.some((flaw) => flaw.path === path))
        return Effect.fail(refusal([...flaws, ...others]))
      },
      onSuccess: () => Effect.fail(refusal(flaws))
    })
  }

export const isEmpty = (input: object): boolean => {
  for (const _ in input) return false
  return true
}

/** Decodes an input without properties once: most requests have no parameters or no query, and their result never differs. */
const decodingEmptyOnce = <Given extends object, A>(decode: (input: Given) => Effect.Effect<A, InvalidRequest>) => {
  let ofEmpty: Effect.Effect<A, InvalidRequest> | undefined
  return (input: Given): Effect.Effect<A, InvalidRequest> => {
    if (!isEmpty(input)) return decode(input)
    return (
      ofEmpty ??
      Effect.map(decode(input), (decoded) => {
        ofEmpty = Effect.succeed(decoded)
        return decoded
      })
    )
  }
}

/**
 * Returns the decoder of an operation's complete input, which is built once, on the first request. A missing body is an
 * empty object if the operation has no body or requires nothing in it.
 */
export const inputDecoder = <Operation extends ApiOperation>(operation: Operation) => {
  type Input = OperationInput<Operation>
  const build = () => {
    const decodePayload = decodeInput<Input["payload"]>(operation.payload)
    const integers = inputsOf(operation).flatMap(({ name, type }) => (type === "integer" ? [name] : []))
    return {
      decodeParams: decodingEmptyOnce(
        inDigits(decodeInput<Input["params"]>(Schema.toCodecStringTree(operation.params), "path parameter"), integers)
      ),
      decodeQuery: decodingEmptyOnce(
        inDigits(decodeInput<Input["query"]>(Schema.toCodecStringTree(operation.query), "query parameter"), integers)
      ),
      decodePayload,
      decodeMissingPayload: decodingEmptyOnce(decodePayload),
      mayLeaveOutBody: !requiresBody(operation),
      json: bodyLimitsOf(operation).json
    }
  }
  let built: ReturnType<typeof build> | undefined
  return Effect.fnUntraced(function* (body: RequestBody) {
    const { decodeMissingPayload, decodeParams, decodePayload, decodeQuery, json, mayLeaveOutBody } = (built ??=
      build())
    const { params, query } = (yield* RequestRecord).match
    const isLeftOut = body.lengthBytes === 0 && mayLeaveOutBody
    const input: Input = {
      params: yield* decodeParams(params),
      query: yield* decodeQuery(query),
      payload: isLeftOut ? yield* decodeMissingPayload({}) : yield* decodePayload(yield* parseBody(body, json))
    }
    return input
  })
}

export const operationRoute = <R = never>(operation: ApiOperation, handler: Handler<R>): Route<R> => {
  const { entry, name } = operation
  return {
    method: entry.method,
    path: entry.path,
    audience: "clients",
    isRateLimited: true,
    entry,
    operation: name,
    // Only when a request needs them: the schemas of all operations take a twentieth of the start of a server.
    get body() {
      return bodyLimitsOf(operation)
    },
    handler
  }
}
