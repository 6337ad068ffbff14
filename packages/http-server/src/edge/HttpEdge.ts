import { type ApiError, InternalError, LIVE_PATH, MethodNotAllowed, READY_PATH, RouteUnknown } from "@agentos/api"
import { Uuid } from "@agentos/core"
import { Ingress } from "@agentos/ingress"
import { Cause, Clock, Effect, identity, Option } from "effect"
import { HttpMiddleware, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import { ServerSettings } from "../ServerSettings.ts"
import { isWebhook, secretsHidden } from "../ingress/IngressPath.ts"
import { logAccess } from "./AccessLog.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { rateLimitHeaders } from "./CountedLimit.ts"
import { admitWithin, RateLimiting } from "./RateLimiting.ts"
import { RequestConcurrency } from "./RequestConcurrency.ts"
import { failureCost, presentsPayment, requestCost } from "./RequestCost.ts"
import { hasBody, headerFlaw, pathOf } from "./RequestLimits.ts"
import { RequestRecord } from "./RequestRecord.ts"
import { commonHeaders, preflightHeaders } from "./ResponseHeaders.ts"
import { allowedMethods, entryAt } from "./RouteTable.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Health checks are never rate limited. */
const isHealthCheck = (request: Request): boolean => request.url === LIVE_PATH || request.url === READY_PATH

/** Providers send from few addresses for all tenants, and authenticate themselves. */
const isProviders = (request: Request): boolean => isWebhook(pathOf(request.url))

/**
 * Answers a request that matches no route: an unknown path, a path with a malformed id, or a method that the path does
 * not accept.
 */
const answerWithoutRoute = (request: Request) => {
  const path = pathOf(request.url)
  const allowed = allowedMethods(path)
  return errorResponse(
    allowed.length === 0 || allowed.includes(request.method)
      ? new RouteUnknown({ path: path.slice(0, PATH_SHOWN) })
      : new MethodNotAllowed({ method: request.method, path, allowed }),
    null
  )
}
const PATH_SHOWN = 200

const answerOptions = (request: Request) => {
  const allowed = request.url === "*" ? ["GET", "HEAD", "POST", "OPTIONS"] : allowedMethods(pathOf(request.url))
  return allowed.length === 0
    ? answerWithoutRoute(request)
    : Effect.succeed(HttpServerResponse.empty({ status: 204, headers: preflightHeaders(allowed) }))
}

const isRouteNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** Returns whether the client has disconnected. Otherwise the server interrupted the request itself. */
const isGone = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some(({ annotations }) => annotations.has(HttpServerError.ClientAbort.key))

const answerInternal = (request: Request) => {
  const withPayment = request.headers["payment-signature"] !== undefined
  return errorResponse(new InternalError({ withPayment }), entryAt(request.method, pathOf(request.url)))
}

/** Answers an unexpected failure. The cause is logged and never sent to the client. */
const answerFailure = (request: Request) => (cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause)) return isGone(cause) ? Effect.failCause(cause) : answerInternal(request)
  if (isRouteNotFound(Cause.squash(cause))) return answerWithoutRoute(request)
  return Effect.andThen(Effect.logError("request failed", cause), answerInternal(request))
}

/**
 * Returns whether a part of the body has not arrived. Such a connection is closed: reading on costs more than a new
 * one.
 */
const hasUnreadBody = ({ headers, source }: Request): boolean =>
  hasBody(headers) && source instanceof IncomingMessage && !source.complete

/**
 * The middleware around every request: request id, limits on size and number, the envelope for errors, common headers
 * and the access log.
 */
export const layer = HttpRouter.middleware<{ provides: RequestRecord }>()(
  Effect.gen(function* () {
    const settings = yield* ServerSettings
    const { chargeAddress, countAddress } = yield* RateLimiting
    const concurrency = yield* RequestConcurrency
    const hideSecrets = secretsHidden(yield* Ingress)
    const headers = commonHeaders(settings.publicUrl)
    const { trustedProxies } = settings
    const behindProxies = trustedProxies.length === 0 ? identity : HttpMiddleware.xForwardedHeaders({ trustedProxies })

    return (app) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const startedAt = yield* Clock.currentTimeMillis
        const record: RequestRecord["Service"] = { requestId: yield* Uuid.next, limits: [] }
        const { method, remoteAddress, url } = request

        const refuse = (error: ApiError) => errorResponse(error, entryAt(method, pathOf(url)))

        const routed = Effect.suspend(() => {
          const flaw = headerFlaw(request)
          return flaw === undefined ? app : refuse(flaw)
        })
        const limited = Effect.gen(function* () {
          yield* admitWithin(yield* countAddress(remoteAddress, requestCost(request)))
          const isPreflight = method === "OPTIONS" && headerFlaw(request) === undefined
          if (isPreflight) return yield* answerOptions(request)
          // A payment waits for the chain most of the time, and costs several times as much of the rate limit.
          return yield* presentsPayment(request) ? routed : concurrency.limit(remoteAddress)(routed)
        }).pipe(
          Effect.catchTag("RateLimited", refuse),
          Effect.catchCause(answerFailure(request)),
          Effect.tap(() => {
            const cost = failureCost(request, record.code)
            return cost === 0 ? Effect.void : chargeAddress(remoteAddress, cost)
          })
        )

        const answer = Effect.suspend(() => {
          if (isHealthCheck(request)) return routed
          // A path without a webhook is not a provider's request.
          return isProviders(request) ? Effect.catchIf(routed, isRouteNotFound, () => limited) : limited
        })

        return yield* answer.pipe(
          Effect.catchCause(answerFailure(request)),
          Effect.map((response) =>
            HttpServerResponse.setHeaders(response, {
              "x-request-id": record.requestId,
              ...headers,
              ...rateLimitHeaders(record.limits),
              ...(hasUnreadBody(request) ? { connection: "close" } : {}),
              ...response.headers
            })
          ),
          Effect.onExit((exit) =>
            logAccess(
              request,
              hideSecrets(pathOf(url)),
              record,
              startedAt,
              exit._tag === "Success" ? Option.some(exit.value) : Option.none()
            )
          ),
          Effect.annotateLogs("requestId", record.requestId),
          Effect.provideService(RequestRecord, record)
        )
      }).pipe(behindProxies)
  }),
  { global: true }
)
