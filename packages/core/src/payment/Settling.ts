import { Duration, Effect, Schedule } from "effect"
import type { Operation, OperationFailure, OperationFailureKind } from "./Operation.ts"
import { delayed, OperationJournal, pending, RETRY_LATER, RETRY_SOON } from "./OperationJournal.ts"
import { OperationSteps } from "./OperationStep.ts"
import type { OperationError } from "./PaymentError.ts"
import { PaymentRail, type SettleAnswer, type Settlement } from "./PaymentRail.ts"
import * as UnclaimedPayment from "./UnclaimedPayment.ts"

/** How long the chain is asked, after a settlement, before the client is told to come back. */
const CONFIRM_WITHIN = { accepted: Duration.seconds(10), unknown: Duration.seconds(3) }

/** A facilitator that takes longer than this over its answer is not waited for alone: the chain may know by then. */
const WATCH_AFTER = Duration.seconds(3)
const WATCH_EVERY = Duration.seconds(1)

const confirming = (within: Duration.Duration) =>
  Schedule.exponential("50 millis", 1.5).pipe(Schedule.upTo({ duration: within }))

/** Why an operation ends without its goods, as it is stored. */
export const failureOf = (kind: OperationFailureKind, message: string): { readonly failure: OperationFailure } => ({
  failure: { kind, message }
})

type Step = (operation: Operation) => Effect.Effect<Operation, OperationError>

/** The steps by which an operation finds out whether it is paid. */
export interface Settling {
  /** From `claimed`: reads the nonce, commits `settling`, simulates the transfer, submits the authorization. */
  readonly begin: Step
  /** From `settling`: asks the chain, and submits again only what is unused and can still be used. */
  readonly settleOn: Step
  /**
   * From `refused`: a failed simulation, or a facilitator that says no, ends nothing: whoever holds the authorization can submit it.
   * It is unpaid once the chain can't take it any more; a transfer that shows up is owed back.
   */
  readonly watchRefused: Step
}

