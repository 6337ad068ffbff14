import { type ApiError, InternalError, MethodNotAllowed, StorageUnavailable } from "@agentos/api"
import { findStoreUnavailable, Ingress, Trace, Uuid } from "@agentos/core"
import { Cause, Clock, Context, Effect, type Fiber, identity, Random, References, Result } from "effect"
import { Headers, HttpMiddleware, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import { ServerSettings } from "../ServerSettings.ts"
import { secretsHidden } from "./IngressPath.ts"
import { logAccess } from "./AccessLog.ts"
import { errorResponse, routeUnknown } from "./ErrorResponse.ts"
import { findRefusal, RateLimiting, rateLimitHeaders } from "./RateLimiting.ts"
import { Readiness } from "../health/Readiness.ts"
import { RequestConcurrency } from "./RequestConcurrency.ts"
import { failureCost, presentsPayment, requestCost } from "./RequestCost.ts"
import { hasBody, headerFlaw, pathOf, targetOf } from "./RequestLimits.ts"
import { methodOf } from "./RequestTelemetry.ts"
import { RequestFacts, RequestRecord, type Route, type RouteMatch, UNKNOWN_PATH } from "./Route.ts"
import { commonHeaders, preflightHeaders } from "./ResponseHeaders.ts"
import { makeRouter } from "./Routing.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
type Facts = RequestFacts

/** Nginx's status for a client that closed the connection before the response. */
const CLIENT_GONE = 499

const isLimited = ({ match }: RequestFacts): boolean => match.route?.isRateLimited !== false

/** Returns the error of a request without a route: an unknown path, a malformed id, or a method that the path refuses. */
const routeError = ({ method, url }: Request, allowed: ReadonlyArray<string>): ApiError => {
  return allowed.length === 0 ? routeUnknown(url) : new MethodNotAllowed({ method, path: pathOf(url), allowed })
}

const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD"

/** The methods of `OPTIONS *`. */
const SERVER_METHODS = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"]

/** Returns whether the client has disconnected. Otherwise the server interrupted the request itself. */
const isGone = ({ reasons }: Cause.Cause<unknown>): boolean =>
  reasons.some(({ annotations }) => annotations.has(HttpServerError.ClientAbort.key))

/**
 * Returns whether a part of the body has not arrived. Then the connection is closed, because reading the rest costs
 * more than a new connection.
 */
const hasUnreadBody = (request: Request): boolean =>
  request.source instanceof IncomingMessage && !request.source.complete && hasBody(request)

/**
 * Returns the response with these headers instead of its own. `HttpServerResponse.setHeaders` copies headers several
 * times, and takes seven times as long.
 */
const withHeaders = (response: Response, headers: Headers.Headers): Response =>
  Object.assign(Object.create(Object.getPrototypeOf(response) as object) as Response, response, { headers })

const logProblem = ({ requestId }: Facts, ...message: ReadonlyArray<unknown>): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logError(...message), { requestId })

/**
 * Serves the routes, with everything around a request: its id, limits on size and number, the envelope for errors, common
 * headers and the access log. A request that its route answers at once passes through functions alone.
 */
