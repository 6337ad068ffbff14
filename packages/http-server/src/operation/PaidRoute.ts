import { challengeExtensions, challengeResource, StorageUnavailable, type ApiOperation } from "@agentos/api"
import {
  isStartHere,
  type PaidOperations,
  type PaidRequest,
  type PaidService,
  PaymentRequired,
  RequestBinding,
  serviceEntry,
  type Tenant
} from "@agentos/core"
import { Duration, Effect, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Readiness } from "../health/Readiness.ts"
import { pathOf } from "../edge/RequestLimits.ts"
import type { RequestFacts } from "../edge/Route.ts"
import type { ServerSettings } from "../ServerSettings.ts"
import { findTenant, requireTenant } from "./Caller.ts"
import { NewWork } from "./NewWork.ts"
import { challengeResponse, paidResponse } from "./Responses.ts"
import { admit } from "./FreeRoute.ts"
import { inputDecoder, operationRoute, requireAvailable } from "./OperationRoute.ts"
import { readBody, type RequestBody } from "./RequestBody.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Returns the PAYMENT-SIGNATURE header; an empty one counts as missing. */
export const paymentSignature = ({ headers }: Request): string | null => headers["payment-signature"] || null

const VERSION_1 = {
  reason: "X-PAYMENT is the header of x402 version 1, and this service speaks version 2",
  remedy:
    "Pay the challenge in the PAYMENT-REQUIRED header with a client of version 2, which sends the payment as PAYMENT-SIGNATURE."
}

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
  operation: ApiOperation,
  service: PaidService<Input, Plan, Receipt>,
  paidOperations: PaidOperations["Service"],
  { capabilities, publicUrl }: Pick<ServerSettings["Service"], "capabilities" | "publicUrl">,
  { require: requireReady, requireClock }: Pick<Readiness["Service"], "require" | "requireClock">
) => {
  if (operation.payload !== service.input) throw new Error(`${operation.name} declares another input than its service`)
  const entry = serviceEntry(service.serviceId)
  const decode = inputDecoder({ ...operation, payload: service.input })
  const described = {
    entry,
    resource: challengeResource(operation, publicUrl),
    extensions: challengeExtensions(operation, capabilities)
  }
  const found = isStartHere(entry) ? findTenant : requireTenant(entry, capabilities)
  const foundWithinPatience = withinPatience(found)
  /** Without a token, nothing is searched. */
  const findCaller = ({ headers }: Request) => (headers["authorization"] === undefined ? found : foundWithinPatience)
  const respond = challengeResponse(operation, capabilities)
  const challengeFor = Effect.fnUntraced(function* (request: Request, record: RequestFacts) {
    yield* requireAvailable(entry)
    const tenant = yield* findCaller(request)
    if (tenant !== null) yield* admit(tenant)
    const body = yield* readBody
    // No client is asked to pay while the server is not ready.
    yield* requireReady
    const asked = paidRequest(described, request, record, tenant, body)
    const { limit } = yield* NewWork
    const challenge =
      isStartHere(entry) && body.lengthBytes === 0
        ? yield* paidOperations.challenge(asked)
        : yield* limit(paidOperations.quote(service, asked, (yield* decode(body)).payload))
    // Only a client of version 1 sends it, and learns nothing from the challenge of version 2.
    if (request.headers["x-payment"] !== undefined) return yield* new PaymentRequired({ challenge, ...VERSION_1 })
    return respond(record, asked.binding.path, challenge)
  })

  /** The input of a request whose service is available and whose input is valid. */
  const admitted = Effect.fnUntraced(function* (tenant: Tenant | null, body: RequestBody) {
    yield* requireAvailable(entry)
    if (tenant !== null) yield* admit(tenant)
    yield* requireClock
    return (yield* decode(body)).payload
  })

  const pay = Effect.fnUntraced(function* (request: Request, record: RequestFacts, signature: string) {
    const caller = yield* Effect.result(findCaller(request))
    if (Result.isFailure(caller)) {
      yield* requireAvailable(entry)
      record.paymentState = yield* paidOperations.paymentState(signature)
      const { failure } = caller
      return yield* failure._tag === "StorageUnavailable"
        ? new StorageUnavailable({ withPayment: true })
        : Effect.fail(failure)
    }
    const tenant = caller.success
    const body = yield* readBody
    const asked = paidRequest(described, request, record, tenant, body)
    const paid = paidOperations.pay(service, asked, signature, admitted(tenant, body))
    return yield* Effect.matchEffect(paid, {
      onSuccess: paidResponse,
      onFailure: ({ error, paymentState }) => {
        record.paymentState = paymentState
        return error._tag === "StoreUnavailable" ? Effect.die(error) : Effect.fail(error)
      }
    })
  })

  return operationRoute(operation, (request, record) => {
    const signature = paymentSignature(request)
    return signature === null ? challengeFor(request, record) : pay(request, record, signature)
  })
}

/**
 * How long the search for the tenant of a token may take; the time of a payment begins after it. It is counted in parts, so that a
 * process that was paused for longer still reads an answer that has arrived meanwhile.
 */
const PATIENCE = { part: Duration.seconds(1), parts: 4 }

const withinPatience = <A, E, R>(caller: Effect.Effect<A, E, R>): Effect.Effect<A, E | StorageUnavailable, R> => {
  const waiting = Effect.repeat(Effect.sleep(PATIENCE.part), { times: PATIENCE.parts - 1 })
  return Effect.raceFirst(caller, Effect.andThen(waiting, Effect.fail(new StorageUnavailable({ withPayment: false }))))
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
  idempotencyKey: request.headers["idempotency-key"] ?? null,
  networks: networksIn(request.headers["accept-payment"])
})

/** Limits of Accept-Payment: more networks than a server offers, and an id of CAIP-2. */
const NETWORKS_MAX = 20
const NETWORK_PATTERN = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/

/** Reads Accept-Payment: ids of networks (CAIP-2), separated by commas. Others in it are ignored. */
const networksIn = (header: string | undefined): ReadonlyArray<string> =>
  header === undefined
    ? []
    : header
        .split(",", NETWORKS_MAX)
        .map((part) => part.trim())
        .filter((part) => NETWORK_PATTERN.test(part))
