import {
  CATALOG,
  findService,
  type Operation,
  type OperationFailure,
  type OperationOf,
  type OperationState,
  OperationStore,
  isFinal,
  PAYMENT_STATES,
  type PaidServiceId,
  type PaymentState,
  type ServiceId,
  type Tenant,
  Timestamp,
  Usdt
} from "@agentos/core"
import { Effect, Option } from "effect"
import { randomUUID } from "node:crypto"
import { AgentOsError } from "./AgentOsError.ts"
import type { AsTenant, DataOf, Invoker, PayloadOf, Run } from "./Invoke.ts"

/** A purchase of a service in this process. */
export interface PurchaseRequest<Service extends PaidServiceId> {
  /** For example `email.mailbox.create`. */
  readonly service: Service
  readonly input: PayloadOf<OperationOf<Service>>
  /** Required by every service but the three with which a wallet starts. */
  readonly tenant?: Tenant | undefined
  /**
   * The header PAYMENT-SIGNATURE that answers the challenge of this request, or a function that returns it for a
   * challenge. Without it, the purchase is refused with the challenge.
   */
  readonly payment?: string | ((challenge: string) => string | PromiseLike<string>) | undefined
  /**
   * Required with a payment in text, and random otherwise. Repeating key, input and payment returns the same answer, and
   * charges nothing.
   */
  readonly idempotencyKey?: string | undefined
  /** Whose rate limit a purchase without a tenant counts toward; by default that of this process. */
  readonly remoteAddress?: string | undefined
}

export interface Purchase<Service extends PaidServiceId> {
  /** False for an operation on something that existed before. */
  readonly created: boolean
  readonly data: DataOf<OperationOf<Service>>
  readonly requestId: string
  /** The header PAYMENT-RESPONSE. */
  readonly receipt: string
}

/** A paid operation of a tenant. */
export interface OperationRecord {
  readonly operationId: string
  readonly service: ServiceId
  readonly state: OperationState
  /** Whether the state changes no more. */
  readonly isFinal: boolean
  readonly paymentState: PaymentState
  readonly payment: {
    readonly payer: string
    readonly network: string
    readonly asset: string
    /** Base units. */
    readonly amount: bigint
    /** Null until it is known. */
    readonly transaction: string | null
    readonly refundTransaction: string | null
  }
  readonly failure: OperationFailure | null
  readonly createdAt: string
  readonly updatedAt: string
}

const toRecord = (operation: Operation): OperationRecord => ({
  operationId: operation.operationId,
  service: operation.serviceId,
  state: operation.state,
  isFinal: isFinal(operation.state),
  paymentState: PAYMENT_STATES[operation.state],
  payment: {
    payer: operation.proof.payer,
    network: operation.terms.network,
    asset: operation.terms.asset,
    amount: operation.terms.amount,
    transaction: operation.transaction,
    refundTransaction: operation.refundTransaction
  },
  failure: operation.failure,
  createdAt: Timestamp.toIso(operation.createdAt),
  updatedAt: Timestamp.toIso(operation.updatedAt)
})

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const notFound = (operationId: string) =>
  new AgentOsError(404, {
    code: "RESOURCE_NOT_FOUND",
    message: `No such operation of this tenant: ${operationId}.`,
    requestId: randomUUID(),
    retryable: false
  })

/** The name of the client to which purchases without a tenant are counted. */
const THIS_PROCESS = "in-process"

export const operationUseCases = (run: Run, { invoke, respond }: Invoker, asTenant: AsTenant) => ({
  /** Lists the paid services with their prices, in catalog order. */
  prices: (): ReadonlyArray<{ readonly service: ServiceId; readonly purpose: string; readonly usdt: string }> =>
    CATALOG.flatMap(({ price, purpose, serviceId }) =>
      price === null || serviceId === null ? [] : [{ service: serviceId, purpose, usdt: Usdt.toDecimal(price) }]
    ),

  /**
   * Buys a service, on the path of HTTP: checked, charged once, then fulfilled. Rejects with `AgentOsError`: 402 with the
   * challenge, 409 and 502 with `paymentState`, 428 without a tenant.
   */
  purchase: async <Service extends PaidServiceId>({
    idempotencyKey,
    input,
    payment,
    remoteAddress = THIS_PROCESS,
    service,
    tenant
  }: PurchaseRequest<Service>): Promise<Purchase<Service>> => {
    const entry = findService(service)
    if (entry === undefined || entry.price === null) throw new TypeError(`service must be a paid service: ${service}`)
    const caller = tenant === undefined ? { client: remoteAddress } : await asTenant(tenant)
    const ask = async (headers: Record<string, string>): Promise<Purchase<Service>> => {
      const response = await respond(entry.operationId, { ...caller, payload: input, headers })
      const { data, requestId } = (await response.json()) as Pick<Purchase<Service>, "data" | "requestId">
      return {
        created: response.status === 201,
        data,
        requestId,
        receipt: response.headers.get("payment-response") ?? ""
      }
    }
    const pay = (signature: string, key: string) => ask({ "payment-signature": signature, "idempotency-key": key })
    if (typeof payment === "string") return pay(payment, idempotencyKey ?? "")
    const challenge = await ask({}).then(
      () => undefined,
      (error: unknown) =>
        (error instanceof AgentOsError && payment !== undefined ? error.challenge : null) ?? throwing(error)
    )
    if (challenge === undefined || payment === undefined)
      throw new Error(`${service} was not refused without a payment`)
    return pay(await payment(challenge), idempotencyKey ?? randomUUID())
  },

  /**
   * Returns the state of the payment in a PAYMENT-SIGNATURE header, and what to do next. Executes nothing. It counts
   * toward the rate limit of `remoteAddress`.
   */
  paymentStatus: async (
    paymentSignature: string,
    remoteAddress: string = THIS_PROCESS
  ): Promise<DataOf<"readPaymentStatus">["payment"]> => {
    const headers = { "payment-signature": paymentSignature }
    return (await invoke("readPaymentStatus", { client: remoteAddress, headers })).payment
  },

  /** Returns the state of the payment of an operation of the tenant, and what to do next. */
  payment: async (tenant: Tenant, operationId: string): Promise<DataOf<"getPayment">["payment"]> =>
    (await invoke("getPayment", { ...(await asTenant(tenant)), params: { operationId } })).payment,

  /** Returns a paid operation of the tenant, with the state of its payment. */
  get: async (tenant: Tenant, operationId: string): Promise<OperationRecord> => {
    if (!UUID.test(operationId)) throw notFound(operationId)
    const found = await run(Effect.flatMap(OperationStore, ({ find }) => find(operationId)))
    const own = Option.filter(found, ({ tenantId }) => tenantId === tenant.tenantId)
    if (Option.isNone(own)) throw notFound(operationId)
    return toRecord(own.value)
  }
})

const throwing = (error: unknown): never => {
  throw error
}
