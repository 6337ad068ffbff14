import {
  adviceOn,
  type Answer,
  type Operation,
  type OperationFailureKind,
  type OperationState,
  PAYMENT_STATES,
  type PaymentAdvice,
  type PaymentState,
  type PaymentStatus,
  Timestamp
} from "@agentos/core"
import { Cause, Exit, Option, Redacted, Schema } from "effect"
import { readProof } from "../../support/SimulatedRail.ts"
import { StoreLost } from "../../support/SimulatedServer.ts"
import type { SimulatedWorld } from "../../support/SimulatedWorld.ts"
import type { Goods, Purchase, Refusal } from "./Purchase.ts"
import type { Tables, Witness } from "./Witness.ts"

/** The result of a request at its client: an answer, an error, or nothing when the connection broke. */
export type Heard = Exit.Exit<Option.Option<Answer>, Refusal>

/** Failures for which a client may receive a 402: it was not charged, as far as the server could know then. */
const NOT_CHARGED: ReadonlyArray<OperationFailureKind> = ["refused", "expired", "used_otherwise"]

/** The request that an answer belongs to. */
export interface Asked {
  readonly knewSuccess: boolean
  readonly sentAt: number
}

/** Returns the state and the advice that an error about the payment of an operation conveys; undefined for others. */
const sayingOf = (
  refusal: Refusal | undefined
): { readonly paymentState: PaymentState; readonly advice: ReadonlyArray<PaymentAdvice> } | undefined => {
  const error = refusal?.error
  switch (error?._tag) {
    case "PaymentRequired":
      return { paymentState: "none", advice: ["pay"] }
    case "IdempotencyConflict":
      return { paymentState: error.paymentState, advice: ["pay"] }
    case "PaymentPending":
      return { paymentState: error.paymentState, advice: ["wait"] }
    case "OperationDelayed":
      // Nothing was claimed when the chain could not be read.
      return error.operationId === null ? undefined : { paymentState: error.paymentState, advice: ["wait"] }
    case "OperationRejected":
    case "PaymentReturned":
      return { paymentState: error.paymentState, advice: [error.paymentState === "refunded" ? "done" : "wait"] }
    default:
      return undefined
  }
}

export const describe = ({ goods, nonce, wallet }: Purchase): string =>
  `${goods.kind} by ${wallet.slice(-2)} (${nonce.slice(-2)})`

/** Whether the cause contains a defect that no simulated fault explains. */
export const isDefect = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isDieReason(reason) && !(reason.defect instanceof StoreLost))

const nameOf = (heard: Heard): string =>
  Exit.match(heard, {
    onSuccess: Option.match({ onNone: () => "nothing", onSome: () => "success" }),
    onFailure: (cause) => cause.reasons.find(Cause.isFailReason)?.error.error._tag ?? "a defect"
  })

const CreationPlan = Schema.fromJsonString(Schema.NullOr(Schema.Struct({ mailboxId: Schema.String })))

/** Compares the answers that clients receive with the world and the tables at that time. */
export class Hearing {
  readonly #world: SimulatedWorld
  readonly #tables: Tables
  readonly #witness: Witness

  constructor(world: SimulatedWorld, tables: Tables, witness: Witness) {
    this.#world = world
    this.#tables = tables
    this.#witness = witness
  }

  /**
   * Judges an honest client's answer. `knewSuccess`: the client had received the success before this request. `sentAt`
   * counts the transitions of operations before it: the answer may be that of any state since then.
   */
  honest(purchase: Purchase, heard: Heard, at: number, { knewSuccess, sentAt }: Asked): void {
    this.#witness.count(`heard ${nameOf(heard)}`)
    const contradiction = this.#contradiction(purchase, heard, at, sentAt)
    if (contradiction !== undefined) this.#witness.report(`${describe(purchase)}: ${contradiction}`)
    const flaw = Exit.isFailure(heard)
      ? this.#flawOfFailure(purchase, heard.cause, at, knewSuccess)
      : Option.match(heard.value, {
          onNone: () => undefined,
          onSome: (answer) => this.#flawOfAnswer(purchase, answer, at)
        })
    if (flaw !== undefined) this.#witness.report(`${describe(purchase)}: ${flaw}`)
  }

