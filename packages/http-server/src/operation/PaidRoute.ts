import { challengeExtensions, challengeResource, type Operation } from "@agentos/api"
import {
  isStartHere,
  type PaidOperations,
  type PaidRequest,
  type PaidService,
  RequestBinding,
  serviceEntry,
  type Tenant
} from "@agentos/core"
import { Effect, Option, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Readiness } from "../edge/Readiness.ts"
import { pathOf } from "../edge/RequestLimits.ts"
import type { RequestFacts } from "../edge/Route.ts"
import type { ServerSettings } from "../ServerSettings.ts"
import { findTenant, requireTenant } from "./Caller.ts"
import { challengeResponse } from "./ChallengeResponse.ts"
import { admit } from "./FreeRoute.ts"
import { inputDecoder, operationRoute, requireAvailable } from "./OperationRoute.ts"
import { readBody, type RequestBody } from "./RequestBody.ts"
import { paidResponse } from "./SuccessResponse.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Returns the PAYMENT-SIGNATURE header; an empty one counts as missing. */
export const paymentSignature = ({ headers }: Request): string | null => headers["payment-signature"] || null

/**
 * A paid operation. A request without payment is checked like a free one, and the domain checks ownership and state. Then it
 * gets its challenge.
 *
 * A request whose payment already belongs to an operation is answered from that operation as soon as its token is checked.
 * Any other request with a payment passes the same checks first. Before it is refused, the chain is asked whether the
 * payment was used.
 *
 * A start-here operation that is requested without payment and body returns its challenge: this is how directories
 * discover its price.
 */
export const paidRoute = <Input, Plan, Receipt>(
  operation: Operation,
  service: PaidService<Input, Plan, Receipt>,
  paidOperations: PaidOperations["Service"],
  { capabilities, publicUrl }: Pick<ServerSettings["Service"], "capabilities" | "publicUrl">,
  { require: requireReady }: Pick<Readiness["Service"], "require">
) => {
  if (operation.payload !== service.input) throw new Error(`${operation.name} declares another input than its service`)
  const entry = serviceEntry(service.serviceId)
  const decode = inputDecoder({ ...operation, payload: service.input })
  const described = {
    entry,
    resource: challengeResource(operation, publicUrl),
    extensions: challengeExtensions(operation, capabilities)
  }
  const findCaller = isStartHere(entry) ? findTenant : requireTenant(entry, capabilities)
  const respond = challengeResponse(operation, capabilities)

  const challengeFor = Effect.fnUntraced(function* (request: Request, record: RequestFacts) {
    yield* requireAvailable(entry)
    const tenant = yield* findCaller
    if (tenant !== null) yield* admit(tenant)
    const body = yield* readBody
    // Nobody is asked to pay for what can't be stored.
    yield* requireReady
    const asked = paidRequest(described, request, record, tenant, body)
    const challenge =
      isStartHere(entry) && body.lengthBytes === 0
        ? yield* paidOperations.challenge(asked)
        : yield* paidOperations.quote(service, asked, (yield* decode(body)).payload)
    return respond(record, asked.binding.path, challenge)
  })

  /** The input of a request whose service is available and whose input is valid. */
  const admitted = Effect.fnUntraced(function* (tenant: Tenant | null, body: RequestBody) {
    yield* requireAvailable(entry)
    if (tenant !== null) yield* admit(tenant)
    return (yield* decode(body)).payload
  })

  const execute = Effect.fnUntraced(function* (request: Request, record: RequestFacts, signature: string) {
    /** Finds the state of the payment for the response to a request that is refused before its payment is processed. */
    const findState = Effect.map(paidOperations.paymentState(signature), (state) => {
      record.paymentState = state
    })
    const caller = yield* Effect.result(findCaller)
    if (Result.isFailure(caller)) {
      yield* requireAvailable(entry)
      return yield* Effect.andThen(findState, Effect.fail(caller.failure))
    }
    const tenant = caller.success
    const body = yield* readBody
    // One value for all uses of the request, so that its payment is decoded and authenticated once.
    const asked = paidRequest(described, request, record, tenant, body)
    const repeated = yield* Effect.tapErrorTag(paidOperations.replay(asked), "InvalidRequest", () => findState)
    if (Option.isSome(repeated)) return yield* paidResponse(repeated.value)
    const ready = yield* Effect.result(admitted(tenant, body))
    if (Result.isFailure(ready)) {
      const error = ready.failure
      // A rate-limited request must not cause queries to the chain. The client learns more when it retries.
      if (error._tag === "RateLimited") return yield* Effect.fail(error)
      const reclaimed = yield* paidOperations.reclaim(asked)
      if (Option.isSome(reclaimed)) return yield* paidResponse(reclaimed.value)
      record.paymentState = "none"
      return yield* Effect.fail(error)
    }
    // From here on the chain is asked before the response says anything about the money.
    record.paymentState = "none"
    return yield* paidResponse(yield* paidOperations.execute(service, asked, ready.success))
  })

  return operationRoute(operation, (request, record) => {
    const signature = paymentSignature(request)
    return signature === null ? challengeFor(request, record) : execute(request, record, signature)
  })
}

/** Returns the part of the request that concerns the payment. */
const paidRequest = (
  described: Pick<PaidRequest, "entry" | "resource" | "extensions">,
  request: Request,
  { requestId }: RequestFacts,
  tenant: Tenant | null,
  body: RequestBody
): PaidRequest => ({
  ...described,
  binding: {
    tenantId: tenant?.tenantId ?? null,
    method: request.method,
    path: pathOf(request.url),
    query: RequestBinding.queryOf(request.url),
    bodyHash: body.hash
  },
  requestId,
  tenant,
  paymentSignature: paymentSignature(request),
  idempotencyKey: request.headers["idempotency-key"] ?? null
})
