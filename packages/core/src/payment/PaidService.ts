import { Context, Effect, Schema } from "effect"
import type { ServiceId } from "../catalog/ServiceId.ts"
import type { ProviderError, ProviderUnavailable } from "../kernel/ProviderError.ts"
import type {
  AllowanceExhausted,
  Conflict,
  InvalidRequest,
  NumberExpiring,
  NumberReleased,
  ResourceNotFound,
  ResourceNotOwned
} from "../kernel/ResourceError.ts"
import type { QuotaExceeded } from "../limits/Refusals.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { Tenant, TenantSuspended } from "../tenancy/Tenant.ts"
import type { Operation, SecretSlot } from "./Operation.ts"
import type { SaleStopped } from "./SalesStop.ts"

/** Why an operation is not possible, determined before anything is charged. */
export type CheckError =
  | InvalidRequest
  | ResourceNotFound
  | ResourceNotOwned
  | NumberReleased
  | NumberExpiring
  | AllowanceExhausted
  | Conflict
  | QuotaExceeded
  | ProviderUnavailable
  | TenantSuspended
  | SaleStopped

/** The paid resource disappeared after the payment was checked. The payment is refunded. */
export class ResourceGone extends Schema.TaggedError<ResourceGone>()("ResourceGone", { message: Schema.String }) {}

export interface OperationContext {
  readonly operationId: string
  readonly tenant: Tenant
  /** When the operation was claimed. */
  readonly createdAt: Timestamp
  /**
   * Whether a request waits for the result. Without one, a service must not start work for which late is worse than
   * never.
   */
  readonly attended: boolean
}

/** The context of a claim, in the transaction that stores the operation. */
export interface ClaimContext extends OperationContext {
  /** Whether the request carried the tenant's access token, which is still the current one. */
  readonly isAuthenticated: boolean
}

/** A secret inside an answer: derived whenever the answer is sent, and never stored. */
export class AnswerSecret {
  readonly slot: Omit<SecretSlot, "offset">
  constructor(slot: Omit<SecretSlot, "offset">) {
    this.slot = slot
  }
}

/** The result for the client: `data` of the answer, with `AnswerSecret`s in place of secrets. */
export interface Fulfillment {
  readonly created: boolean
  readonly data: { readonly [key: string]: unknown }
}

/**
 * The definition of a paid service. The engine owns the payment and the order of steps; a service defines the checks,
 * the external call and the resulting changes.
 *
 * `Plan` is fixed before anything is charged and is the same for every attempt: it holds the ids and references by
 * which an outcome can be determined.
 */
export interface PaidService<Input, Plan, Receipt> {
  readonly serviceId: ServiceId
  readonly input: Schema.Codec<Input, Schema.Json>
  readonly plan: Schema.Codec<Plan, Schema.Json>
  /**
   * How long an unavailable provider is retried before the payment is refunded: milliseconds since the operation
   * entered `fulfilling`. A call in progress at the end of that time is still awaited.
   */
  readonly retryFor: number
  /**
   * Checks everything that would make the operation fail and can be known now. `tenant` is null for a wallet's first
   * call.
   */
  readonly check: (tenant: Tenant | null, input: Input) => Effect.Effect<void, CheckError>
  /** For inputs with parts that are too large to be stored with their operation. */
  readonly staging?: {
    /**
     * Stores these parts before the transaction of the claim, and returns the input without them. `tenant` is the one
     * for which the input was checked. Fails if a resource that the check found is gone.
     */
    readonly store: (operationId: string, input: Input, tenant: Tenant | null) => Effect.Effect<Input, CheckError>
    /** Deletes the parts of an operation that was not claimed. */
    readonly discard: (operationId: string) => Effect.Effect<void>
  }
  /** Repeats the checks and makes the reservations, in the transaction of the claim, under the tenant's lock. */
  readonly prepare: (context: ClaimContext, input: Input) => Effect.Effect<Plan, CheckError>
  /** Releases the reservations of `prepare`, in the transaction that commits `unpaid` or `refund_due`. */
  readonly abandon: (context: OperationContext, plan: Plan) => Effect.Effect<void>
  /**
   * Fails if the paid work can no longer be done. Runs in the transaction that follows the payment, if `perform` does not
   * follow it at once. Absent if nothing can prevent the work.
   */
  readonly revalidate?: (context: OperationContext, plan: Plan, input: Input) => Effect.Effect<void, ResourceGone>
  /**
   * Makes the external call. Idempotent: it is repeated after a lost answer. Absent if the service calls no provider: then
   * the payment and the result are committed together, and the receipt is undefined.
   */
  readonly perform?: (context: OperationContext, plan: Plan, input: Input) => Effect.Effect<Receipt, ProviderError>
  /** Writes the result in the transaction that fulfills the operation, under the tenant's lock. */
  readonly record: (
    context: OperationContext,
    plan: Plan,
    input: Input,
    receipt: Receipt
  ) => Effect.Effect<Fulfillment, ResourceGone>
}

