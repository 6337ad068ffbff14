import type { OperationStep } from "@agentos/core"
import { setTimeout as sleep } from "node:timers/promises"
import { inTurns } from "../faults/client/inTurns.ts"
import { releaseNumber } from "../faults/client/Requests.ts"
import type { Wallet } from "../faults/client/Wallet.ts"
import { planProviderFault, type ProviderFault, untilFaultMet } from "../faults/fault/ProviderFaults.ts"
import type { Payment } from "../faults/observation/Purchases.ts"
import type { Holds } from "../faults/server/StepGate.ts"
import { type Cell, faultMillis, situationOf, type Twist } from "./Cell.ts"
import { carryThrough, followAdvice, send, sign } from "./Client.ts"
import type { CrashPurchase } from "./Purchase.ts"
import { END_MILLIS_MAX, type Outcome, settle } from "./Settle.ts"
import { type Area, buy, type Shop } from "./Shop.ts"

export interface MatrixResult {
  readonly cells: ReadonlyMap<CrashPurchase, Cell>
  readonly outcome: Outcome
}

/** Wallets shared by purchases that need none of their own. */
const TENANTS = 8
const REFUSED_MILLIS_MAX = 15_000
const HANG_MILLIS_MAX = 40_000
const TRIES = 4
/** The limit of an extended call of five minutes. */
const EXTENDED_SECONDS = 360

/** The step at which an operation is held for an interference. Nothing has happened before it that the twist prevents. */
const HOLD_AT: Readonly<Partial<Record<Twist, OperationStep>>> = {
  gone: "after_settle",
  "front-run": "before_settle",
  cancelled: "before_settle",
  allowed: "before_settle",
  outrun: "before_settle",
  unread: "claimed",
  disowned: "claimed"
}

/** The search before the payment is only a check, so a search fails after the payment. */
const holdAt = ({ fault, twist }: Cell): OperationStep | undefined =>
  twist === undefined ? (fault?.operation === "search" ? "settled" : undefined) : HOLD_AT[twist]

/** Whether a purchase needs its own wallet, because its refund must be identified or it is the wallet's first. */
const isAlone = ({ client, end, service, twist }: Cell): boolean =>
  service === "email.mailbox.create" ||
  (service.startsWith("phone.number.") && service !== "phone.number.renew.30d" && client !== "gives up") ||
  twist === "gone" ||
  end === "refunded"

const areaOf = ({ fault, twist }: Cell): Area => {
  if (fault?.operation !== "search" && fault?.operation !== "buy") return "calm"
  return twist === "rejected" ? "refused" : "own"
}

/** A purchase of a cell. */
interface Entry {
  readonly cell: Cell
  readonly purchase: CrashPurchase
}

/** The one request that a cell's fault concerns. */
const onlyOf = ({ cell: { fault }, purchase: { goods } }: Entry, { authorization }: Payment): string => {
  if (fault?.operation === "send" && goods.kind === "mail") return goods.recipient
  if (goods.kind === "number" && (fault?.operation === "search" || fault?.operation === "buy")) return goods.areaCode
  if (fault?.operation === "call" && goods.kind === "call") return goods.toNumber
  // The server also repeats the earlier limit from time to time.
  if (fault?.operation === "update" && goods.kind === "extension") return `${goods.toNumber} ${EXTENDED_SECONDS}`
  return authorization.nonce
}

const release = async (wallet: Wallet, phoneNumberId: string): Promise<void> => {
  const reply = await wallet.on().send(releaseNumber(phoneNumberId))
  if (reply.status !== 200) throw new Error(`the number was not released: ${reply.status} ${reply.text}`)
}

/**
 * Plays all cells in one life of a server: brings every operation to its step, kills the server once, starts the
 * purchases that need no kill, and waits for every end.
 */
export const runMatrix = async (
  shop: Shop,
  cells: ReadonlyArray<Cell>,
  endMillisMax: number = END_MILLIS_MAX
): Promise<MatrixResult> => {
  const run = new MatrixRun(shop)
  const before = shop.purchases.length
  // A call in progress lasts five minutes, so extensions are prepared last.
  const isExtension = ({ service }: Cell) => service === "phone.call.extend.1m"
  const entries = await run.prepare([...cells.filter((cell) => !isExtension(cell)), ...cells.filter(isExtension)])
  const killed = entries.filter(({ cell }) => cell.killed)
  const isCall = ({ cell }: Entry) => cell.service.startsWith("phone.call.outbound")
  const plain = killed.filter(({ cell }) => cell.twist === undefined)
  // Slow cells start first, because leases of held operations expire; calls last, because they must be dialed within a
  // minute of their payment.
  await run.start(killed.filter(({ cell }) => cell.twist !== undefined))
  await run.start(plain.filter((entry) => !isCall(entry)))
  await run.start(plain.filter(isCall))
  if (killed.length > 0) await run.killAtSteps()
  const restartedAt = performance.now()
  const spared = new Map(entries.filter(({ cell }) => !cell.killed).map((entry) => [entry.purchase, entry]))
  await run.start([...spared.values()])
  const sparedAt = performance.now()
  const faultEnd = (purchase: CrashPurchase) => {
    const entry = spared.get(purchase)
    return entry === undefined ? restartedAt : sparedAt + faultMillis(entry.cell)
  }
  const outcome = await settle(shop, shop.purchases.slice(before), faultEnd, endMillisMax, () => run.end())
  return { cells: new Map(entries.map(({ cell, purchase }) => [purchase, cell])), outcome }
}

