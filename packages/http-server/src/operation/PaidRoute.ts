import type { Operation } from "@agentos/api"
import {
  isStartHere,
  type OperationName,
  PaidOperations,
  type PaidRequest,
  type PaidService,
  serviceEntry,
  type Tenant
} from "@agentos/core"
import { Effect, Option, Result, type Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { pathOf } from "../edge/RequestLimits.ts"
import { RequestRecord } from "../edge/RequestRecord.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { findTenant, requireTenant } from "./Caller.ts"
import { admit } from "./FreeRoute.ts"
import { inputDecoder, operationRoute, requireAvailable } from "./OperationRoute.ts"
import { readBody, type RequestBody } from "./RequestBody.ts"
import { paidResponse } from "./SuccessResponse.ts"

type AnyCodec = Schema.Codec<unknown, unknown>

/** The PAYMENT-SIGNATURE header; one without a value is none. */
const paymentSignature = ({ headers }: HttpServerRequest.HttpServerRequest): string | null =>
  headers["payment-signature"] || null

/**
 * A paid operation. A request whose payment already stands for an operation is
 * answered from it as soon as its token is checked. Any other is checked like a
 * free one, and what is left (ownership, state, payment) is the domain's.
 *
 * A start-here operation that is asked for without payment and without a body
 * answers with its challenge: this is how directories find out what it costs.
 */
export const paidRoute = <
  Name extends OperationName,
  Params extends AnyCodec,
  Query extends AnyCodec,
  Payload extends AnyCodec,
  Data extends AnyCodec,
  Plan,
  Receipt
>(
  operation: Operation<Name, Params, Query, Payload, Data>,
  service: PaidService<Payload["Type"], Plan, Receipt>
) => {
  const entry = serviceEntry(service.serviceId)
  const decode = inputDecoder(operation)
  return operationRoute(
    operation,
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { capabilities } = yield* ServerSettings
      const paidOperations = yield* PaidOperations
      const record = yield* RequestRecord
      const caller = yield* Effect.result(isStartHere(entry) ? findTenant : requireTenant(entry, capabilities))

      if (paymentSignature(request) !== null && Result.isSuccess(caller)) {
        const repeated = yield* paidRequest(entry, caller.success, yield* readBody)
        const answer = yield* paidOperations.replay(repeated)
        if (Option.isSome(answer)) return yield* paidResponse(answer.value)
        record.isPaymentNew = true
      }

      yield* requireAvailable(entry)
      const tenant = yield* Effect.fromResult(caller)
      if (tenant !== null) yield* admit(tenant)
      const body = yield* readBody
      const asked = yield* paidRequest(entry, tenant, body)
      if (isStartHere(entry) && asked.paymentSignature === null && body.bytes.length === 0) {
        return yield* paidOperations.challenge(asked, null)
      }
      const { payload } = yield* decode(body)
      return yield* paidResponse(yield* paidOperations.execute(service, asked, payload))
    })
  )
}

/** The request as far as payment is concerned. */
const paidRequest = Effect.fnUntraced(function* (
  entry: PaidRequest["entry"],
  tenant: Tenant | null,
  body: RequestBody
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { requestId } = yield* RequestRecord
  const { publicUrl } = yield* ServerSettings
  const path = pathOf(request.url)
  return {
    entry,
    binding: {
      tenantId: tenant?.tenantId ?? null,
      method: request.method,
      path,
      query: request.url.slice(path.length + 1),
      bodyHash: body.hash
    },
    requestId,
    resourceUrl: `${publicUrl}${path}`,
    tenant,
    paymentSignature: paymentSignature(request),
    idempotencyKey: request.headers["idempotency-key"] ?? null
  } satisfies PaidRequest
})