/** One operation together with its service; the types of input, plan and receipt are hidden. */
export interface Attempt {
  /** Succeeds if the service does not revalidate. */
  readonly revalidate: Effect.Effect<void, ResourceGone>
  /**
   * Makes the external call. Its result writes the outcome in the caller's transaction, for the tenant as it is read
   * there: its tokens may have been revoked during the call.
   */
  readonly perform: Effect.Effect<(tenant: Tenant) => Effect.Effect<Fulfillment, ResourceGone>, ProviderError>
  readonly abandon: Effect.Effect<void>
}

/** A paid service whose types are hidden, so that services of all kinds can be listed. */
export interface StoredService {
  readonly serviceId: ServiceId
  readonly retryFor: number
  /** Whether something may prevent the work after the payment. */
  readonly revalidates: boolean
  /** Whether a provider is called. */
  readonly performs: boolean
  /** Applies a function to the service with its types. */
  readonly use: <A>(apply: <Input, Plan, Receipt>(service: PaidService<Input, Plan, Receipt>) => A) => A
  /** Restores an operation from storage. */
  readonly attempt: (context: OperationContext, operation: Operation) => Effect.Effect<Attempt>
}

/** The JSON text of inputs and plans, in which an operation stores them. */
interface Texts<Input, Plan> {
  readonly ofInput: (input: Input) => string
  readonly ofPlan: (plan: Plan) => string
}

/** By service: to build an encoder takes ten times as long as to use it. */
const built = new WeakMap<object, unknown>()

/** Returns the functions that encode the input and the plan of a service. They throw for values that are not of its types. */
export const textsOf = <Input, Plan, Receipt>(service: PaidService<Input, Plan, Receipt>): Texts<Input, Plan> => {
  const known = built.get(service)
  if (known !== undefined) return known as Texts<Input, Plan>
  const texts: Texts<Input, Plan> = {
    ofInput: Schema.encodeSync(Schema.fromJsonString(service.input)),
    ofPlan: Schema.encodeSync(Schema.fromJsonString(service.plan))
  }
  built.set(service, texts)
  return texts
}

/** Hides the types of a service. Stored text that fails to decode is a defect, because this code wrote it. */
export const toStored = <Input, Plan, Receipt>(service: PaidService<Input, Plan, Receipt>): StoredService => {
  const decodeInput = Schema.decodeEffect(Schema.fromJsonString(service.input))
  const decodePlan = Schema.decodeEffect(Schema.fromJsonString(service.plan))
  return {
    serviceId: service.serviceId,
    retryFor: service.retryFor,
    revalidates: service.revalidate !== undefined,
    performs: service.perform !== undefined,
    use: (apply) => apply(service),
    attempt: Effect.fnUntraced(function* (context, operation) {
      const input = yield* Effect.orDie(decodeInput(operation.input))
      const plan = yield* Effect.orDie(decodePlan(operation.plan))
      return {
        revalidate: service.revalidate?.(context, plan, input) ?? Effect.void,
        perform: Effect.map(
          service.perform?.(context, plan, input) ?? Effect.succeed(undefined as Receipt),
          (receipt) => (tenant: Tenant) => service.record({ ...context, tenant }, plan, input, receipt)
        ),
        abandon: service.abandon(context, plan)
      }
    })
  }
}

/** All paid services of this host, by id, so that an operation can continue without its original request. */
export class PaidServices extends Context.Service<PaidServices, ReadonlyMap<ServiceId, StoredService>>()(
  "@agentos/core/payment/PaidServices"
) {}
