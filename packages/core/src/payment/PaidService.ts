import { Context, Effect, Schema } from "effect"
import type { ServiceId } from "../catalog/ServiceId.ts"
import type { ProviderError, ProviderUnwell } from "../kernel/ProviderError.ts"
import type {
  AllowanceExhausted,
  Conflict,
  InvalidRequest,
  NumberExpiring,
  NumberReleased,
  ResourceNotFound,
  ResourceNotOwned
} from "../kernel/ResourceError.ts"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import type { TenantSuspended } from "../tenancy/TenantSuspended.ts"
import type { Operation, SecretSlot } from "./Operation.ts"

/** Why an operation can't be had, found out before anything is charged. */
export type CheckError =
  | InvalidRequest
  | ResourceNotFound
  | ResourceNotOwned
  | NumberReleased
  | NumberExpiring
  | AllowanceExhausted
  | Conflict
  | ProviderUnwell
  | TenantSuspended

/** The resource that was paid for has gone since the payment was checked: the money goes back. */
export class ResourceGone extends Schema.TaggedError<ResourceGone>()("ResourceGone", { message: Schema.String }) {}

/** The operation that a service works on. */
export interface OperationContext {
  readonly operationId: string
  readonly tenant: Tenant
  /** When the operation was claimed. */
  readonly createdAt: Timestamp
  /** Whether a request waits for what comes of it. What would be worse late than never is begun for nobody. */
  readonly attended: boolean
}

/** A secret inside an answer: it is derived when the answer is given, and never stored. */
export class AnswerSecret {
  readonly slot: Omit<SecretSlot, "offset">
  constructor(slot: Omit<SecretSlot, "offset">) {
    this.slot = slot
  }
}

/** What the client gets: `data` of the answer, in which secrets stand as `AnswerSecret`. */
export interface Fulfilment {
  readonly created: boolean
  readonly data: { readonly [key: string]: unknown }
}

/**
 * A paid service, declared. The engine owns the money and the order of things;
 * a service says what must hold, what is done outside, and what is then true.
 *
 * `Plan` is fixed before anything is charged and is the same for every attempt:
 * it holds the ids and references by which an outcome can be found out.
 */
export interface PaidService<Input, Plan, Receipt> {
  readonly serviceId: ServiceId
  readonly input: Schema.Codec<Input, Schema.Json>
  readonly plan: Schema.Codec<Plan, Schema.Json>
  /**
   * For how many milliseconds after the payment a provider that is unwell is tried again before the money goes
   * back. The call under way when the time is over is still waited for.
   */
  readonly retryFor: number
  /** Everything that would make the operation fail and can be known beforehand. `tenant` is null for a wallet's first call. */
  readonly check: (tenant: Tenant | null, input: Input) => Effect.Effect<void, CheckError>
  /** Checks again and reserves, in the transaction of the claim, under the tenant's lock. */
  readonly prepare: (context: OperationContext, input: Input) => Effect.Effect<Plan, CheckError>
  /** Gives up what `prepare` reserved, in the transaction that ends the operation unpaid or owed back. */
  readonly abandon: (context: OperationContext, plan: Plan) => Effect.Effect<void>
  /** Whether what was paid for can still be done, in the transaction that follows the payment. */
  readonly revalidate: (context: OperationContext, plan: Plan, input: Input) => Effect.Effect<void, ResourceGone>
  /** The call outside. It may be made again after a lost answer, and then has no second effect. */
  readonly perform: (context: OperationContext, plan: Plan, input: Input) => Effect.Effect<Receipt, ProviderError>
  /** Writes what is now true, in the transaction that fulfils the operation, under the tenant's lock. */
  readonly record: (
    context: OperationContext,
    plan: Plan,
    input: Input,
    receipt: Receipt
  ) => Effect.Effect<Fulfilment, ResourceGone>
}

/** One operation in the hands of its service, with the types of input, plan and receipt closed over. */
export interface Attempt {
  readonly revalidate: Effect.Effect<void, ResourceGone>
  /** Makes the call outside; what it gives writes the result, in the caller's transaction. */
  readonly perform: Effect.Effect<Effect.Effect<Fulfilment, ResourceGone>, ProviderError>
  readonly abandon: Effect.Effect<void>
}

/** A service as the worker needs it: able to take up an operation from what is stored of it. */
export interface StoredService {
  readonly serviceId: ServiceId
  readonly retryFor: number
  readonly attempt: (context: OperationContext, operation: Operation) => Effect.Effect<Attempt>
}

/** Closes a service over its types. Stored text that no longer decodes is a defect: it was written by this code. */
export const toStored = <Input, Plan, Receipt>(service: PaidService<Input, Plan, Receipt>): StoredService => {
  const decodeInput = Schema.decodeEffect(Schema.fromJsonString(service.input))
  const decodePlan = Schema.decodeEffect(Schema.fromJsonString(service.plan))
  return {
    serviceId: service.serviceId,
    retryFor: service.retryFor,
    attempt: Effect.fnUntraced(function* (context, operation) {
      const input = yield* Effect.orDie(decodeInput(operation.input))
      const plan = yield* Effect.orDie(decodePlan(operation.plan))
      return {
        revalidate: service.revalidate(context, plan, input),
        perform: Effect.map(service.perform(context, plan, input), (receipt) =>
          service.record(context, plan, input, receipt)
        ),
        abandon: service.abandon(context, plan)
      }
    })
  }
}

/** Every paid service of this host, so that an operation can be taken up without the request that began it. */
export class PaidServices extends Context.Service<PaidServices, ReadonlyMap<ServiceId, StoredService>>()(
  "@agentos/core/payment/PaidServices"
) {}
