import {
  type PaidRequest,
  PaymentStatuses,
  ScheduledMessages,
  type Tenant,
  TenantStore,
  walletAddress
} from "@agentos/core"
import { Context, Effect, Exit, Fiber, Option, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { authorizationOf, pay, readProof, REFUND_WALLET, VALID_SECONDS } from "../../support/SimulatedRail.ts"
import { now } from "../../support/SimulatedWorld.ts"
import type { Command } from "./Command.ts"
import { type Deployment, REFUND_FUNDS, WALLETS } from "./Deployment.ts"
import { challengeFor, type Goods, type Purchase, requestFor, send } from "./Purchase.ts"

type Buy = Extract<Command, { _tag: "Buy" }>

const NAMES = ["ada", "bob", "cyd"] as const
const LONG = "25 hours"
/** Milliseconds until a scheduled mail is due: longer than a history lasts. */
const SCHEDULED = 29 * 86_400_000
/** How many statuses are read after each command. */
const STATUSES = 2

/** Executes commands on a deployment: those of the clients, of the killer of servers and of the outside world. */
export class Play {
  /** All signed purchases that were sent, oldest first. */
  readonly purchases: Array<Purchase> = []
  /** All local parts that histories request. */
  readonly names: ReadonlyArray<string> = NAMES
  readonly #deployment: Deployment
  readonly #scope: Scope.Scope
  readonly #asking = new Map<Purchase, Array<Fiber.Fiber<void>>>()
  #count = 0

  constructor(deployment: Deployment, scope: Scope.Scope) {
    this.#deployment = deployment
    this.#scope = scope
  }

  readonly run = (command: Command): Effect.Effect<void> => {
    const { world } = this.#deployment
    switch (command._tag) {
      case "Buy":
        return this.#buy(command)
      case "Retry":
      case "Misuse":
      case "TwoProofs":
      case "PayAnew":
      case "Vanish":
      case "Front":
        return this.#onPurchase(command)
      case "Wait":
        return Effect.void
      case "Advance":
        return TestClock.adjust(command.millis)
      case "Kill":
        return this.#server(command.server).kill
      case "KillAt":
        return Effect.sync(() => this.#server(command.server).killAt(command.step, command.skip))
      case "Start":
        return this.#server(command.server).start
      case "Freeze":
        return Effect.sync(() => this.#server(command.server).freeze())
      case "FreezeAt":
        return Effect.sync(() => this.#server(command.server).freezeAt(command.step, command.seconds))
      case "Thaw":
        return Effect.map(now, (at) => this.#server(command.server).thaw(at))
      case "Cut":
        return Effect.sync(() => void (this.#server(command.server).links[command.link] = command.cut))
      case "StoreFault":
        return Effect.sync(() => this.#server(command.server).storeFault.set(command.mode, command.times))
      case "SettleFault":
        return Effect.sync(() => world.settleFault.set(command.mode, command.times))
      case "VerifyFault":
        return Effect.sync(() => world.verifyFault.set(command.mode, command.times))
      case "SimulateFault":
        return Effect.sync(() => world.simulateFault.set(command.mode, command.times))
      case "RefundFault":
        return Effect.sync(() => world.refundFault.set(command.mode, command.times))
      case "MailFault":
        return Effect.sync(() => world.mailFault.set(command.mode, command.times))
      case "Lift":
        return Effect.sync(() => world.lift())
      case "Reorganise":
        return Effect.map(now, (at) => world.chain.reorganise(at, command.depth, command.forgets))
      case "RefundWallet":
        return this.fillRefundWallet(command.filled ? REFUND_FUNDS : 0n)
      case "LongOutage":
        return this.#outage
    }
  }

  /** Sets the balance of the refund wallet, if there is one. */
  fillRefundWallet(amount: bigint): Effect.Effect<void> {
    const { chain, hasRefundWallet } = this.#deployment.world
    return Effect.map(now, (at) => {
      if (hasRefundWallet) chain.fund(REFUND_WALLET, amount - chain.balance(at, REFUND_WALLET))
    })
  }

  /** Sends a purchase to a server as its client does. The answer is judged on arrival. */
  readonly present = Effect.fnUntraced(
    { self: this },
    function* (this: Play, purchase: Purchase, server: number, isAdmitted = true) {
      const { hearing } = this.#deployment
      const asked = { knewSuccess: purchase.answer !== null, sentAt: this.#deployment.witness.transitions }
      const asking = yield* this.#hear(this.#server(server).ask(send(purchase, isAdmitted)), (heard, at) =>
        hearing.honest(purchase, heard, at, asked)
      )
      this.#asking.set(purchase, [...(this.#asking.get(purchase) ?? []), asking])
    }
  )

  /** Reads the status of the last purchases by their headers. The advice is judged on arrival. */
  readonly readStatuses = Effect.fnUntraced({ self: this }, function* (this: Play) {
    const { hearing } = this.#deployment
    for (const [index, purchase] of this.purchases.slice(-STATUSES).entries()) {
      const reading = Effect.flatMap(PaymentStatuses, ({ ofPayment }) => ofPayment(purchase.payment))
      yield* this.#hear(this.#server(index % 2).ask(reading), (heard) => hearing.advised(purchase, heard))
    }
  })

  /** Judges the end of a request on arrival. A judge that fails is a violation, or it would accept everything. */
  #hear<A, E>(
    asking: Effect.Effect<A, E>,
    judge: (heard: Exit.Exit<A, E>, at: number) => void
  ): Effect.Effect<Fiber.Fiber<void>> {
    const judged = Effect.flatMap(Effect.exit(asking), (heard) => Effect.map(now, (at) => judge(heard, at)))
    return judged.pipe(
      Effect.catchDefect((defect) =>
        Effect.sync(() => this.#deployment.witness.report(`a judge failed: ${String(defect)}`))
      ),
      Effect.forkIn(this.#scope)
    )
  }

  #server(index: number) {
    return this.#deployment.servers[index === 0 ? 0 : 1]
  }

  /** Returns the purchase `index` places before the last; undefined if there are fewer. */
  #chosen(index: number): Purchase | undefined {
    return this.purchases.at(-1 - index)
  }

  readonly #tenantOf = (wallet: string): Effect.Effect<Tenant | null> =>
    Effect.map(Context.get(this.#deployment.stores, TenantStore).findByWallet(walletAddress(wallet)), Option.getOrNull)

  readonly #buy = Effect.fnUntraced({ self: this }, function* (this: Play, command: Buy) {
    const wallet = WALLETS[command.wallet]!
    const tenant = yield* this.#tenantOf(wallet)
    const own = this.#deployment.tables.mailboxes.where("tenant", tenant?.tenantId ?? "")
    const mailboxId = own.toSorted((a, b) => (a.mailboxId < b.mailboxId ? -1 : 1)).at(command.choice - 1)?.mailboxId
    const goods: Goods =
      command.goods === "create" || mailboxId === undefined
        ? { kind: "create", localPart: NAMES[command.choice]! }
        : {
            send: {
              kind: "send",
              mailboxId,
              text: `mail ${this.#count}`,
              ...(command.fate === "cancellation" ? { sendAt: new Date((yield* now) + SCHEDULED).toISOString() } : {})
            } as const,
            update: { kind: "update", mailboxId, displayName: `name ${this.#count}` } as const,
            delete: { kind: "delete", mailboxId } as const
          }[command.goods]
    const purchase = yield* this.#sign(goods, wallet, command.server)
    if (purchase === undefined) return
    if (command.fate === "unread transfer" || command.fate === "unread cancel")
      this.#server(command.server).killAt("claimed", 0)
    if (command.fate === "deletion") this.#server(command.server).killAt("before_settle", 0)
    if (command.fate === "rejection") this.#deployment.world.mailFault.set("Rejected", 1)
    for (let copy = 0; copy < command.copies; copy++) yield* this.present(purchase, (command.server + copy) % 2)
    yield* this.#befall(purchase, command)
  })

  /** Applies the purchase's fate right after it was sent. */
  readonly #befall = Effect.fnUntraced({ self: this }, function* (this: Play, purchase: Purchase, command: Buy) {
    const { goods, wallet } = purchase
    switch (command.fate) {
      case "none":
      case "rejection":
        return
      case "cancel":
      case "unread cancel":
        return yield* this.#front(purchase, "cancel")
      case "transfer":
      case "unread transfer":
        return yield* this.#front(purchase, "transfer")
      case "deletion": {
        if (goods.kind === "create") return
        const deletion = { kind: "delete", mailboxId: goods.mailboxId } as const
        const other = yield* this.#sign(deletion, wallet, 1 - command.server)
        return other === undefined ? undefined : yield* this.present(other, 1 - command.server)
      }
      case "cancellation":
        yield* TestClock.adjust("6 seconds")
        yield* this.#cancel(purchase)
        return yield* TestClock.adjust("1 second")
      case "long silence":
        this.#deployment.world.mailFault.set("Temporary", 0)
        yield* TestClock.adjust("6 seconds")
        return yield* this.#outage
    }
  })

  /** Cancels the scheduled mail of a purchase at both servers at once. It may not be there yet, or be deleted. */
  readonly #cancel = Effect.fnUntraced({ self: this }, function* (this: Play, { goods, nonce, tenant }: Purchase) {
    const { servers, witness } = this.#deployment
    const [, messageId] = /"messageId":"([^"]+)"/.exec(witness.operationOf(nonce)?.plan ?? "") ?? []
    if (goods.kind !== "send" || tenant === null || messageId === undefined) return
    const canceling = Effect.flatMap(ScheduledMessages, ({ cancel }) => cancel(tenant, messageId))
    for (const server of servers) {
      yield* this.#hear(server.ask(canceling), (heard) => this.#deployment.hearing.canceled(messageId, heard))
    }
  })

  /** Stops all servers for longer than any service retries its provider. */
  get #outage(): Effect.Effect<void> {
    const { servers } = this.#deployment
    return Effect.forEach(servers, (server) => server.kill).pipe(
      Effect.andThen(TestClock.adjust(LONG)),
      Effect.andThen(Effect.forEach(servers, (server) => server.start)),
      Effect.asVoid
    )
  }

  /** Sends the authorization to the chain without the service. */
  readonly #front = (purchase: Purchase, kind: "transfer" | "cancel"): Effect.Effect<void> =>
    Effect.map(now, (at) => {
      const authorization = authorizationOf(readProof(purchase.payment))
      this.#deployment.world.chain.send(at, { kind, authorization })
    })

  /** Requests the challenge with an unpaid request; undefined when the server is down or rejects the request. */
  readonly #challengeOf = Effect.fnUntraced(
    { self: this },
    function* (this: Play, goods: Goods, request: PaidRequest, server: number) {
      const heard = yield* Effect.exit(this.#server(server).ask(challengeFor(goods, request)))
      return Exit.isSuccess(heard) ? Option.getOrUndefined(heard.value) : undefined
    }
  )

  /** Makes a request for goods with a new payment, as a wallet signs it from the challenge. */
  readonly #sign = Effect.fnUntraced(
    { self: this },
    function* (
      this: Play,
      goods: Goods,
      wallet: string,
      server: number,
      like?: { readonly key?: string; readonly challenge?: string }
    ) {
      const tenant = goods.kind === "create" ? null : yield* this.#tenantOf(wallet)
      const count = ++this.#count
      const request = requestFor(goods, tenant, count)
      const challenge = like?.challenge ?? (yield* this.#challengeOf(goods, request, server))
      if (challenge === undefined) return undefined
      const nonce = `0x${count.toString(16).padStart(64, "0")}`
      const validBefore = Math.floor((yield* now) / 1_000) + VALID_SECONDS
      const purchase: Purchase = {
        goods,
        wallet,
        tenant,
        nonce,
        validBefore,
        request: { ...request, idempotencyKey: like?.key ?? `key-${count}` },
        payment: pay(challenge, { payer: wallet, nonce, validBefore }),
        contested: false,
        challenge: null,
        answer: null,
        advised: new Set()
      }
      this.purchases.push(purchase)
      return purchase
    }
  )

  readonly #onPurchase = Effect.fnUntraced(
    { self: this },
    function* (
      this: Play,
      command: Extract<Command, { _tag: "Retry" | "Misuse" | "TwoProofs" | "PayAnew" | "Vanish" | "Front" }>
    ) {
      const purchase = this.#chosen(command.purchase)
      if (purchase === undefined) return
      switch (command._tag) {
        case "Retry":
          return yield* this.present(purchase, command.server, command.isAdmitted)
        case "Misuse":
          return yield* this.#misuse(purchase, command)
        case "TwoProofs": {
          const key = purchase.request.idempotencyKey ?? ""
          const rival = yield* this.#sign(purchase.goods, purchase.wallet, command.server, { key })
          if (rival === undefined) return
          rival.contested = purchase.contested = true
          yield* this.present(rival, command.server)
          return yield* this.present(purchase, 1 - command.server)
        }
        case "PayAnew": {
          const { challenge, goods, wallet } = purchase
          if (challenge === null) return
          purchase.challenge = null
          const again = yield* this.#sign(goods, wallet, command.server, { challenge })
          return again === undefined ? undefined : yield* this.present(again, command.server)
        }
        case "Vanish":
          return yield* Fiber.interruptAll(this.#asking.get(purchase) ?? [])
        case "Front":
          return yield* this.#front(purchase, command.call)
      }
    }
  )

  /** Presents the payment of an operation for something else. */
  readonly #misuse = Effect.fnUntraced(
    { self: this },
    function* (this: Play, purchase: Purchase, { how, server }: Extract<Command, { _tag: "Misuse" }>) {
      const { hearing, witness } = this.#deployment
      const { goods, nonce, payment, request, validBefore, wallet } = purchase
      // Before it belongs to an operation, a payment with another key is an ordinary payment.
      if (witness.operationOf(nonce) === undefined) return
      const other = { ...request }
      let presented = payment
      if (how === "key") other.idempotencyKey = `${request.idempotencyKey}-other`
      if (how === "body") other.binding = { ...request.binding, bodyHash: "another" }
      if (how === "header") {
        const challenge = yield* this.#challengeOf(goods, request, server)
        if (challenge === undefined) return
        presented = pay(challenge, { payer: wallet, nonce, validBefore })
        if (presented === payment) return
      }
      if (how === "endpoint") other.entry = requestFor({ kind: "delete", mailboxId: "" }, null, 0).entry
      if (how === "endpoint" && goods.kind === "delete") return
      const asking = this.#server(server).ask(send({ goods, request: other, payment: presented }))
      yield* this.#hear(asking, (heard) => hearing.misused(purchase, how, heard))
    }
  )
}
