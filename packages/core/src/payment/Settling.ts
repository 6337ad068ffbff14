import { Duration, Effect, Schedule } from "effect"
import type { Operation, OperationFailure, OperationFailureKind } from "./Operation.ts"
import {
  delayed,
  OperationJournal,
  pending,
  RETRY_LATER,
  RETRY_SOON,
  type TransferTaken,
  UNCONFIRMED
} from "./OperationJournal.ts"
import { OperationSteps } from "./OperationStep.ts"
import type { OperationError } from "./PaymentError.ts"
import { type PaidSettlement, PaymentRail, type SettleAnswer, type Settlement } from "./PaymentRail.ts"
import * as UnclaimedPayment from "./UnclaimedPayment.ts"

/** How long the chain is polled after a settlement attempt before the client is told to retry. */
const CONFIRM_WITHIN = { accepted: Duration.seconds(10), unknown: Duration.seconds(3) }

/** Delay after which the chain is polled while the facilitator's answer is still outstanding. */
const WATCH_AFTER = Duration.seconds(3)
const WATCH_EVERY = Duration.seconds(1)

const confirming = (within: Duration.Duration) =>
  Schedule.exponential("50 millis", 1.5).pipe(Schedule.upTo({ duration: within }))

export const failureOf = (kind: OperationFailureKind, message: string): { readonly failure: OperationFailure } => ({
  failure: { kind, message }
})

const USED_BEFORE = failureOf("used_before", "This authorization was already used, so it buys nothing here.")

const SHORT = failureOf("refused", "The token kept a fee of the payment, so that less than the price arrived.")

const TAKEN = failureOf(
  "used_otherwise",
  "The authorization was used, but its payer's transfers paid for other requests."
)

const UNUSED = "The chain does not show the payment, and its authorization has not expired."

/** Why the chain was polled in vain after a submission. */
const whyUnsettled = (answer: SettleAnswer, error: { readonly _tag: string; readonly message: string }): string => {
  if (error._tag === "ProviderError") return error.message
  return answer._tag === "Accepted" ? UNCONFIRMED : answer.message
}

type Step = (operation: Operation) => Effect.Effect<Operation, OperationError>

/** The steps that determine whether an operation is paid. */
export interface Settling {
  /** From `claimed`: reads the nonce, commits `settling`, simulates the transfer and submits the authorization. */
  readonly begin: Step
  /** From `settling`: reads the chain, and submits again only if the authorization is unused and not expired. */
  readonly settleOn: Step
  /**
   * From `refused`: a failed simulation or the facilitator's refusal is not final, since any holder of the
   * authorization can still submit it. The operation becomes `unpaid` once the chain can no longer accept the
   * authorization; a transfer that appears before that is refunded.
   */
  readonly watchRefused: Step
}