class MatrixRun {
  readonly #shop: Shop
  #holds: Holds = {}
  readonly #ended = new AbortController()
  readonly #clients: Array<Promise<void>> = []
  /** Those of the clients that follow advice: they end by themselves. */
  readonly #following: Array<Promise<void>> = []

  constructor(shop: Shop) {
    this.#shop = shop
  }

  get #testbed() {
    return this.#shop.testbed
  }

  /** Makes the wallets, and buys what each purchase needs. */
  async prepare(cells: ReadonlyArray<Cell>): Promise<ReadonlyArray<Entry>> {
    // A wallet signs the same nonce for its allowances until the first is used, so that it could not buy twice at the same time.
    const isSponsored = this.#testbed.cluster.chain.gasSponsoring !== undefined
    const tenants = isSponsored ? [] : await inTurns(cells.slice(0, TENANTS), () => this.#shop.newTenant())
    let turn = 0
    return inTurns(cells, async (cell) => {
      const shared = isSponsored || isAlone(cell) ? undefined : tenants[turn++ % tenants.length]
      const wallet = cell.account === undefined ? shared : await this.#shop.newWallet(cell.account)
      const purchase = await this.#shop.newPurchase(cell.service, {
        group: situationOf(cell),
        client: cell.client,
        isTaken: cell.twist === "gone",
        area: areaOf(cell),
        ...(cell.end === undefined ? {} : { requiredEnd: cell.end }),
        ...(cell.twist === "rejected" ? { domain: "reject.test" } : {}),
        ...(wallet === undefined ? {} : { wallet })
      })
      return { cell, purchase }
    })
  }

  #hold({ authorization: { nonce } }: Payment, hold: Holds[string]): void {
    const { [nonce]: _replaced, ...others } = this.#holds
    this.#holds = hold === undefined ? others : { ...others, [nonce]: hold }
    this.#testbed.gate.set(this.#holds)
  }

  #holdUntilKilled({ step }: Cell, payment: Payment): void {
    this.#hold(payment, step && { step, until: "killed" })
  }

  /** Starts clients, a few at a time, and waits until each operation is at its step. */
  async start(entries: ReadonlyArray<Entry>): Promise<void> {
    await this.#startInterrupted(entries.filter(({ cell }) => holdAt(cell) !== undefined))
    await inTurns(
      entries.filter(({ cell }) => holdAt(cell) === undefined),
      async (entry) => {
        const payment = await sign(entry.purchase)
        this.#holdUntilKilled(entry.cell, payment)
        await this.#planFault(entry, payment)
        if (entry.cell.twist === "intercepted") await this.#testbed.treasury.submit(payment.authorization)
        await this.#begin(entry, payment, entry.cell.step)
      }
    )
  }

  /** Holds each operation until its interference has happened, and then lets it continue to its step. */
  async #startInterrupted(entries: ReadonlyArray<Entry>): Promise<void> {
    const nonces = await inTurns(entries, async (entry) => {
      const interfere = await this.#interference(entry)
      const payment = await sign(entry.purchase)
      const step = holdAt(entry.cell)
      this.#hold(payment, step && { step, until: "released" })
      await this.#begin(entry, payment, step)
      await interfere(payment)
      this.#holdUntilKilled(entry.cell, payment)
      await this.#untilFaultMet(entry, payment)
      return payment.authorization.nonce
    })
    const held = nonces.flatMap((nonce) => (this.#holds[nonce] === undefined ? [] : [[nonce, this.#holds[nonce]]]))
    await this.#testbed.gate.untilHeld(Object.fromEntries(held))
  }

  async #planFault(entry: Entry, payment: Payment): Promise<void> {
    const { fault, killed, twist } = entry.cell
    if (fault === undefined) return
    // The server repeats a search once, and tries other numbers when one is refused.
    const isRepeated = fault.operation === "search" && !(killed && fault.mode === "hang")
    const times = isRepeated ? 2 : fault.operation === "buy" && twist === "rejected" ? 1_000 : 1
    await planProviderFault(this.#testbed.cluster, { ...fault, times, only: onlyOf(entry, payment) })
  }

  /** Starts a client; resolves when its operation is held at the step, if there is one. */
  async #begin({ cell, purchase }: Entry, payment: Payment, step: OperationStep | undefined): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const client = this.#clientOf(cell, purchase, payment)
      this.#clients.push(client)
      if (purchase.client === "follows advice") this.#following.push(client)
      if (step === undefined) return this.#untilHanging({ cell, purchase }, payment)
      // A client that is asked to retry before an operation exists starts again.
      if (await this.#testbed.gate.reaches(payment.authorization.nonce, step, client)) return
    }
    const last = payment.uses[0]?.answers.at(-1)?.text ?? "no answer"
    throw new Error(`${purchase.label}: the operation did not reach ${step}; ${last}`)
  }

  async #clientOf({ twist }: Cell, purchase: CrashPurchase, payment: Payment): Promise<void> {
    const { treasury } = this.#testbed
    const { authorization } = payment
    switch (twist) {
      case "stranger":
        return this.#refusedThenSubmitted(purchase, payment)
      case "unsent":
        return followAdvice(purchase, payment)
      case "forgotten":
        await sleep(Number(authorization.validBefore) * 1_000 - Date.now(), undefined, { ref: false })
        return followAdvice(purchase, payment)
      case "stolen":
        await treasury.submit(authorization)
        return followAdvice(purchase, payment)
      case "withdrawn":
        await treasury.cancel(purchase.wallet.account, authorization)
        return followAdvice(purchase, payment)
      default:
        return carryThrough(purchase, payment, this.#ended.signal)
    }
  }

  /** Waits until a call that must hang at the kill has reached the provider, so that it does not hang later. */
  async #untilHanging(entry: Entry, payment: Payment): Promise<void> {
    const { cell, purchase } = entry
    if (!cell.killed || cell.fault?.mode !== "hang") return
    if (cell.fault.operation !== "send" || purchase.goods.kind !== "mail") return this.#untilFaultMet(entry, payment)
    const deadline = performance.now() + HANG_MILLIS_MAX
    while (!(await this.#testbed.relay.read()).has(purchase.goods.recipient)) {
      if (performance.now() > deadline) throw new Error(`${purchase.label}: the mail did not reach the relay`)
      await sleep(100)
    }
  }

  async #untilFaultMet(entry: Entry, payment: Payment): Promise<void> {
    const { fault, killed } = entry.cell
    const isOfCarrier = fault !== undefined && fault.operation !== "settle" && fault.operation !== "send"
    if (!killed || fault?.mode !== "hang" || !isOfCarrier) return
    await untilFaultMet(this.#testbed.cluster, { ...fault, only: onlyOf(entry, payment) } satisfies ProviderFault)
  }

  /** Prepares what happens while the operation of a purchase is held. */
  async #interference(entry: Entry): Promise<(payment: Payment) => Promise<void>> {
    const { cell, purchase } = entry
    const { goods, wallet } = purchase
    const { treasury } = this.#testbed
    switch (cell.twist) {
      case undefined:
        return (payment) => this.#planFault(entry, payment)
      case "gone": {
        if ("phoneNumberId" in goods) return () => release(wallet, goods.phoneNumberId)
        const deletion = await this.#shop.newDeletion(purchase)
        return () => buy(deletion)
      }
      case "disowned":
        return () => (wallet.smartAccount === undefined ? Promise.resolve() : treasury.takeOver(wallet.smartAccount))
      case "cancelled":
        return ({ authorization }) => treasury.cancel(wallet.account, authorization)
      case "allowed":
        return ({ authorization }) => treasury.allowBy(authorization)
      case "outrun":
        return ({ authorization }) => treasury.outrun(wallet.account, authorization)
      default:
        return ({ authorization }) => treasury.submit(authorization)
    }
  }

  /** Waits until every operation is held, kills the server, and waits until it serves again. */
  async killAtSteps(): Promise<void> {
    await this.#testbed.gate.untilHeld(this.#holds)
    this.#holds = {}
    this.#testbed.gate.set(this.#holds)
    await this.#testbed.killServer()
  }

  /** The facilitator refuses, and then a stranger submits the authorization. */
  async #refusedThenSubmitted(purchase: CrashPurchase, payment: Payment): Promise<void> {
    const deadline = performance.now() + REFUSED_MILLIS_MAX
    for (;;) {
      const answer = await send(purchase, payment)
      if (answer?.status === 409 && answer.text.includes("was refused")) break
      if (performance.now() > deadline) throw new Error(`expected a refusal, got ${answer?.status}: ${answer?.text}`)
      await sleep(200)
    }
    await this.#testbed.treasury.submit(payment.authorization)
    await carryThrough(purchase, payment, this.#ended.signal)
  }

  /** Waits for the clients that follow advice, which end by themselves, and ends the others. */
  async end(): Promise<void> {
    await Promise.all(this.#following)
    this.#ended.abort()
    await Promise.all(this.#clients)
  }
}
