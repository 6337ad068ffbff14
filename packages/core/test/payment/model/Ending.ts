import { LedgerCheck, MailboxStore, type Operation } from "@agentos/core"
import { Context, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { REFUND_WALLET, authorizationOf } from "../../support/SimulatedRail.ts"
import { now } from "../../support/SimulatedWorld.ts"
import type { Bookkeeping } from "./Bookkeeping.ts"
import { type Deployment, REFUND_FUNDS } from "./Deployment.ts"
import { describe } from "./Hearing.ts"
import { isEnd, isRevoked } from "./OperationModel.ts"
import type { Play } from "./Play.ts"
import type { Purchase } from "./Purchase.ts"

/** Milliseconds after the last fault, or after an authorization expires, within which every operation must settle. */
const PROMISED = 60_000
/** Additional milliseconds for a refund: it waits until the payment and then the refund are final. */
const PAID_BACK_WITHIN = 60_000

/** Ends all faults, waits for the promised time, and compares the outcome of every purchase with the world. */
export class Ending {
  readonly #deployment: Deployment
  readonly #play: Play
  readonly #bookkeeping: Bookkeeping

  constructor(deployment: Deployment, play: Play, bookkeeping: Bookkeeping) {
    this.#deployment = deployment
    this.#play = play
    this.#bookkeeping = bookkeeping
  }

  readonly check = Effect.fnUntraced({ self: this }, function* (this: Ending) {
    const { servers, witness, world } = this.#deployment
    world.lift()
    const lifted = yield* now
    servers.forEach((server) => server.lift(lifted))
    yield* this.#play.fillRefundWallet(REFUND_FUNDS)
    yield* Effect.forEach(servers, (server) => server.start)
    const inFlightUntil = (operation: Operation) => Math.max(lifted, operation.proof.validBefore * 1_000) + PROMISED
    for (;;) {
      const at = yield* now
      const open = witness.operations().filter((operation) => !this.#isSettled(operation))
      const late = open.filter((operation) =>
        operation.state === "refund_due"
          ? at > inFlightUntil(operation) + PAID_BACK_WITHIN
          : at > inFlightUntil(operation)
      )
      for (const { operationId, state } of late) {
        witness.report(`operation ${operationId} is still in ${state}, ${(at - lifted) / 1_000} s after the last fault`)
      }
      const unclaimed = this.#play.purchases.filter((purchase) => this.#deployment.hearing.unclaimed(purchase, at))
      const kept = unclaimed.filter(({ validBefore }) => at > Math.max(lifted, validBefore * 1_000) + PROMISED)
      for (const purchase of kept) witness.report(`${describe(purchase)} has paid, and is not owed it back`)
      if (open.length + unclaimed.length === 0 || late.length + kept.length > 0) break
      yield* Effect.forEach(unclaimed, (purchase) => this.#claim(purchase))
      yield* TestClock.adjust("1 second")
      yield* this.#bookkeeping.check
    }
    if (witness.findings.length > 0) return
    yield* this.#judgePurchases()
    yield* this.#judgeNames()
    yield* this.#judgeMoney()
    yield* this.#retryAll()
  })

  /** Presents a payment without an operation, under another key if its own key belongs to another payment. */
  readonly #claim = (purchase: Purchase): Effect.Effect<void> => {
    if (!purchase.contested) return this.#play.present(purchase, 0)
    const idempotencyKey = `${purchase.nonce.slice(-8)} again`
    return this.#play.present({ ...purchase, request: { ...purchase.request, idempotencyKey } }, 0)
  }

  /** Whether an operation is final, or is due a refund that no wallet here can pay. */
  #isSettled({ state }: Operation): boolean {
    return isEnd(state) || (state === "refund_due" && !this.#deployment.world.hasRefundWallet)
  }

  readonly #judgePurchases = Effect.fnUntraced({ self: this }, function* (this: Ending) {
    const { hearing, tables, witness, world } = this.#deployment
    const at = yield* now
    for (const purchase of this.#play.purchases) {
      const operation = witness.operationOf(purchase.nonce)
      const submitted = world.settlements.some(({ nonce }) => nonce === purchase.nonce)
      const report = (flaw: string) => witness.report(`${describe(purchase)} in ${operation?.state}: ${flaw}`)
      const own = world.chain.use(at, { from: purchase.wallet, nonce: purchase.nonce })
      const isOthers =
        own !== undefined && operation?.transaction !== own.hash && !world.tiesTransfers && witness.isHeld(own.hash)
      const moved = own?.call.kind === "transfer" && !isOthers
      if (moved && purchase.advised.has("pay")) report("its holder was advised to pay again")
      // A fulfilled operation is done until its goods are withdrawn.
      const isDone = operation !== undefined && (isEnd(operation.state) || isRevoked(operation))
      if (purchase.advised.has("done") && !isDone) {
        report("its holder was advised that it is done")
      }
      if (operation === undefined) {
        if (submitted) report("it was submitted")
        if (purchase.answer !== null) report("it was answered with success")
        continue
      }
      const use = world.chain.use(at, authorizationOf(operation.proof))
      // A transfer that a third party submitted before the nonce was read buys nothing, and the client learns
      // that.
      const usedBefore = operation.failure?.kind === "used_before"
      const paid = !usedBefore && witness.paymentOf(operation, at) !== undefined
      const back = world.chain.use(at, { from: REFUND_WALLET, nonce: operation.refundNonce ?? "" })
      const given = hearing.isGiven(purchase.goods, operation)
      if (paid !== ["fulfilled", "refund_due", "refunded"].includes(operation.state)) {
        report(paid ? "it has paid" : "it has not paid")
      }
      if ((operation.state === "refunded") !== (back !== undefined)) report("the money is not where it says")
      if (operation.state === "fulfilled" && !given) report("its goods were not given")
      if (operation.answer === null && purchase.answer !== null) report("it was answered with success")
      if (operation.state === "unpaid") {
        if (use?.call.kind === "transfer" && submitted && !isOthers) report("its authorization moved money")
        if (purchase.goods.kind === "send" && purchase.goods.sendAt === undefined && given) report("its mail was sent")
      }
      const mailboxId = purchase.goods.kind === "create" ? hearing.createdBy(operation) : undefined
      if (operation.state !== "fulfilled" && mailboxId !== undefined && tables.mailboxes.has(mailboxId)) {
        report("its mailbox was made")
      }
    }
  })

  /** Checks that only a wallet that owns, or owned, a mailbox holds its local part. */
  readonly #judgeNames = Effect.fnUntraced({ self: this }, function* (this: Ending) {
    const { stores, tables, witness } = this.#deployment
    const { isAvailable } = Context.get(stores, MailboxStore)
    for (const name of this.#play.names) {
      const has = tables.mailboxes.where("localPart", name).length > 0
      const owner = tables.localParts.get(name)?.owner ?? null
      if ((yield* isAvailable(name, owner)) === has)
        witness.report(`${name} is ${has ? "free" : "taken"}, and should not be`)
    }
  })

  /** Checks that the core's own ledger check reports no problem, alone and against the chain. */
  readonly #judgeMoney = Effect.fnUntraced({ self: this }, function* (this: Ending) {
    const { servers, witness } = this.#deployment
    const asking = yield* Effect.flatMap(LedgerCheck, ({ check, compareWithChain }) =>
      Effect.all([check, Effect.orDie(compareWithChain)])
    ).pipe((request) => servers[0].ask(request), Effect.forkChild)
    yield* TestClock.adjust(100)
    const report = yield* Fiber.join(asking)
    const [ledgers, chains] = Option.getOrElse(report, () => [[], []])
    for (const { problems } of [...ledgers, ...chains]) problems.forEach((problem) => witness.report(problem))
  })

  /** Checks that a retry with the same bytes receives the final answer. */
  readonly #retryAll = Effect.fnUntraced({ self: this }, function* (this: Ending) {
    const { witness } = this.#deployment
    const known = this.#play.purchases.filter(({ nonce }) => witness.operationOf(nonce) !== undefined)
    yield* Effect.forEach(known, (purchase, index) => this.#play.present(purchase, index % 2))
    yield* TestClock.adjust(100)
    yield* this.#bookkeeping.check
    for (const purchase of known) {
      const state = witness.operationOf(purchase.nonce)?.state
      if (state === "fulfilled" && purchase.answer === null) {
        witness.report(`${describe(purchase)}: a retry does not get the answer`)
      }
    }
  })
}
