import { InternalError, MethodNotAllowed, RouteUnknown } from "@agentos/api"
import { Uuid } from "@agentos/core"
import { Ingress } from "@agentos/ingress"
import { Cause, Clock, Effect, identity, Option } from "effect"
import { HttpMiddleware, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import { ServerSettings } from "../ServerSettings.ts"
import { secretsHidden } from "../ingress/IngressPath.ts"
import { logAccess } from "./AccessLog.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { rateLimitHeaders } from "./CountedLimit.ts"
import { admitWithin, RateLimiting } from "./RateLimiting.ts"
import { RequestConcurrency } from "./RequestConcurrency.ts"
import { failureCost, presentsPayment, requestCost } from "./RequestCost.ts"
import { hasBody, headerFlaw, pathOf } from "./RequestLimits.ts"
import { RequestRecord } from "./RequestRecord.ts"
import { commonHeaders, preflightHeaders } from "./ResponseHeaders.ts"
import { makeRouter, type Route, RouteMatch } from "./Routing.ts"

type Request = HttpServerRequest.HttpServerRequest

const PATH_SHOWN = 200

/**
 * Answers a request without a route: an unknown path, a path with a malformed id, or a method that the path does not
 * accept.
 */
const answerWithoutRoute = (request: Request, allowed: ReadonlyArray<string>) => {
  const path = pathOf(request.url)
  return errorResponse(
    allowed.length === 0
      ? new RouteUnknown({ path: path.slice(0, PATH_SHOWN) })
      : new MethodNotAllowed({ method: request.method, path, allowed })
  )
}

/** Answers OPTIONS where the path allows it. */
const answerOptions = (request: Request, allowed: ReadonlyArray<string>) => {
  const methods = request.url === "*" ? ["GET", "HEAD", "POST", "DELETE", "OPTIONS"] : allowed
  return methods.includes("OPTIONS")
    ? Effect.succeed(HttpServerResponse.empty({ status: 204, headers: preflightHeaders(methods) }))
    : answerWithoutRoute(request, methods)
}

/** Returns whether the client has disconnected. Otherwise the server interrupted the request itself. */
const isGone = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some(({ annotations }) => annotations.has(HttpServerError.ClientAbort.key))

/** Answers an unexpected failure. The cause is logged and never sent to the client. */
const answerFailure =
  ({ headers }: Request, { route }: RouteMatch["Service"]) =>
  (cause: Cause.Cause<unknown>) => {
    if (isGone(cause) && Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
    const isPaid = route !== null && route.entry !== null && route.entry.price !== null
    const withPayment = isPaid && headers["payment-signature"] !== undefined
    const answer = errorResponse(new InternalError({ withPayment }))
    return Cause.hasInterruptsOnly(cause) ? answer : Effect.andThen(Effect.logError("request failed", cause), answer)
  }

/**
 * Returns whether a part of the body has not arrived. Such a connection is closed: reading on costs more than a new
 * one.
 */
const hasUnreadBody = (request: Request): boolean =>
  request.source instanceof IncomingMessage && !request.source.complete && hasBody(request)

/**
 * Serves the routes, with everything around a request: its id, limits on size and number, the envelope for errors, common
 * headers and the access log.
 */
export const make = Effect.fnUntraced(function* <R>(routes: ReadonlyArray<Route<R>>) {
  const settings = yield* ServerSettings
  const { chargeAddress, countAddress } = yield* RateLimiting
  const concurrency = yield* RequestConcurrency
  const hideSecrets = secretsHidden(yield* Ingress)
  const headers = commonHeaders(settings.publicUrl)
  const { trustedProxies } = settings
  const behindProxies = trustedProxies.length === 0 ? identity : HttpMiddleware.xForwardedHeaders({ trustedProxies })
  const findRoute = makeRouter(routes)

  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const startedAt = yield* Clock.currentTimeMillis
    const record: RequestRecord["Service"] = { requestId: yield* Uuid.next, limits: [] }
    const { method, remoteAddress, url } = request
    const match = findRoute(method, url)
    const { allowed, route, template } = match

    const routed = Effect.suspend(() => {
      const flaw = headerFlaw(request, route)
      if (flaw !== undefined) return errorResponse(flaw)
      if (route === null) return answerWithoutRoute(request, allowed)
      if (route.operation !== null) record.operation = route.operation
      return Effect.catch(Effect.interruptible(route.handler), errorResponse)
    })
    const limited = Effect.gen(function* () {
      yield* admitWithin(yield* countAddress(remoteAddress, requestCost(request)))
      const isPreflight = method === "OPTIONS" && headerFlaw(request, route) === undefined
      if (isPreflight) return yield* answerOptions(request, allowed)
      // A payment waits for the chain most of the time, and costs several times as much of the rate limit.
      return yield* presentsPayment(request) ? routed : concurrency.limit(remoteAddress)(routed)
    }).pipe(
      Effect.catchTag("RateLimited", errorResponse),
      Effect.catchCause(answerFailure(request, match)),
      Effect.tap(() => {
        const cost = failureCost(request, record.code) + (record.additionalCost ?? 0)
        return cost === 0 ? Effect.void : chargeAddress(remoteAddress, cost)
      })
    )

    return yield* (route?.isRateLimited === false ? routed : limited).pipe(
      Effect.catchCause(answerFailure(request, match)),
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
          template,
          hideSecrets(pathOf(url)),
          record,
          startedAt,
          exit._tag === "Success" ? Option.some(exit.value) : Option.none()
        )
      ),
      Effect.annotateLogs("requestId", record.requestId),
      Effect.provideService(RequestRecord, record),
      Effect.provideService(RouteMatch, match)
    )
  }).pipe(behindProxies)
})