export const make: Effect.Effect<Settling, never, PaymentRail | OperationJournal> = Effect.gen(function* () {
  const rail = yield* PaymentRail
  const { commit, giveUp, whileLeased } = yield* OperationJournal
  const reach = yield* OperationSteps

  const findSettlement = (operation: Operation, transaction?: string) =>
    rail.findSettlement(operation.proof, operation.terms, operation.nonceReadAtBlock ?? 0n, transaction)

  const begin = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
    yield* reach("claimed", operation)
    const reading = yield* Effect.mapError(whileLeased(operation)(rail.readNonce(operation.proof)), (error) =>
      delayed(operation, error)
    )
    if (reading.used) return yield* endUsed(operation)
    return yield* Effect.flatMap(
      commit(operation, "StartSettling", Effect.succeed({ nonceReadAtBlock: reading.block })),
      (settling) => submit(settling, "first")
    )
  })

  /** Ends a claim whose authorization was used by others: it buys nothing, and is owed back where it paid us. */
  const endUsed = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
    const { proof, terms } = operation
    const { afterBlock, settlement } = yield* Effect.mapError(
      whileLeased(operation)(UnclaimedPayment.find(rail, proof, terms)),
      (error) => delayed(operation, error)
    )
    switch (settlement._tag) {
      case "Paid": {
        const { transaction } = settlement
        const change = { failure: UnclaimedPayment.SETTLED_ELSEWHERE, transaction, nonceReadAtBlock: afterBlock }
        return yield* Effect.tap(giveUp(operation, "OweRefund", change), (owed) => reach("refund_owed", owed))
      }
      case "UsedOtherwise": {
        const why = "This authorization had been used before; it buys nothing here."
        return yield* giveUp(operation, "ProveUnpaid", failureOf("used_before", why))
      }
      case "Unused":
      case "Unsettled":
        return yield* pending(operation, RETRY_SOON)
    }
  })

  /** What a slow facilitator will have to say, as soon as the chain shows it. */
  const watchChain = (operation: Operation): Effect.Effect<SettleAnswer> =>
    findSettlement(operation).pipe(
      Effect.filterOrFail((found) => found._tag === "Paid"),
      Effect.retry(Schedule.spaced(WATCH_EVERY)),
      Effect.map(({ transaction }): SettleAnswer => ({ _tag: "Accepted", transaction })),
      Effect.orDie,
      Effect.delay(WATCH_AFTER)
    )

  /**
   * Only the first submission can be refused for certain, and only while the chain shows the authorization unused. A
   * later one, refused or not, says nothing of an earlier one that may be on its way: until the chain knows, the
   * outcome is unknown, and nobody signs again.
   */
  const submit = Effect.fnUntraced(function* (
    operation: Operation,
    submission: "first" | "repeated"
  ): Effect.fn.Return<Operation, OperationError> {
    yield* reach("before_simulate", operation)
    // While it can't be simulated nothing is submitted, and nothing is known against it.
    const flaw = yield* whileLeased(operation)(rail.simulate(operation.proof, operation.terms)).pipe(
      Effect.as(undefined),
      Effect.catchTag("ProofInvalid", (invalid) => Effect.succeed(invalid)),
      Effect.mapError((error) => delayed(operation, error))
    )
    yield* reach("after_simulate", operation)
    if (flaw !== undefined) {
      return submission === "first"
        ? yield* refuse(operation, flaw.message)
        : yield* Effect.fail(pending(operation, RETRY_LATER))
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
      Effect.mapError(() => pending(operation, RETRY_SOON))
    )
    return yield* conclude(operation, settlement)
  })

  /** Notes why the first submission did not come about, if the chain shows the authorization unused. */
  const refuse = Effect.fnUntraced(function* (
    operation: Operation,
    message: string
  ): Effect.fn.Return<Operation, OperationError> {
    const settlement = yield* Effect.mapError(whileLeased(operation)(findSettlement(operation)), () =>
      pending(operation, RETRY_LATER)
    )
    return settlement._tag === "Unused" && !settlement.expired
      ? yield* commit(operation, "NoteRefusal", Effect.succeed(failureOf("refused", message)))
      : yield* conclude(operation, settlement)
  })

  const conclude = (operation: Operation, settlement: Settlement): Effect.Effect<Operation, OperationError> => {
    switch (settlement._tag) {
      case "Paid":
        return Effect.tap(
          commit(operation, "ProveSettled", Effect.succeed({ transaction: settlement.transaction })),
          (settled) => reach("settled", settled)
        )
      case "UsedOtherwise":
        return giveUp(operation, "ProveUnpaid", failureOf("used_otherwise", settlement.message))
      case "Unused":
        return settlement.expired
          ? giveUp(operation, "ProveUnpaid", failureOf("expired", "The authorization ran out before it was used."))
          : Effect.fail(pending(operation, RETRY_SOON))
      case "Unsettled":
        return Effect.fail(pending(operation, RETRY_SOON))
    }
  }

  const settleOn = Effect.fnUntraced(function* (operation: Operation): Effect.fn.Return<Operation, OperationError> {
    const settlement = yield* Effect.mapError(whileLeased(operation)(findSettlement(operation)), () =>
      pending(operation, RETRY_LATER)
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
        return yield* Effect.tap(
          giveUp(operation, "OweRefund", { failure: why, transaction: settlement.transaction }),
          (owed) => reach("refund_owed", owed)
        )
      case "UsedOtherwise":
        return yield* giveUp(operation, "ProveUnpaid", { failure: why })
      case "Unused":
        return settlement.expired
          ? yield* giveUp(operation, "ProveUnpaid", { failure: why })
          : yield* pending(operation, RETRY_LATER)
      case "Unsettled":
        return yield* pending(operation, RETRY_LATER)
    }
  })

  return { begin, settleOn, watchRefused }
})