/** `deliver` continues an operation in `settling` whose payment the chain shows. */
export const make = Effect.fnUntraced(function* (
  deliver: (operation: Operation, paid: PaidSettlement) => Effect.Effect<Operation, OperationError | TransferTaken>
): Effect.fn.Return<Settling, never, PaymentRail | OperationJournal> {
  const rail = yield* PaymentRail
  const { commitAlone, giveUp, owe, whileLeased } = yield* OperationJournal
  const reach = yield* OperationSteps

  const findSettlement = (operation: Operation, transaction?: string) =>
    rail.findSettlement(operation.proof, operation.terms, operation.nonceReadAtBlock ?? 0n, transaction)

  const begin = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
    yield* reach("claimed", operation)
    const reading = yield* Effect.mapError(whileLeased(operation)(rail.readNonce(operation.proof)), (error) =>
      delayed(operation, error)
    )
    if (reading.used) return yield* endUsed(operation, USED_BEFORE)
    return yield* Effect.flatMap(
      commitAlone(operation, "StartSettling", { nonceReadAtBlock: reading.block }),
      (settling) => submit(settling, "first")
    )
  })

  /**
   * Ends an operation whose authorization was used, but in no transfer that pays for all of it. It buys nothing. It is refunded if
   * the chain shows that it paid us since its challenge was issued: a third party may have submitted it before the claim, a
   * reorganization may have moved our transfer to a block before the claim, or the token may have kept a fee.
   */
  const endUsed = Effect.fnUntraced(function* (
    operation: Operation,
    unpaid: { readonly failure: OperationFailure }
  ): Effect.fn.Return<Operation, OperationError> {
    const { proof, terms } = operation
    const { afterBlock, settlement } = yield* Effect.mapError(
      whileLeased(operation)(UnclaimedPayment.find(rail, proof, terms)),
      (error) => delayed(operation, error)
    )
    switch (settlement._tag) {
      case "Paid": {
        const failure = settlement.isShort === true ? SHORT.failure : UnclaimedPayment.SETTLED_ELSEWHERE
        const owing =
          operation.state === "settling" ? yield* commitAlone(operation, "NoteRefusal", { failure }) : operation
        return yield* owe(owing, { paid: settlement, failure, nonceReadAtBlock: afterBlock }).pipe(
          Effect.tap((owed) => reach("refund_owed", owed)),
          Effect.catchTag("TransferTaken", () => giveUp(owing, "ProveUnpaid", unpaid))
        )
      }
      case "UsedOtherwise":
        return yield* giveUp(operation, "ProveUnpaid", unpaid)
      case "Unused":
      case "Unsettled":
        return yield* pending(operation, RETRY_SOON, UNCONFIRMED)
    }
  })

  /** Polls the chain for the result of a slow facilitator, and succeeds as soon as the chain shows the payment. */
  const watchChain = (operation: Operation): Effect.Effect<SettleAnswer> =>
    findSettlement(operation).pipe(
      Effect.filterOrFail((found) => found._tag === "Paid"),
      Effect.retry(Schedule.spaced(WATCH_EVERY)),
      Effect.map(({ transaction }): SettleAnswer => ({ _tag: "Accepted", transaction })),
      Effect.orDie,
      Effect.delay(WATCH_AFTER)
    )

  /**
   * Only the refusal of a first submission is conclusive, and only while the chain shows the authorization as unused. A
   * later submission, refused or not, says nothing about an earlier one that may still be pending: until the chain
   * shows the result, the outcome is unknown, and the client must not sign another authorization.
   */
  const submit = Effect.fnUntraced(function* (
    operation: Operation,
    submission: "first" | "repeated"
  ): Effect.fn.Return<Operation, OperationError> {
    yield* reach("before_simulate", operation)
    // A simulation that can't run leads to no submission, and is no evidence against the payment.
    const flaw = yield* whileLeased(operation)(rail.simulate(operation.proof, operation.terms)).pipe(
      Effect.as(undefined),
      Effect.catchTag("ProofInvalid", (invalid) => Effect.succeed(invalid)),
      Effect.mapError((error) => delayed(operation, error))
    )
    yield* reach("after_simulate", operation)
    if (flaw !== undefined) {
      return submission === "first"
        ? yield* refuse(operation, flaw.message)
        : yield* Effect.fail(pending(operation, RETRY_LATER, flaw.message))
    }
    yield* reach("before_settle", operation)
    const answer = yield* whileLeased(operation)(
      Effect.raceFirst(rail.settle(operation.proof, operation.terms), watchChain(operation))
    )
    yield* reach("after_settle", operation)
    if (answer._tag === "Refused" && submission === "first") return yield* refuse(operation, answer.message)
    const transaction = answer._tag === "Accepted" ? answer.transaction : undefined
    const settlement = yield* findSettlement(operation, transaction).pipe(
      Effect.filterOrFail((found) => found._tag === "Paid" || found._tag === "UsedOtherwise"),
      Effect.retry(confirming(answer._tag === "Accepted" ? CONFIRM_WITHIN.accepted : CONFIRM_WITHIN.unknown)),
      whileLeased(operation),
      Effect.mapError((error) => pending(operation, RETRY_SOON, whyUnsettled(answer, error)))
    )
    return yield* conclude(operation, settlement)
  })

  /** Records the refusal of the first submission if the chain shows the authorization as unused. */
  const refuse = Effect.fnUntraced(function* (
    operation: Operation,
    message: string
  ): Effect.fn.Return<Operation, OperationError> {
    const settlement = yield* Effect.mapError(whileLeased(operation)(findSettlement(operation)), (error) =>
      pending(operation, RETRY_LATER, error.message)
    )
    return settlement._tag === "Unused" && !settlement.expired
      ? yield* commitAlone(operation, "NoteRefusal", failureOf("refused", message))
      : yield* conclude(operation, settlement)
  })

  const conclude = (operation: Operation, settlement: Settlement): Effect.Effect<Operation, OperationError> => {
    switch (settlement._tag) {
      case "Paid":
        if (settlement.isShort === true) return endUsed(operation, SHORT)
        return Effect.catchTag(deliver(operation, settlement), "TransferTaken", () =>
          giveUp(operation, "ProveUnpaid", TAKEN)
        )
      case "UsedOtherwise":
        return endUsed(operation, failureOf("used_otherwise", settlement.message))
      case "Unused":
        return settlement.expired
          ? giveUp(operation, "ProveUnpaid", failureOf("expired", "The authorization expired before it was used."))
          : Effect.fail(pending(operation, RETRY_SOON, UNUSED))
      case "Unsettled":
        return Effect.fail(pending(operation, RETRY_SOON, UNCONFIRMED))
    }
  }

  const settleOn = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
    const settlement = yield* Effect.mapError(whileLeased(operation)(findSettlement(operation)), (error) =>
      pending(operation, RETRY_LATER, error.message)
    )
    return settlement._tag === "Unused" && !settlement.expired
      ? yield* submit(operation, "repeated")
      : yield* conclude(operation, settlement)
  })

  const watchRefused = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
    const settlement = yield* Effect.mapError(whileLeased(operation)(findSettlement(operation)), (error) =>
      delayed(operation, error)
    )
    const why = operation.failure ?? failureOf("refused", "The facilitator refused the payment.").failure
    switch (settlement._tag) {
      case "Paid":
        return yield* owe(operation, { paid: settlement, failure: why }).pipe(
          Effect.tap((owed) => reach("refund_owed", owed)),
          Effect.catchTag("TransferTaken", () => giveUp(operation, "ProveUnpaid", { failure: why }))
        )
      case "UsedOtherwise":
        return yield* endUsed(operation, { failure: why })
      case "Unused":
        return settlement.expired
          ? yield* giveUp(operation, "ProveUnpaid", { failure: why })
          : yield* pending(operation, RETRY_LATER, UNUSED)
      case "Unsettled":
        return yield* pending(operation, RETRY_LATER, UNCONFIRMED)
    }
  })

  return { begin, settleOn, watchRefused }
})
