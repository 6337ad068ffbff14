import {
  OPERATION_TRANSITIONS,
  type Operation,
  type OperationState,
  type OperationStore,
  type PaymentTerms,
  Timestamp
} from "@agentos/core"
import type { MemoryDatabase } from "@agentos/memory"
import { Effect, Option } from "effect"
import { authorizationOf, equalTransfers, judge, REFUND_WALLET } from "../../support/SimulatedRail.ts"
import type { MinedTransaction } from "../../support/SimulatedChain.ts"
import { now, type SimulatedWorld, type WorldWatcher } from "../../support/SimulatedWorld.ts"

export type Tables = MemoryDatabase["Service"]["tables"]

/** The states of an operation whose authorization or mail may have been sent to a facilitator or a mail provider. */
const SUBMITTED: ReadonlyArray<OperationState> = [
  "settling",
  "settled",
  "fulfilling",
  "fulfilled",
  "refused",
  "unpaid",
  "refund_due",
  "refunded"
]
const PERFORMED: ReadonlyArray<OperationState> = ["fulfilling", "fulfilled", "refund_due", "refunded"]
const OWED: ReadonlyArray<OperationState> = ["refund_due", "refunded"]

/**
 * Compares every transition of an operation, and every external call, with the world at that moment: the claim of a
 * transition must be true, and the requirements of a call must be stored.
 */
export class Witness {
  /** The violations, in the order of detection. */
  readonly findings: Array<string> = []
  /** Number of occurrences of each transition and of each kind of answer. */
  readonly tally = new Map<string, number>()
  /** The states that each operation has left, with the number of the transition that ended it. */
  readonly #left = new Map<string, Array<{ readonly state: OperationState; readonly transition: number }>>()
  #transitions = 0
  readonly #world: SimulatedWorld
  readonly #database: MemoryDatabase["Service"]

  constructor(world: SimulatedWorld, database: MemoryDatabase["Service"]) {
    this.#world = world
    this.#database = database
  }

  /** Returns every operation in the tables. */
  operations(): ReadonlyArray<Operation> {
    return this.#database.tables.operations.rows()
  }

  operationOf(nonce: string): Operation | undefined {
    return this.operations().find(({ proof }) => proof.nonce === nonce)
  }

  /** Number of transitions of all operations so far. */
  get transitions(): number {
    return this.#transitions
  }

  /** Returns the states of an operation since a number of transitions, the current one last. */
  statesSince({ operationId, state }: Operation, transition: number): ReadonlyArray<OperationState> {
    const left = this.#left.get(operationId) ?? []
    return [...left.filter((one) => one.transition > transition).map((one) => one.state), state]
  }

  report(finding: string): void {
    this.findings.push(finding)
  }

  count(what: string): void {
    this.tally.set(what, (this.tally.get(what) ?? 0) + 1)
  }

  /** Returns the confirmed transfer that pays for an operation, according to the chain alone. */
  paymentOf({ nonceReadAtBlock, proof, terms, transaction }: Operation, at: number) {
    const use = this.#world.chain.use(at, authorizationOf(proof))
    if (use === undefined || !this.#world.chain.isConfirmed(at, use)) return undefined
    return this.#transferOf(use, terms, nonceReadAtBlock ?? 0n, transaction, at)
  }

  /**
   * Returns the transfer that a use means for a payment. Where the chain does not tie them, it is the one that the operation has,
   * or one beside the use that no operation has.
   */
  #transferOf(use: MinedTransaction, terms: PaymentTerms, afterBlock: bigint, own: string | null, at: number) {
    const { chain, tiesTransfers } = this.#world
    if (tiesTransfers) return judge(use, terms, afterBlock)._tag === "Paid" ? use : undefined
    if (BigInt(use.block) <= afterBlock) return undefined
    const transfers = equalTransfers(use, chain.transfers(at), terms)
    return own === null ? transfers.find(({ hash }) => !this.isHeld(hash)) : transfers.find(({ hash }) => hash === own)
  }

  /** Whether an operation has this transaction as its payment. */
  isHeld(hash: string): boolean {
    return this.operations().some(({ transaction }) => transaction === hash)
  }

