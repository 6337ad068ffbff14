import { OperationStore } from "@agentos/core"
import { MemoryDatabase } from "@agentos/memory"
import { Context, Effect } from "effect"
import { REFUND_WALLET } from "../../support/SimulatedRail.ts"
import { now } from "../../support/SimulatedWorld.ts"
import type { Deployment } from "./Deployment.ts"
import { isRevoked, OperationModel } from "./OperationModel.ts"

/** Compares the stored data with the model and the chain after every step. */
export class Bookkeeping {
  readonly #model = new OperationModel()
  readonly #deployment: Deployment

  constructor(deployment: Deployment) {
    this.#deployment = deployment
  }

  readonly check: Effect.Effect<void> = Effect.suspend(() => {
    const { stores, witness } = this.#deployment
    const database = Context.get(stores, MemoryDatabase)
    const { books } = Context.get(stores, OperationStore)
    return Effect.map(
      // Runs as one transaction, between the transactions of the servers.
      database.transact(Effect.all([database.run(() => witness.operations()), books, now])),
      ([operations, { balances: ledger, totals: sums }, at]) => {
        this.#model.observe(operations).forEach((flaw) => witness.report(flaw))
        this.#expect(
          "the ledger",
          Object.fromEntries(ledger.flatMap(({ account, amount }) => (amount === 0n ? [] : [[account, amount]]))),
          this.#model.balances()
        )
        if (ledger.reduce((sum, { amount }) => sum + amount, 0n) !== 0n) witness.report("the ledger does not add up")
        const counted: Record<string, bigint> = {}
        const summed: Record<string, bigint> = {}
        for (const { state, terms } of operations) {
          counted[state] = (counted[state] ?? 0n) + 1n
          summed[state] = (summed[state] ?? 0n) + terms.amount
        }
        this.#expect("the count", Object.fromEntries(sums.map(({ count, state }) => [state, BigInt(count)])), counted)
        this.#expect("the sum", Object.fromEntries(sums.map(({ amount, state }) => [state, amount])), summed)
        this.#checkReservations()
        this.#checkEvents()
        this.#checkTransfers(at)
      }
    )
  })

  #expect(what: string, found: Readonly<Record<string, bigint>>, expected: Readonly<Record<string, bigint>>): void {
    const differs = [...new Set([...Object.keys(found), ...Object.keys(expected)])].filter(
      (name) => found[name] !== expected[name]
    )
    for (const name of differs) {
      this.#deployment.witness.report(`${what} has ${found[name]} for ${name}, and the model ${expected[name]}`)
    }
  }

  /** Checks that only an operation that can still be fulfilled reserves a local part. */
  #checkReservations(): void {
    const { tables, witness } = this.#deployment
    for (const { heldBy, localPart } of tables.localParts.rows()) {
      const state = heldBy === null ? undefined : tables.operations.get(heldBy.operationId)?.state
      if (
        heldBy !== null &&
        (state === undefined || ["fulfilled", "unpaid", "refund_due", "refunded"].includes(state))
      ) {
        witness.report(`${localPart} is held by an operation in ${state}`)
      }
    }
  }

  /** Checks that each end has its events exactly once, written in the transaction of the transition. */
  #checkEvents(): void {
    const { tables, witness } = this.#deployment
    const told = tables.events.rows().map(({ event }) => `${event.type} ${event.resourceId}`)
    for (const operation of witness.operations()) {
      const { operationId, state } = operation
      const completed = told.filter((event) => event === `payment.completed ${operationId}`).length
      const failed = told.filter((event) => event === `payment.failed ${operationId}`).length
      const refunded = told.filter((event) => event === `payment.refunded ${operationId}`).length
      const wasFulfilled = state === "fulfilled" || isRevoked(operation)
      const hasFailed = !wasFulfilled && ["unpaid", "refund_due", "refunded"].includes(state)
      const expected = [wasFulfilled ? 1 : 0, hasFailed ? 1 : 0, state === "refunded" ? 1 : 0]
      if (completed !== expected[0] || failed !== expected[1] || refunded !== expected[2]) {
        witness.report(
          `operation ${operationId} in ${state} has ${completed} events for completion, ${failed} for failure ` +
            `and ${refunded} for its refund`
        )
      }
    }
  }

  /** Checks that no authorization moves money twice, and that only due operations are refunded: once and in full. */
  #checkTransfers(at: number): void {
    const { witness, world } = this.#deployment
    const seen = new Set<string>()
    for (const transfer of world.chain.transfers(at)) {
      const { from, nonce, to, value } = transfer.call.authorization
      if (seen.has(`${from} ${nonce}`)) witness.report(`${nonce} moved money twice`)
      seen.add(`${from} ${nonce}`)
      if (from !== REFUND_WALLET) continue
      const owing = witness.operations().find(({ refundNonce }) => refundNonce === nonce)
      if (owing === undefined) witness.report(`${value} went to ${to} without a debt`)
      else if (to !== owing.proof.payer || value !== owing.terms.amount) {
        witness.report(`${value} went to ${to} instead of ${owing.terms.amount} to ${owing.proof.payer}`)
      } else if (witness.paymentOf(owing, at) === undefined)
        witness.report(`${value} went to ${to}, which had not paid`)
    }
    const backTo = witness
      .operations()
      .map(({ refundNonce }) => refundNonce)
      .filter((nonce) => nonce !== null)
    if (new Set(backTo).size !== backTo.length) witness.report("two operations are refunded under one nonce")
  }
}
