import { Context, Effect, Layer, Option, Schema } from "effect"
import { EventStore } from "../events/EventStore.ts"
import { Keyring } from "../kernel/Keyring.ts"
import * as PollingWorker from "../kernel/PollingWorker.ts"
import type { ProviderError } from "../kernel/ProviderError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import * as Ledger from "./Ledger.ts"
import type { Operation, OperationFailure } from "./Operation.ts"
import { isFinal, move, type OperationMove, type OperationState, PAYMENT_STATES } from "./OperationState.ts"
import { type NextAttempt, type OperationChange, OperationStore } from "./OperationStore.ts"
import { type Attempt, PaidServices } from "./PaidService.ts"
import { adviceOn } from "./PaymentAdvice.ts"
import { OperationDelayed, PaymentPending } from "./PaymentError.ts"
import { eventOf } from "./PaymentEvent.ts"
import type { PaidSettlement } from "./PaymentRail.ts"
import { refundNonceOf } from "./Revoking.ts"

/** Lease of a worker in milliseconds. After a crash, the operation waits at most this long for another worker. */
export const WORK_LEASE = 15 * Timestamp.SECOND

/** Delays in seconds before a client should retry. */
export const RETRY_SOON = 1
export const RETRY_LATER = 5

/** Whether the client can be answered: the state is final, or only the worker without a client advances it. */
export const isAnswered = (state: OperationState): boolean =>
  isFinal(state) || state === "refused" || state === "refund_due"

/** Returns the next attempt at an operation that has just entered a state. */
const nextAttemptOf = (state: OperationState): NextAttempt => {
  if (isFinal(state)) return { kind: "none" }
  return isAnswered(state) ? { kind: "scheduled", millis: 0 } : { kind: "leased", millis: WORK_LEASE }
}

/** Why an operation waits for the chain. */
export const UNCONFIRMED = "The chain does not show a confirmed outcome of the payment yet."

/** Returns the state of the payment of an operation that is not complete. */
const openPaymentState = ({ state }: Operation): PaymentPending["paymentState"] => {
  const paymentState = PAYMENT_STATES[state]
  return paymentState === "pending" || paymentState === "settled" ? paymentState : "unknown"
}

/** Another worker owns the operation, or the result that it waits for is not known yet. */
export const pending = (operation: Operation, retryAfterSeconds: number, why?: string): PaymentPending =>
  new PaymentPending({
    operationId: operation.operationId,
    paymentState: openPaymentState(operation),
    retryAfterSeconds,
    ...(why === undefined ? {} : { why })
  })

/**
 * The payment was refused, but others can still submit its authorization: the client must not sign another one until the
 * chain proves that it was not used. The delay is that of the payment's status.
 */
export const refused = (operation: Operation, now: Timestamp.Timestamp): PaymentPending => {
  const { failure, operationId, proof } = operation
  const advised = adviceOn({ _tag: "Held", state: "refused", proof }, now)
  return new PaymentPending({
    operationId,
    paymentState: openPaymentState(operation),
    retryAfterSeconds: advised.advice === "wait" ? advised.retryAfterSeconds : RETRY_LATER,
    refusal: failure?.message ?? "The facilitator refused the payment."
  })
}

/** A provider is unavailable; the operation will be retried. */
export const delayed = (operation: Operation, error: ProviderError): OperationDelayed =>
  new OperationDelayed({
    operationId: operation.operationId,
    paymentState: openPaymentState(operation),
    message: error.message,
    retryAfterSeconds: RETRY_LATER
  })

const notOfThisHost = ({ operationId }: Operation): Error =>
  new Error(`operation ${operationId} has no service or no tenant on this server`)

/** Other operations have every transfer that can be the one of the payment. */
export class TransferTaken extends Schema.TaggedError<TransferTaken>()("TransferTaken", {}) {}

/** The payment of a debt, and why it bought nothing. */
export interface OwedPayment {
  readonly paid: PaidSettlement
  readonly failure: OperationFailure
  readonly nonceReadAtBlock?: bigint
}

/** A service's attempt at an operation. */
export interface OpenAttempt extends Attempt {
  /** Whether the tenant is suspended. The provider is not called for a suspended tenant. */
  readonly isSuspended: boolean
}