  /**
   * Returns the transfer by which an authorization paid in full after its challenge was issued, whoever submitted it.
   */
  transferFor({ proof, terms }: Pick<Operation, "proof" | "terms">, at: number) {
    const use = this.#world.chain.use(at, authorizationOf(proof))
    const issuedAt = Number(proof.accepted.extra["issuedAt"]) / 1_000
    // Within the tolerance, a transfer may count or not.
    return use === undefined || use.block < issuedAt ? undefined : this.#transferOf(use, terms, 0n, null, at)
  }

  readonly watcher: WorldWatcher = {
    twice: (what) => this.report(`two servers work on ${what}`),
    simulating: ({ nonce }) => {
      const operation = this.operationOf(nonce)
      if (operation === undefined) return this.report(`${nonce} was sent to the chain's node without a claim`)
      if (!SUBMITTED.includes(operation.state)) this.report(`${nonce} was sent to the node in ${operation.state}`)
    },
    settling: ({ nonce }) => {
      const operation = this.operationOf(nonce)
      if (operation === undefined) return this.report(`${nonce} was submitted without a claim`)
      if (!SUBMITTED.includes(operation.state)) this.report(`${nonce} was submitted in ${operation.state}`)
    },
    refunding: (refund) => {
      const operation = this.operations().find(({ refundNonce }) => refundNonce === refund.nonce)
      if (operation === undefined)
        return this.report(`a refund was requested under ${refund.nonce}, which belongs to no operation`)
      if (!OWED.includes(operation.state)) this.report(`a refund was requested in ${operation.state}`)
      if (refund.proof.payer !== operation.proof.payer || refund.terms.amount !== operation.proof.value) {
        this.report(`a refund of ${refund.terms.amount} to ${refund.proof.payer} differs from the payment`)
      }
    },
    sending: ({ messageIdHeader }, at) => {
      const operation = this.operations().find(({ plan }) => plan.includes(messageIdHeader.slice(1, -1)))
      if (operation === undefined) return this.report(`${messageIdHeader} was sent without an operation`)
      if (!PERFORMED.includes(operation.state)) this.report(`${messageIdHeader} was sent in ${operation.state}`)
      if (this.paymentOf(operation, at) === undefined) this.report(`${messageIdHeader} was sent without a payment`)
    }
  }

