import { type ApiError, type ApiOperation, type Bytes, CrossSiteSignIn } from "@agentos/api"
import {
  ClientAddress,
  type MessageContent,
  SettingName,
  type SignedIn,
  type Tenant,
  type TokenRecovery
} from "@agentos/core"
import { Effect, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { RateLimiting } from "../edge/RateLimiting.ts"
import { requestCost } from "../edge/RequestCost.ts"
import { admitWithin, type Handler, type RequestFacts, RequestRecord, type RouteMatch } from "../edge/Route.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { findTenant, requireTenant } from "./Caller.ts"
import { downloadResponse } from "./DownloadResponse.ts"
import { NewWork } from "./NewWork.ts"
import { inputDecoder, isEmpty, type OperationInput, operationRoute, requireAvailable } from "./OperationRoute.ts"
import { NO_BODY, readBody } from "./RequestBody.ts"
import { successResponse, withinDeadline } from "./Responses.ts"

/** The result of an operation, as sent to the client. */
type DataOf<Operation extends ApiOperation> = Operation["data"]["Encoded"]

/** The result of an operation that replaced a resource instead of creating one. */
export class Replaced<Data> {
  readonly data: Data

  constructor(data: Data) {
    this.data = data
  }
}

/**
 * A free operation of a tenant. Checks that the service is available, then the token, then the input, and then calls
 * the domain. `additionalCost` is taken from the limit of the tenant before that.
 */
export const tenantRoute = <Operation extends ApiOperation, R>(
  operation: Operation,
  handle: (
    tenant: Tenant,
    input: OperationInput<Operation>
  ) => Effect.Effect<DataOf<Operation> | Replaced<DataOf<Operation>>, ApiError, R>,
  additionalCost = 0
) => {
  const check = tenantChecks(operation, additionalCost)
  // A read is a few statements, each of which has its own time.
  const bounded = operation.entry.method === "GET" ? "admit" : "limit"
  return operationRoute(operation, (_, { requestId }) =>
    Effect.map(
      Effect.flatMap(check, ({ input, tenant }) =>
        Effect.flatMap(NewWork, (work) => work[bounded](handle(tenant, input)))
      ),
      (result) =>
        result instanceof Replaced
          ? successResponse(
              { ...operation, status: operation.replacedStatus ?? operation.status },
              requestId,
              result.data
            )
          : successResponse(operation, requestId, result)
    )
  )
}

/**
 * A free operation that a wallet signs in to. Without a signed message it returns the challenge, which only the same client
 * can answer. The limits of the address are checked before the signature, and those of the tenant before the message is
 * used.
 */
export const signInRoute = <Operation extends ApiOperation>(
  recovery: TokenRecovery["Service"],
  operation: Operation,
  handle: (signedIn: SignedIn, held: Tenant | null) => Effect.Effect<DataOf<Operation>, ApiError>
) => {
  const { entry } = operation
  const decode = inputDecoder(operation)
  return operationRoute(operation, (request, { requestId }) =>
    Effect.gen(function* () {
      const { publicUrl } = yield* ServerSettings
      yield* requireAvailable(entry)
      yield* refuseCrossSite(request)
      yield* decode(yield* readBody)
      const resource = { url: `${publicUrl}${entry.path}`, statement: entry.purpose }
      const requester = ClientAddress.clientOf(Option.getOrElse(request.remoteAddress, () => ""))
      const header = request.headers["sign-in-with-x"]
      if (header === undefined) return yield* recovery.challenge(resource, requester)
      const signedIn = yield* withinDeadline(recovery.signIn(resource, header, requester))
      yield* admit(signedIn.tenant)
      // A token that is no longer valid proves nothing, and must not keep the wallet from getting a new one.
      const held = Option.getOrNull(yield* Effect.option(findTenant))
      return successResponse(operation, requestId, yield* withinDeadline(handle(signedIn, held)))
    })
  )
}

/** A free operation of a tenant that returns stored bytes. */
export const downloadRoute = <Operation extends ApiOperation & { readonly data: Bytes }, R>(
  operation: Operation,
  open: (tenant: Tenant, input: OperationInput<Operation>) => Effect.Effect<MessageContent, ApiError, R>
) => {
  const answer = Effect.flatMap(tenantChecks(operation), ({ input, tenant }) =>
    Effect.flatMap(NewWork, ({ limit }) => Effect.flatMap(limit(open(tenant, input)), downloadResponse))
  )
  return operationRoute(operation, () => answer)
}

/** Checks that the service is available, then the token, then the input. */
const tenantChecks = <Operation extends ApiOperation>(operation: Operation, additionalCost = 0) => {
  const { entry } = operation
  const decode = inputDecoder(operation)
  return Effect.gen(function* () {
    const { capabilities } = yield* ServerSettings
    yield* requireAvailable(entry)
    const tenant = yield* requireTenant(entry, capabilities)
    yield* admit(tenant, additionalCost)
    return { tenant, input: yield* decode(entry.method === "POST" ? yield* readBody : NO_BODY) }
  })
}

/** An operation that needs no token. */
export const publicRoute = <Operation extends ApiOperation, R>(
  operation: Operation,
  answer: (
    input: OperationInput<Operation>,
    request: HttpServerRequest.HttpServerRequest,
    record: RequestFacts
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R>
) => {
  const decode = inputDecoder(operation)
  return operationRoute(operation, (request, record) =>
    Effect.flatMap(
      Effect.flatMap(operation.entry.method === "POST" ? readBody : Effect.succeed(NO_BODY), decode),
      (input) => answer(input, request, record)
    )
  )
}

/**
 * An operation that needs no token and whose answers are prepared. `find` returns the answer to the parameters of a path, or
 * an error. An error of the input comes first.
 */
export const preparedRoute = (
  operation: ApiOperation,
  find: (params: RouteMatch["params"]) => Handler<never> | ApiError
) => {
  const decode = inputDecoder(operation)
  return operationRoute(operation, (request, record) => {
    const { params, query } = record.match
    const found = find(params)
    if (typeof found !== "function") return Effect.andThen(decode(NO_BODY), Effect.fail(found))
    if (isEmpty(query)) return found(request, record)
    return Effect.flatMap(decode(NO_BODY), () => {
      const answer = found(request, record)
      return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
    })
  })
}

/** Records the tenant of the request, and fails if the tenant exceeds its rate limit. */
export const admit = Effect.fnUntraced(function* ({ tenantId }: Tenant, additionalCost = 0) {
  const record = yield* RequestRecord
  const { countTenant } = yield* RateLimiting
  record.tenantId = tenantId
  const cost = requestCost(yield* HttpServerRequest.HttpServerRequest) + additionalCost
  yield* admitWithin(yield* countTenant(tenantId, cost))
})

const LOOPBACK_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]"])

const hostOf = (origin: string): string | undefined => URL.parse(origin)?.host
const isLoopback = (origin: string): boolean => LOOPBACK_HOSTS.has(URL.parse(origin)?.hostname ?? "")

/**
 * Fails if a browser sends the request for a page of another site, which could hand the signature of its visitor over. Pages
 * of the configured origins may sign in, and in a sandbox those of this machine. A browser says which page it is by
 * Sec-Fetch-Site and Origin, which no page can change; other clients send neither.
 */
const refuseCrossSite = Effect.fnUntraced(function* ({ headers }: HttpServerRequest.HttpServerRequest) {
  const { environment, publicUrl, signInOrigins } = yield* ServerSettings
  const { origin, "sec-fetch-site": site } = headers
  const isCrossSite =
    site === undefined ? origin !== undefined && hostOf(origin) !== hostOf(publicUrl) : site === "cross-site"
  if (!isCrossSite) return
  if (origin !== undefined && (signInOrigins.includes(origin) || (environment === "sandbox" && isLoopback(origin))))
    return
  return yield* new CrossSiteSignIn({ publicUrl, setting: (yield* SettingName)("signInOrigins") })
})