/**
 * Commits the state transitions of operations. Each runs in one transaction with its ledger entries, its event and the
 * caller's own writes.
 */
export class OperationJournal extends Context.Service<
  OperationJournal,
  {
    /**
     * Commits a transition. Fails with `PaymentPending`, and writes nothing, when another worker owns the operation.
     * `change` writes what belongs to the transition, for the tenant as it is under its lock.
     */
    readonly commit: <E>(
      operation: Operation,
      by: OperationMove,
      change: (tenant: Tenant) => Effect.Effect<OperationChange, E>
    ) => Effect.Effect<Operation, E | PaymentPending>
    /**
     * The same for a transition that writes nothing but the operation and its ledger entries, and has no event. It locks no
     * tenant. Under load, it is part of a commit of others.
     */
    readonly commitAlone: (
      operation: Operation,
      by: OperationMove,
      change: OperationChange
    ) => Effect.Effect<Operation, PaymentPending>
    /**
     * Returns the transaction that paid, after its transfer is claimed if the chain does not tie it to the payment. Call it in
     * the transaction of the move that it proves.
     */
    readonly transactionOf: (
      operation: Operation,
      paid: PaidSettlement
    ) => Effect.Effect<string, PaymentPending | TransferTaken>
    /** Commits that the chain shows the payment. */
    readonly settle: (
      operation: Operation,
      paid: PaidSettlement
    ) => Effect.Effect<Operation, PaymentPending | TransferTaken>
    /** Commits the end of an operation that is not fulfilled, and releases its reservations. */
    readonly giveUp: (
      operation: Operation,
      by: "ProveUnpaid" | "OweRefund",
      change: { readonly failure: OperationFailure }
    ) => Effect.Effect<Operation, PaymentPending>
    /** Commits that a payment which bought nothing is owed back, and releases the operation's reservations. */
    readonly owe: (operation: Operation, owed: OwedPayment) => Effect.Effect<Operation, PaymentPending | TransferTaken>
    /**
     * Commits that an unclaimed payment is owed back; no service reserved anything. Call it in the claim's transaction.
     */
    readonly oweUnclaimed: (
      operation: Operation,
      owed: OwedPayment
    ) => Effect.Effect<Operation, PaymentPending | TransferTaken>
    /** Opens the service's attempt at the operation. Dies if this host lacks the service or the tenant. */
    readonly openAttempt: (operation: Operation, attended: boolean) => Effect.Effect<OpenAttempt>
    /** The same for a tenant that the caller has read. */
    readonly openAttemptOf: (operation: Operation, tenant: Tenant, attended: boolean) => Effect.Effect<OpenAttempt>
    /** Renews the lease during an external call, so that no other worker starts the same call. */
    readonly whileLeased: (operation: Operation) => <A, E>(outside: Effect.Effect<A, E>) => Effect.Effect<A, E>
  }