  /** Wraps a store so that its transitions and takeovers are checked. */
  readonly watch = (store: OperationStore["Service"]): OperationStore["Service"] => ({
    ...store,
    advance: (known, move) =>
      Effect.tap(store.advance(known, move), (moved) =>
        Effect.map(now, (at) => {
          if (Option.isSome(moved)) this.#judge(known.state, moved.value, at)
        })
      ),
    takeOver: (operationId, leaseMillis) =>
      this.#taking(Effect.map(store.takeOver(operationId, leaseMillis), Option.toArray)).pipe(
        Effect.map(([taken]) => Option.fromUndefinedOr(taken))
      ),
    takeDue: (limit, leaseMillis) => this.#taking(store.takeDue(limit, leaseMillis))
  })

  /** Checks that a takeover takes only operations without a lease or with an expired one, and raises the fence. */
  #taking(taking: Effect.Effect<ReadonlyArray<Operation>>): Effect.Effect<ReadonlyArray<Operation>> {
    return this.#database.transact(
      Effect.gen({ self: this }, function* () {
        const before = new Map(this.operations().map((operation) => [operation.operationId, operation]))
        const taken = yield* taking
        const at = yield* now
        for (const { fence, operationId } of taken) {
          const was = before.get(operationId)
          if (was === undefined) continue
          if ((was.leasedUntil ?? 0) > at) this.report(`${operationId} was taken from the worker that holds its lease`)
          if (fence <= was.fence) this.report(`${operationId} was taken without a new fence`)
        }
        return taken
      })
    )
  }

  #judge(from: OperationState, operation: Operation, at: number): void {
    const { operationId, state } = operation
    this.count(`${from} to ${state}`)
    this.#transitions++
    this.#left.set(operationId, [
      ...(this.#left.get(operationId) ?? []),
      { state: from, transition: this.#transitions }
    ])
    if (operation.failure !== null) this.count(`${state} because ${operation.failure.kind}`)
    const flaw = Object.values(OPERATION_TRANSITIONS[from]).includes(state)
      ? this.#flawOf(from, operation, at)
      : "there is no such move"
    if (flaw !== undefined) this.report(`operation ${operationId} went from ${from} to ${state}, but ${flaw}`)
  }

  /** Returns why an operation must not enter its state now; undefined if it may. */
  #flawOf(from: OperationState, operation: Operation, at: number): string | undefined {
    const { chain, settlements } = this.#world
    const { failure, proof, refundNonce, state, transaction } = operation
    const use = chain.use(at, authorizationOf(proof))
    switch (state) {
      case "settling":
        return operation.nonceReadAtBlock === null ? "the nonce was not read" : undefined
      case "settled":
      case "fulfilling":
      case "fulfilled":
      case "refund_due": {
        const payment = this.paymentOf(operation, at)
        if (payment === undefined) return "the chain shows no payment"
        if (payment.hash !== transaction) return "the payment is another transaction"
        if (state === "fulfilling" && this.#isGone(operation)) return "its mailbox is gone"
        if (from === "settling" && state === "fulfilled" && operation.serviceId === "email.message.send")
          return "its mail was announced by no commit"
        return state === "refund_due" ? this.#flawOfDebt(operation, at) : undefined
      }
      case "refused":
        if (!this.#wasRefused(proof)) return "it was not refused"
        // Only the chain knows the result of a submission that was not refused.
        if (settlements.some(({ mode, nonce }) => nonce === proof.nonce && !mode.includes("refuse"))) {
          return "the facilitator did not refuse each time"
        }
        return use === undefined ? undefined : "the chain shows the authorization used"
      case "unpaid": {
        if (failure?.kind === "used_before") {
          if (settlements.some(({ nonce }) => nonce === proof.nonce)) return "it was submitted here"
          return this.transferFor(operation, at) === undefined ? undefined : "its payment must be refunded"
        }
        if (use === undefined) {
          return chain.finalized(at) > proof.validBefore ? undefined : "the authorization can still be used"
        }
        if (!chain.isConfirmed(at, use)) return "what used the authorization may be taken back"
        return this.paymentOf(operation, at) === undefined ? undefined : "it is paid"
      }
      case "refunded": {
        const back = chain.use(at, { from: REFUND_WALLET, nonce: refundNonce ?? "" })
        if (back === undefined || !chain.isConfirmed(at, back)) return "the chain shows no transfer back"
        return back.hash === operation.refundTransaction ? undefined : "the transfer back is another transaction"
      }
      case "claimed":
        return "nothing leads there"
    }
  }

  /** Returns why the payment must not be refunded now; undefined if it may. */
  #flawOfDebt(operation: Operation, at: number): string | undefined {
    const { createdAt, failure, plan, proof } = operation
    const because = (holds: boolean) => (holds ? undefined : `it is not ${failure?.kind}`)
    switch (failure?.kind) {
      case "refused":
        return because(this.#wasRefused(proof))
      case "settled_elsewhere":
        return because(!this.#world.settlements.some(({ nonce }) => nonce === proof.nonce))
      case "rejected":
        return because([...this.#world.refusedMails].some((header) => plan.includes(header.slice(1, -1))))
      case "late":
        return because(at >= createdAt + Timestamp.DAY)
      case "gone":
        return because(this.#isGone(operation))
      case "canceled":
        return because(this.#isCanceled(operation))
      default:
        return `nothing is owed back because ${failure?.kind}`
    }
  }

  /** Whether the scheduled mail of an operation is canceled, and nothing will send it. */
  #isCanceled({ answer, plan }: Operation): boolean {
    const { messageRetries, messages } = this.#database.tables
    const message = messages.rows().find((row) => plan.includes(row.message.messageId))?.message
    return answer !== null && message?.status === "canceled" && !messageRetries.has(message.messageId)
  }

  #wasRefused({ nonce }: Operation["proof"]): boolean {
    const { failedSimulations, settlements } = this.#world
    return failedSimulations.has(nonce) || settlements.some((one) => one.nonce === nonce && /refuse/.test(one.mode))
  }

  /** Whether the mailbox of an operation has been deleted. False for a creation. */
  #isGone({ input, serviceId }: Operation): boolean {
    const has = this.#database.tables.mailboxes.rows().some(({ mailboxId }) => input.includes(mailboxId))
    return serviceId !== "email.mailbox.create" && !has
  }
}
