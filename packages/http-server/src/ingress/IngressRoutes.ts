import { type ApiError, BodyTooLarge, MediaTypeUnsupported } from "@agentos/api"
import { Ingress, type ProviderIngress, type IngressWebhook, type IngressWebhookResponse } from "@agentos/core"
import { Effect, type Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { RateLimiting } from "../edge/RateLimiting.ts"
import { requestCost } from "../edge/RequestCost.ts"
import { hasBody, repetitionFlaw, type SingleHeaders, singleHeaders } from "../edge/RequestLimits.ts"
import { admitWithin, RequestRecord, type Route } from "../edge/Route.ts"
import type { BodyMemory } from "../operation/BodyMemory.ts"
import { readBodyWithin } from "../operation/RequestBody.ts"
import { parameterOf } from "../edge/IngressPath.ts"

type Request = HttpServerRequest.HttpServerRequest

const forbidden = HttpServerResponse.empty({ status: 403 })

const toResponse = ({ body, contentType, status }: IngressWebhookResponse) =>
  body === undefined
    ? HttpServerResponse.empty({ status })
    : HttpServerResponse.text(body, { status, ...(contentType === undefined ? {} : { contentType }) })

/** Checks a request by its headers alone. Returns the first violation of the webhook's limits, if any. */
const limitViolation = (request: Request, { limits }: IngressWebhook, names: SingleHeaders): ApiError | undefined => {
  const repetition = repetitionFlaw(request, names)
  if (repetition !== undefined) return repetition
  if (!hasBody(request)) return undefined
  const { bodyBytes, mediaType } = limits
  if (Number(request.headers["content-length"] ?? 0) > bodyBytes) return new BodyTooLarge({ limitBytes: bodyBytes })
  const [given = ""] = (request.headers["content-type"] ?? "").split(";")
  return given.trim().toLowerCase() === mediaType
    ? undefined
    : new MediaTypeUnsupported({ message: `Send the body with Content-Type: ${mediaType}.` })
}

type BodyRequirements = BodyMemory | HttpServerRequest.HttpServerRequest | RequestRecord | Scope.Scope
type AnswerRequirements = BodyRequirements | RateLimiting

/** Answers a request with the handler of its webhook. Only its own failures have the error envelope. */
const answer = (webhook: IngressWebhook, names: SingleHeaders) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { countAddress } = yield* RateLimiting
    const { params } = (yield* RequestRecord).match
    const context = yield* Effect.context<BodyRequirements>()
    const violation = limitViolation(request, webhook, names)
    if (violation !== undefined) return yield* Effect.fail(violation)
    const received = {
      target: request.url,
      parameter: params[parameterOf(webhook.path)] ?? "",
      headers: request.headers,
      body: readBodyWithin(webhook.limits.bodyBytes).pipe(
        Effect.map(({ bytes }) => bytes),
        Effect.provideContext(context)
      )
    }
    return yield* webhook.handle(received).pipe(
      Effect.map(toResponse),
      Effect.catchTag("Unauthenticated", () =>
        // Such a request is rate limited like any other client's.
        Effect.as(Effect.flatMap(countAddress(request.remoteAddress, requestCost(request)), admitWithin), forbidden)
      )
    )
  })

const routesOf = ({ singleHeaders: headers, webhooks }: ProviderIngress) => {
  const names = singleHeaders(headers)
  return webhooks.map((webhook): Route<AnswerRequirements> => {
    const answering = answer(webhook, names)
    return {
      method: webhook.method,
      path: webhook.path,
      audience: "providers",
      isRateLimited: false,
      entry: null,
      operation: null,
      body: null,
      handler: () => answering
    }
  })
}

/** The webhooks of all configured providers. */
export const routes = Effect.map(Ingress, (providers) => providers.flatMap(routesOf))
