import { type ApiError, InternalError, MethodNotAllowed, RouteUnknown } from "@agentos/api"
import { Uuid } from "@agentos/core"
import { Ingress } from "@agentos/ingress"
import { Cause, Clock, Context, Effect, identity, Random, References } from "effect"
import { HttpMiddleware, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import { ServerSettings } from "../ServerSettings.ts"
import { secretsHidden } from "../ingress/IngressPath.ts"
import { logAccess } from "./AccessLog.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { findRefusal, rateLimitHeaders } from "./CountedLimit.ts"
import { RateLimiting } from "./RateLimiting.ts"
import { RequestConcurrency } from "./RequestConcurrency.ts"
import { failureCost, presentsPayment, requestCost } from "./RequestCost.ts"
import { hasBody, headerFlaw, pathOf } from "./RequestLimits.ts"
import { RequestFacts, RequestRecord } from "./RequestRecord.ts"
import { commonHeaders, preflightHeaders } from "./ResponseHeaders.ts"
import { makeRouter, type Route } from "./Routing.ts"

type Request = HttpServerRequest.HttpServerRequest

const PATH_SHOWN = 200

/** Returns the error of a request without a route: an unknown path, a malformed id, or a method that the path refuses. */
const routeError = ({ method, url }: Request, allowed: ReadonlyArray<string>): ApiError => {
  const path = pathOf(url)
  return allowed.length === 0
    ? new RouteUnknown({ path: path.slice(0, PATH_SHOWN) })
    : new MethodNotAllowed({ method, path, allowed })
}

/** The methods of `OPTIONS *`. */
const SERVER_METHODS = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"]

/** Returns whether the client has disconnected. Otherwise the server interrupted the request itself. */
const isGone = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some(({ annotations }) => annotations.has(HttpServerError.ClientAbort.key))

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
  const { capabilities, publicUrl, trustedProxies } = yield* ServerSettings
  const { chargeAddress, countAddress } = yield* RateLimiting
  const concurrency = yield* RequestConcurrency
  const hideSecrets = secretsHidden(yield* Ingress)
  const headers = commonHeaders(publicUrl)
  const behindProxies = trustedProxies.length === 0 ? identity : HttpMiddleware.xForwardedHeaders({ trustedProxies })
  const findRoute = makeRouter(routes)

  const fail = (request: Request, record: RequestFacts<R>, error: ApiError) =>
    errorResponse(request, record, capabilities, error)

  /** Answers an unexpected failure. The cause is logged and never sent to the client. */
  const answerFailure = (request: Request, record: RequestFacts<R>) => (cause: Cause.Cause<unknown>) => {
    if (isGone(cause) && Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
    const isPaid = (record.match.route?.entry?.price ?? null) !== null
    const withPayment = isPaid && request.headers["payment-signature"] !== undefined
    const answer = fail(request, record, new InternalError({ withPayment }))
    return Cause.hasInterruptsOnly(cause) ? answer : Effect.andThen(Effect.logError("request failed", cause), answer)
  }

  /** Answers OPTIONS where the path allows it. */
  const answerOptions = (request: Request, record: RequestFacts<R>) => {
    const methods = request.url === "*" ? SERVER_METHODS : record.match.allowed
    return methods.includes("OPTIONS")
      ? Effect.succeed(HttpServerResponse.empty({ status: 204, headers: preflightHeaders(methods) }))
      : fail(request, record, routeError(request, methods))
  }

  const answerRouted = (request: Request, record: RequestFacts<R>) => {
    const { allowed, route } = record.match
    const flaw = headerFlaw(request, route)
    if (flaw !== undefined) return fail(request, record, flaw)
    if (route === null) return fail(request, record, routeError(request, allowed))
    record.operation = route.operation ?? undefined
    return Effect.catch(Effect.interruptible(route.handler), (error) => fail(request, record, error))
  }

  const answerLimited = (request: Request, record: RequestFacts<R>) =>
    Effect.flatMap(countAddress(request.remoteAddress, requestCost(request)), (limits) => {
      record.limits.push(...limits)
      const refusal = findRefusal(limits)
      if (refusal !== undefined) return fail(request, record, refusal)
      const isPreflight = request.method === "OPTIONS" && headerFlaw(request, record.match.route) === undefined
      if (isPreflight) return answerOptions(request, record)
      const routed = Effect.suspend(() => answerRouted(request, record))
      // A payment waits for the chain most of the time, and costs several times as much of the rate limit.
      return presentsPayment(request) ? routed : concurrency.limit(request.remoteAddress)(routed)
    }).pipe(
      Effect.catchCause(answerFailure(request, record)),
      Effect.tap(() => {
        const cost = failureCost(request, record.code) + record.additionalCost
        return cost === 0 ? Effect.void : chargeAddress(request.remoteAddress, cost)
      })
    )

  const complete = (request: Request, record: RequestFacts<R>, response: HttpServerResponse.HttpServerResponse) =>
    HttpServerResponse.setHeaders(response, {
      "x-request-id": record.requestId,
      ...headers,
      ...rateLimitHeaders(record.limits),
      ...(hasUnreadBody(request) ? { connection: "close" } : {}),
      ...response.headers
    })

  return Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const startedAt = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    const requestId = Uuid.generate(fiber.getRef(Random.Random), Math.floor(startedAt))
    const { method, url } = request
    const record = new RequestFacts(requestId, findRoute(method, url), startedAt)
    const { route } = record.match
    const answer = route?.isRateLimited === false ? answerRouted : answerLimited
    return answer(request, record).pipe(
      Effect.catchCause(answerFailure(request, record)),
      Effect.map((response) => complete(request, record, response)),
      Effect.onExit((exit) => logAccess(request, hideSecrets(pathOf(url)), record, exit)),
      Effect.provideService(RequestRecord, record),
      Effect.provideService(References.CurrentLogAnnotations, {
        ...fiber.getRef(References.CurrentLogAnnotations),
        requestId
      })
    )
  }).pipe(behindProxies)
})