>()("@agentos/core/payment/OperationJournal") {
  static readonly layer = Layer.effect(
    OperationJournal,
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const tenants = yield* TenantStore
      const transactor = yield* Transactor
      const events = yield* EventStore
      const services = yield* PaidServices
      const keyring = yield* Keyring

      const openAttemptOf = Effect.fnUntraced(function* (operation: Operation, tenant: Tenant, attended: boolean) {
        const service = services.get(operation.serviceId)
        if (service === undefined) return yield* Effect.die(notOfThisHost(operation))
        const { createdAt, operationId } = operation
        const attempt = yield* service.attempt({ operationId, createdAt, tenant, attended }, operation)
        return { ...attempt, isSuspended: tenant.suspension !== undefined }
      })
      const openAttempt = (operation: Operation, attended: boolean) =>
        Effect.flatMap(
          tenants.find(operation.tenantId),
          Option.match({
            onNone: () => Effect.die(notOfThisHost(operation)),
            onSome: (tenant) => openAttemptOf(operation, tenant, attended)
          })
        )

      const stateAfter = ({ state }: Operation, by: OperationMove): Effect.Effect<OperationState> => {
        const to = move(state, by)
        return to === undefined ? Effect.die(new Error(`${by} is not a move from ${state}`)) : Effect.succeed(to)
      }

      /** Writes a transition and its ledger entries at once. Fails if another worker owns the operation. */
      const advance = Effect.fnUntraced(function* (operation: Operation, to: OperationState, change: OperationChange) {
        const entries = Ledger.entriesOf(operation, operation.state, to)
        const moved = yield* operations.advance(operation, { to, change, next: nextAttemptOf(to), entries })
        return Option.isSome(moved) ? moved.value : yield* pending(operation, RETRY_SOON)
      })

      /** Locks the tenant of an operation that is still this worker's. */
      const lockOwned = (operation: Operation, by: OperationMove) => {
        const locking = tenants.lock([operation.tenantId])
        // `Fulfilling.deliver` takes any failure for a reason to advance the operation alone, which is checked.
        if (by === "FulfillAtOnce") return locking
        // Checked before any write of the transition: a worker that lost the operation may find its goods delivered. Sent
        // together, and executed in this order.
        return Effect.flatMap(
          Effect.all([locking, operations.isUnchanged(operation)], { concurrency: 2 }),
          ([locked, isOurs]) => (isOurs ? Effect.succeed(locked) : Effect.fail(pending(operation, RETRY_SOON)))
        )
      }

      const commit = <E>(
        operation: Operation,
        by: OperationMove,
        change: (tenant: Tenant) => Effect.Effect<OperationChange, E>
      ) =>
        transactor.transact(
          Effect.gen(function* () {
            const to = yield* stateAfter(operation, by)
            const [tenant] = yield* lockOwned(operation, by)
            if (tenant === undefined) return yield* Effect.die(notOfThisHost(operation))
            const changed = yield* change(tenant)
            const event = eventOf({ ...operation, ...changed, state: to })
            const moving = advance(operation, to, changed)
            if (event === undefined) return yield* moving
            const [moved] = yield* Effect.all([moving, events.append([event])], { concurrency: 2 })
            return moved
          }),
          { key: operation.proof.payer }
        )

      const commitAlone = (operation: Operation, by: OperationMove, change: OperationChange) =>
        transactor.transact(
          Effect.flatMap(stateAfter(operation, by), (to) => advance(operation, to, change)),
          { key: operation.proof.payer }
        )

      const refundNonce = (operation: Operation) => refundNonceOf(keyring, operation)

      const transactionOf = Effect.fnUntraced(function* (
        operation: Operation,
        { candidates, hasUnconfirmed, transaction }: PaidSettlement
      ): Effect.fn.Return<string, PaymentPending | TransferTaken> {
        if (candidates === undefined) return transaction
        const claimed = yield* operations.claimTransfer(operation.operationId, candidates)
        if (Option.isSome(claimed)) return claimed.value.transaction
        return yield* hasUnconfirmed === true ? pending(operation, RETRY_SOON, UNCONFIRMED) : new TransferTaken()
      })

      const commitOwed = (operation: Operation, { paid, ...change }: OwedPayment, abandon: Effect.Effect<void>) =>
        commit(operation, "OweRefund", () =>
          Effect.map(Effect.andThen(abandon, transactionOf(operation, paid)), (transaction) => ({
            ...change,
            transaction,
            refundNonce: refundNonce(operation)
          }))
        )

      return OperationJournal.of({
        commit,
        commitAlone,
        transactionOf,
        settle: (operation, paid) => {
          const settled = Effect.flatMap(transactionOf(operation, paid), (transaction) =>
            commitAlone(operation, "ProveSettled", { transaction })
          )
          return paid.candidates === undefined ? settled : transactor.transact(settled, { key: operation.proof.payer })
        },
        giveUp: (operation, by, change) =>
          Effect.flatMap(openAttempt(operation, false), ({ abandon }) =>
            commit(operation, by, () =>
              Effect.as(abandon, by === "OweRefund" ? { ...change, refundNonce: refundNonce(operation) } : change)
            )
          ),
        owe: (operation, owed) =>
          Effect.flatMap(openAttempt(operation, false), ({ abandon }) => commitOwed(operation, owed, abandon)),
        oweUnclaimed: (operation, owed) => commitOwed(operation, owed, Effect.void),
        openAttempt,
        openAttemptOf,
        whileLeased: ({ fence, operationId }) =>
          PollingWorker.whileLeased({
            millis: WORK_LEASE,
            renew: operations.setNextAttempt(operationId, fence, { kind: "leased", millis: WORK_LEASE })
          })
      })
    })
  )
}