  /** Returns how the error of a payment's own request differs from the status of its operation; undefined if it does not. */
  #contradiction({ contested, nonce }: Purchase, heard: Heard, at: number, sentAt: number): string | undefined {
    const operation = this.#witness.operationOf(nonce)
    if (operation === undefined || contested || Exit.isSuccess(heard)) return undefined
    const said = sayingOf(heard.cause.reasons.find(Cause.isFailReason)?.error)
    if (said === undefined) return undefined
    const states = this.#witness.statesSince(operation, sentAt)
    const seenAt = Timestamp.Timestamp.make(Math.floor(at))
    const agrees = (state: OperationState) => {
      const { advice } = adviceOn({ _tag: "Held", state, proof: operation.proof }, seenAt)
      if (PAYMENT_STATES[state] !== said.paymentState || !said.advice.includes(advice)) return false
      this.#witness.count(`an error agrees with the status in ${state}`)
      return true
    }
    return states.some(agrees)
      ? undefined
      : `an error says ${said.paymentState} and ${said.advice.join(" or ")}, and the status is that of ${states.join(", ")}`
  }

  /** Judges the answer to a payment that was presented for something else. */
  misused(purchase: Purchase, how: string, heard: Heard): void {
    if (Exit.isSuccess(heard) && Option.isSome(heard.value)) {
      this.#witness.report(`${describe(purchase)}: its payment with another ${how} was answered with success`)
    }
    if (Exit.isFailure(heard) && isDefect(heard.cause)) this.#witness.report(Cause.pretty(heard.cause))
  }

  /** Judges the answer to a cancellation. Without a mail that waits, nothing is canceled. */
  canceled(messageId: string, heard: Exit.Exit<Option.Option<unknown>, { readonly _tag: string }>): void {
    if (Exit.isFailure(heard)) {
      if (isDefect(heard.cause)) this.#witness.report(Cause.pretty(heard.cause))
    } else if (Option.isSome(heard.value) && this.#tables.messages.get(messageId)?.message.status === "scheduled")
      this.#witness.report(`${messageId} was reported as canceled, and is scheduled`)
  }

  /** Notes the advice for a payment. Whether it was right shows at the end. */
  advised(purchase: Purchase, heard: Exit.Exit<Option.Option<PaymentStatus>, unknown>): void {
    if (Exit.isFailure(heard)) {
      // A lost store is the only failure: the header is valid.
      if (isDefect(heard.cause) || Cause.hasFails(heard.cause)) this.#witness.report(Cause.pretty(heard.cause))
    } else if (Option.isSome(heard.value)) {
      const { advice } = heard.value.value.record
      this.#witness.count(`advised ${advice}`)
      purchase.advised.add(advice)
    }
  }

  #flawOfAnswer(purchase: Purchase, answer: Answer, at: number): string | undefined {
    const body = Redacted.value(answer.body)
    const told = { body, receipt: answer.receipt }
    const first = purchase.answer
    purchase.answer ??= told
    if (first !== null) {
      return first.body === body && first.receipt === told.receipt ? undefined : "a retry was answered with other bytes"
    }
    const operation = this.#witness.operationOf(purchase.nonce)
    if (operation === undefined) return "it was answered without an operation"
    if (this.#witness.paymentOf(operation, at) === undefined) return "it was answered without a payment on the chain"
    return this.isGiven(purchase.goods, operation) ? undefined : "it was answered without the goods"
  }

  /** Whether the goods of an operation exist, or existed and have been deleted since. */
  isGiven(goods: Goods, operation: Operation): boolean {
    const { plan } = operation
    const { mailboxes, operations } = this.#tables
    const wasDeleted = (mailboxId: string) =>
      operations
        .rows()
        .some(
          ({ input, serviceId, state }) =>
            serviceId === "email.mailbox.delete" && state === "fulfilled" && input.includes(mailboxId)
        )
    const isThere = (mailboxId: string | undefined) =>
      mailboxId !== undefined && (mailboxes.has(mailboxId) || wasDeleted(mailboxId))
    switch (goods.kind) {
      case "create":
        return isThere(this.createdBy(operation))
      case "send":
        if (goods.sendAt !== undefined)
          return (
            wasDeleted(goods.mailboxId) ||
            this.#tables.messages.rows().some(({ message }) => plan.includes(message.messageId))
          )
        return this.#world.outbox.some(({ messageIdHeader }) => plan.includes(messageIdHeader.slice(1, -1)))
      case "update":
        return isThere(goods.mailboxId)
      case "delete":
        return !mailboxes.has(goods.mailboxId)
    }
  }

  /** Returns the mailbox that a creation makes; undefined if nothing was prepared. */
  createdBy({ plan }: Operation): string | undefined {
    return Schema.decodeSync(CreationPlan)(plan)?.mailboxId
  }

  #flawOfFailure(
    purchase: Purchase,
    cause: Cause.Cause<Refusal>,
    at: number,
    knewSuccess: boolean
  ): string | undefined {
    if (isDefect(cause)) return Cause.pretty(cause)
    const refusal = cause.reasons.find(Cause.isFailReason)?.error
    if (refusal === undefined) return undefined
    const failure = refusal.error
    if (knewSuccess) return `it was answered with success before, and now ${failure._tag}`
    const operation = this.#witness.operationOf(purchase.nonce)
    const state = operation?.state
    switch (failure._tag) {
      case "PaymentRequired":
        purchase.challenge = failure.challenge
        return this.#flawOf402(purchase, operation, at)
      case "IdempotencyConflict":
        if (purchase.contested || operation?.failure?.kind === "used_before") return undefined
        if (this.unclaimed(purchase, at)) return "its authorization has paid, and no refund is due"
        return operation === undefined && this.#useOf(purchase, at) !== undefined ? undefined : `conflict with ${state}`
      case "PaymentReturned":
        return (state === "refund_due" || state === "refunded") && operation?.failure?.kind === "settled_elsewhere"
          ? undefined
          : `it was answered with a transfer by others in ${state}`
      case "OperationRejected":
        return state === "refund_due" || state === "refunded" ? undefined : `it was answered with a refund in ${state}`
      case "PaymentPending":
        return operation === undefined ? "it is to wait for an operation that is not there" : undefined
      case "AnswerExpired":
        return "no job deletes answers in a simulation"
      case "OperationDelayed":
        // Without an operation id, a copy may have been claimed meanwhile. The client should repeat the
        // request in both cases.
        return failure.operationId === null || failure.operationId === operation?.operationId || purchase.contested
          ? undefined
          : "it must wait for another operation"
      case "AllowanceRequired":
        return "the simulated rail needs no allowance"
      case "PayerMismatch":
        return "its own wallet is refused as another's"
      case "NotAdmitted":
      case "InvalidRequest":
      case "ResourceNotFound":
      case "ResourceNotOwned":
      case "NumberReleased":
      case "NumberExpiring":
      case "AllowanceExhausted":
      case "ProviderUnavailable":
      case "Conflict":
      case "QuotaExceeded":
      case "TenantSuspended":
      case "SaleStopped":
      case "StoreUnavailable":
        if (operation !== undefined) return `its operation is hidden behind ${failure._tag}`
        if (refusal.paymentState !== "none") return `${failure._tag} says that its payment is ${refusal.paymentState}`
        return this.unclaimed(purchase, at) ? `${failure._tag}, though its authorization has paid` : undefined
    }
  }

  /** A 402 means that nothing was charged and that the client should sign again. */
  #flawOf402(purchase: Purchase, operation: Operation | undefined, at: number): string | undefined {
    if (operation === undefined) {
      const use = this.#useOf(purchase, at)
      return use?.call.kind === "transfer" && !this.#witness.isHeld(use.hash)
        ? "402 though its authorization has paid"
        : undefined
    }
    const { failure, state } = operation
    const isEnded = state === "unpaid" && failure !== null && NOT_CHARGED.includes(failure.kind)
    return isEnded ? undefined : `402 in ${state} (${failure?.kind})`
  }

  /** Whether a purchase has paid, whoever submitted it, and no operation holds it. */
  unclaimed({ nonce, payment }: Purchase, at: number): boolean {
    if (this.#witness.operationOf(nonce) !== undefined) return false
    const proof = readProof(payment)
    const { amount, network, payTo } = { ...proof.accepted, amount: proof.value }
    const terms = { ...proof, scheme: "exact" as const, network, amount, payTo, maxTimeoutSeconds: 0, extra: {} }
    const transfer = this.#witness.transferFor({ proof, terms }, at)
    return transfer !== undefined && this.#world.chain.isConfirmed(at, transfer)
  }

  #useOf({ nonce, wallet }: Purchase, at: number) {
    return this.#world.chain.use(at, { from: wallet, nonce })
  }
}
