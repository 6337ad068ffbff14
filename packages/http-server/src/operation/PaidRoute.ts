import { challengeExtensions, challengeResource, type Operation } from "@agentos/api"
import {
  isStartHere,
  PaidOperations,
  type PaidRequest,
  type PaidService,
  RequestBinding,
  serviceEntry,
  type Tenant
} from "@agentos/core"
import { Effect, Option, Result } from "effect"
import { HttpServerRequest } from "effect/http"
import { pathOf } from "../edge/RequestLimits.ts"
import { RequestRecord } from "../edge/RequestRecord.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { findTenant, requireTenant } from "./Caller.ts"
import { admit } from "./FreeRoute.ts"
import { inputDecoder, operationRoute, requireAvailable } from "./OperationRoute.ts"
import { readBody, type RequestBody } from "./RequestBody.ts"
import { paidResponse } from "./SuccessResponse.ts"

/** Returns the PAYMENT-SIGNATURE header; an empty one counts as missing. */
export const paymentSignature = ({ headers }: HttpServerRequest.HttpServerRequest): string | null =>
  headers["payment-signature"] || null

/**
 * A paid operation. A request whose payment already belongs to an operation is answered from that operation as soon as
 * its token is checked. Any other request is checked like a free one, and the domain checks ownership, state and
 * payment. Before a request with a payment is refused, the chain is asked whether the payment was used.
 *
 * A start-here operation that is requested without payment and body returns its challenge: this is how directories
 * discover its price.
 */
export const paidRoute = <Input, Plan, Receipt>(
  operation: Operation,
  service: PaidService<Input, Plan, Receipt>,
  { capabilities, publicUrl }: Pick<ServerSettings["Service"], "capabilities" | "publicUrl">
) => {
  if (operation.payload !== service.input) throw new Error(`${operation.name} declares another input than its service`)
  const entry = serviceEntry(service.serviceId)
  const decode = inputDecoder({ ...operation, payload: service.input })
  const described = {
    entry,
    resource: challengeResource(operation, publicUrl),
    extensions: challengeExtensions(operation, capabilities)
  }
  return operationRoute(operation, () =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const paidOperations = yield* PaidOperations
      const record = yield* RequestRecord
      const readOnce = yield* Effect.cached(readBody)
      const caller = yield* Effect.result(isStartHere(entry) ? findTenant : requireTenant(entry, capabilities))

      /** One value for all uses of the request, so that its payment is decoded and authenticated once. */
      const askOnce = yield* Effect.cached(
        Effect.gen(function* () {
          const tenant = yield* Effect.fromResult(caller)
          return yield* paidRequest(described, tenant, yield* readOnce)
        })
      )

      /** The request and its input, if the service is available and the input is valid. */
      const admitted = Effect.gen(function* () {
        yield* requireAvailable(entry)
        const tenant = yield* Effect.fromResult(caller)
        if (tenant !== null) yield* admit(tenant)
        const body = yield* readOnce
        const asked = yield* askOnce
        if (isStartHere(entry) && asked.paymentSignature === null && body.lengthBytes === 0) {
          return yield* paidOperations.challenge(asked, null)
        }
        const { payload } = yield* decode(body)
        return { asked, payload }
      })

      const signature = paymentSignature(request)
      if (signature === null) {
        const { asked, payload } = yield* admitted
        return yield* paidResponse(yield* paidOperations.execute(service, asked, payload))
      }
      /** Finds the state of the payment for the response to a request that is refused before its payment is processed. */
      const findState = Effect.map(paidOperations.paymentState(signature), (state) => {
        record.paymentState = state
      })
      if (Result.isFailure(caller)) {
        yield* requireAvailable(entry)
        return yield* Effect.andThen(findState, Effect.fail(caller.failure))
      }
      const paid = yield* askOnce
      const repeated = yield* Effect.tapErrorTag(paidOperations.replay(paid), "InvalidRequest", () => findState)
      if (Option.isSome(repeated)) return yield* paidResponse(repeated.value)
      const ready = yield* Effect.result(admitted)
      if (Result.isFailure(ready)) {
        const error = ready.failure
        // A rate-limited request must not cause queries to the chain. The client learns more when it retries.
        if (error._tag === "RateLimited") return yield* Effect.fail(error)
        const reclaimed = yield* paidOperations.reclaim(paid)
        if (Option.isSome(reclaimed)) return yield* paidResponse(reclaimed.value)
        record.paymentState = "none"
        return yield* Effect.fail(error)
      }
      // From here on the chain is asked before the response says anything about the money.
      record.paymentState = "none"
      return yield* paidResponse(yield* paidOperations.execute(service, ready.success.asked, ready.success.payload))
    })
  )
}

/** Builds the part of the request that concerns the payment. */
const paidRequest = Effect.fnUntraced(function* (
  described: Pick<PaidRequest, "entry" | "resource" | "extensions">,
  tenant: Tenant | null,
  body: RequestBody
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { requestId } = yield* RequestRecord
  return {
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
  } satisfies PaidRequest
})