export const make = Effect.fnUntraced(function* <R>(routes: ReadonlyArray<Route<R>>) {
  const { capabilities, publicUrl, trustedProxies } = yield* ServerSettings
  const { chargeAddress, countAddress } = yield* RateLimiting
  const concurrency = yield* RequestConcurrency
  const { reportUnavailable } = yield* Readiness
  const hideSecrets = secretsHidden(yield* Ingress)
  const common = Headers.fromInput({ "x-request-id": "", ...commonHeaders(publicUrl) })
  const behindProxies = trustedProxies.length === 0 ? identity : HttpMiddleware.xForwardedHeaders({ trustedProxies })
  const unknownPath = routes.find(({ path }) => path === UNKNOWN_PATH)
  const findRoute = makeRouter(routes.filter((route) => route !== unknownPath))

  const fail = (request: Request, record: Facts, error: ApiError) => errorResponse(request, record, capabilities, error)

  /** Answers OPTIONS where the path allows it. */
  const answerOptions = (request: Request, record: Facts) => {
    const methods = request.url === "*" ? SERVER_METHODS : record.match.allowed
    return methods.includes("OPTIONS")
      ? HttpServerResponse.empty({ status: 204, headers: preflightHeaders(methods) })
      : fail(request, record, routeError(request, methods))
  }

  /** Returns the route's answer, or the response to a request that does not reach its route. */
  const answer = (request: Request, record: Facts) => {
    const { allowed, route } = record.match as RouteMatch<R>
    const refusal = findRefusal(record.limits) ?? headerFlaw(request, route)
    if (refusal !== undefined) return fail(request, record, refusal)
    if (request.method === "OPTIONS") return answerOptions(request, record)
    if (route === null) {
      return unknownPath !== undefined && allowed.length === 0 && isRead(request)
        ? unknownPath.handler(request, record)
        : fail(request, record, routeError(request, allowed))
    }
    record.operation = route.operation ?? undefined
    return route.handler(request, record)
  }

  /** Returns the response to a request whose handler failed. The cause of an unexpected failure is never sent. */
  const failureResponse = (request: Request, record: Facts, cause: Cause.Cause<ApiError>) => {
    const error = Cause.findError(cause)
    if (Result.isSuccess(error)) return fail(request, record, error.success)
    const isPaid = (record.match.route?.entry?.price ?? null) !== null
    const withPayment = isPaid && request.headers["payment-signature"] !== undefined
    const Failure = findStoreUnavailable(cause) === undefined ? InternalError : StorageUnavailable
    return fail(request, record, new Failure({ withPayment }))
  }

  /** Adds the headers that every response has, and those of this request. Those of the response itself stay. */
  const complete = (request: Request, record: Facts, response: Response) => {
    const { limits, requestId } = record
    const counted = limits.length === 0 ? common : Headers.merge(common, Headers.fromInput(rateLimitHeaders(limits)))
    const headers = Object.assign(Headers.merge(counted, response.headers), {
      "x-request-id": response.headers["x-request-id"] ?? requestId
    })
    if (hasUnreadBody(request)) Object.assign(headers, { connection: "close" })
    return withHeaders(response, headers)
  }

  const log = (request: Request, record: Facts, status: number) =>
    logAccess(request, hideSecrets(pathOf(request.url)), record, status)

  /** Completes the response, charges the additional cost of the request, and logs it. */
  const finish = (request: Request, record: Facts, response: Response): Effect.Effect<Response> => {
    const completed = complete(request, record, response)
    const logged = Effect.as(log(request, record, completed.status), completed)
    const cost = failureCost(request, record.code) + record.additionalCost
    if (cost === 0 && record.violations.length === 0) return logged
    return Effect.forEach(record.violations, (violation) => logProblem(record, violation), { discard: true }).pipe(
      Effect.andThen(cost === 0 || !isLimited(record) ? Effect.void : chargeAddress(request.remoteAddress, cost)),
      Effect.andThen(logged)
    )
  }

  const finishFailed = (request: Request, record: Facts, cause: Cause.Cause<ApiError>): Effect.Effect<Response> => {
    if (isGone(cause) && Cause.hasInterruptsOnly(cause)) {
      return Effect.andThen(log(request, record, CLIENT_GONE), Effect.failCause(cause as Cause.Cause<never>))
    }
    const finished = finish(request, record, failureResponse(request, record, cause))
    if (findStoreUnavailable(cause) !== undefined) {
      return Effect.andThen(Effect.andThen(reportUnavailable, logProblem(record, "request failed", cause)), finished)
    }
    return Cause.hasFails(cause) || Cause.hasInterruptsOnly(cause)
      ? finished
      : Effect.andThen(logProblem(record, "request failed", cause), finished)
  }

  const answerAndFinish = (fiber: Fiber.Fiber<unknown, unknown>, request: Request, record: Facts) => {
    const answered = answer(request, record)
    if (HttpServerResponse.isHttpServerResponse(answered)) return finish(request, record, answered)
    // A payment waits for the chain most of the time, and costs several times as much of the rate limit. The requests of
    // operators must not wait for each other while the store is slow, or for those of a client with the same address.
    const isShared = isLimited(record) && !presentsPayment(request) && record.match.route?.audience !== "operator"
    const limited = isShared ? concurrency.limit(request.remoteAddress)(answered) : answered
    const annotations = { ...fiber.getRef(References.CurrentLogAnnotations), requestId: record.requestId }
    return Effect.uninterruptible(
      Effect.matchCauseEffect(Effect.interruptible(limited), {
        onSuccess: (response) => finish(request, record, response),
        onFailure: (cause) => finishFailed(request, record, cause)
      })
    ).pipe(
      // Adds to the context. `Effect.provideContext` would copy all services for each request.
      Effect.provideService(RequestRecord, record),
      Effect.provideService(References.CurrentLogAnnotations, annotations)
    )
  }

  /** Counts a request toward the limit of its address, and answers it. */
  const handle = (fiber: Fiber.Fiber<unknown, unknown>, request: Request, record: Facts) => {
    const proceed = () => {
      try {
        return answerAndFinish(fiber, request, record)
      } catch (defect) {
        return finishFailed(request, record, Cause.die(defect))
      }
    }
    if (!isLimited(record)) return proceed()
    return Effect.matchCauseEffectEager(countAddress(request.remoteAddress, requestCost(request)), {
      onSuccess: (limits) => {
        record.limits.push(...limits)
        return proceed()
      },
      onFailure: (cause) => finishFailed(request, record, cause)
    })
  }

  return Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const startedAt = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    const requestId = Uuid.generate(fiber.getRef(Random.Random), Math.floor(startedAt))
    const record = new RequestFacts(requestId, findRoute(request.method, targetOf(request)), startedAt)
    if (fiber.getRef(Trace.TraceRecorder) === null || !isLimited(record)) return handle(fiber, request, record)
    const name = `${methodOf(request.method)} ${record.match.template}`
    const continues = request.headers["traceparent"]
    return Trace.trace(name, { kind: "server", continues })(Effect.suspend(() => handle(fiber, request, record)))
  }).pipe(behindProxies)
})
