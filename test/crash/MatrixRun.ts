import type { OperationStep } from "@agentos/core"
import { setTimeout as sleep } from "node:timers/promises"
import { type Cell, faultMillis, situationOf, type Twist } from "./Cell.ts"
import { carryThrough, send, sign } from "./Client.ts"
import type { CrashRig } from "./CrashRig.ts"
import type { ArmedFile } from "./Parking.ts"
import type { Attempt, Purchase } from "./Purchase.ts"
import { buy, Shop } from "./Shop.ts"
import { inTurns, type Outcome, settleDown } from "./Witness.ts"
import type { Buyer } from "./Buyer.ts"

/** A run of cells: what each was, and what all came to. */
export interface MatrixResult {
  readonly cells: ReadonlyMap<Purchase, Cell>
  readonly outcome: Outcome
}

/** Wallets among which purchases are shared out that leave nothing to be told apart by their wallet. */
const TENANTS = 8
const AT_ONCE = 8
const REFUSED_MILLIS_MAX = 15_000
const SILENT_MILLIS_MAX = 40_000
const TRIES = 4

/** Where an operation is held while somebody else acts: before that step nothing has come of it, and after it all would have. */
const HOLD_AT: Readonly<Partial<Record<Twist, OperationStep>>> = {
  gone: "settled",
  "front-run": "before_settle",
  cancelled: "before_settle"
}

interface Order {
  readonly cell: Cell
  readonly purchase: Purchase
}

/**
 * Lets all cells happen in one life of a sandbox: brings each operation to the step at which it is to be cut off, all
 * beside each other, kills the server once, starts what is to go without a kill, and waits for every end.
 */
export const runMatrix = async (rig: CrashRig, cells: ReadonlyArray<Cell>): Promise<MatrixResult> => {
  const run = new MatrixRun(rig)
  const orders = await run.order(cells)
  const killed = orders.filter(({ cell }) => cell.killed)
  const isHeld = ({ cell: { twist } }: Order): boolean => twist !== undefined && HOLD_AT[twist] !== undefined
  // Those that take a while to come to their step have it before the others are stopped, whose leases run on.
  await Promise.all([
    run.startHeld(killed.filter(isHeld)),
    run.start(killed.filter((order) => order.cell.twist !== undefined && !isHeld(order)))
  ])
  await run.start(killed.filter(({ cell }) => cell.twist === undefined))
  await run.killAtSteps()
  const servedAgain = performance.now()
  const spared = new Map(orders.filter(({ cell }) => !cell.killed).map((order) => [order.purchase, order]))
  await run.start([...spared.values()])
  const sparedAt = performance.now()
  const outcome = await settleDown(rig, run.shop.purchases, (purchase) => {
    const order = spared.get(purchase)
    return order === undefined ? servedAgain : sparedAt + faultMillis(order.cell)
  })
  await run.end()
  return { cells: new Map(orders.map(({ cell, purchase }) => [purchase, cell])), outcome }
}

class MatrixRun {
  readonly shop: Shop
  private armed: ArmedFile = {}
  private readonly rig: CrashRig
  private readonly over = new AbortController()
  private readonly clients: Array<Promise<void>> = []

  constructor(rig: CrashRig) {
    this.rig = rig
    this.shop = new Shop(rig)
  }

  /** Makes the wallets, and what each purchase needs. */
  async order(cells: ReadonlyArray<Cell>): Promise<ReadonlyArray<Order>> {
    const tenants = await inTurns(Array.from({ length: TENANTS }), () => this.shop.newTenant())
    let turn = 0
    return inTurns(
      cells,
      async (cell) => {
        // What may be paid back has a wallet of its own, by which its refund is told from others.
        const isAlone = cell.service === "email.mailbox.create" || cell.twist !== undefined || cell.end !== undefined
        const buyer: Buyer | undefined = isAlone ? undefined : tenants[turn++ % TENANTS]
        const purchase = await this.shop.newPurchase(cell.service, {
          name: situationOf(cell),
          client: cell.client,
          ...(cell.end === undefined ? {} : { end: cell.end }),
          ...(cell.twist === "gone" ? { taken: true } : {}),
          ...(cell.twist === "rejected" ? { domain: "reject.test" } : {}),
          ...(buyer === undefined ? {} : { buyer })
        })
        return { cell, purchase }
      },
      AT_ONCE
    )
  }

  /** Lets the clients of the purchases begin, some at a time, and stops their operations where each is to be cut off. */
  async start(orders: ReadonlyArray<Order>): Promise<void> {
    await inTurns(
      orders,
      async (order) => {
        const attempt = await sign(order.purchase)
        this.stopAt(order.cell, attempt)
        this.rig.arm(this.armed)
        await this.planFault(order, attempt)
        await this.begin(order, attempt, order.cell.step)
      },
      AT_ONCE
    )
  }

  /** Stops purchases where something is to come between, lets that happen, and lets them go on. */
  async startHeld(orders: ReadonlyArray<Order>): Promise<void> {
    const held = await inTurns(
      orders,
      async (order) => {
        const act = await this.interference(order)
        const attempt = await sign(order.purchase)
        const step = HOLD_AT[order.cell.twist ?? "gone"]
        if (step !== undefined)
          this.armed = { ...this.armed, [attempt.authorization.nonce]: { step, until: "released" } }
        this.rig.arm(this.armed)
        await this.begin(order, attempt, step)
        await act(attempt)
        this.stopAt(order.cell, attempt)
        this.rig.arm(this.armed)
        return attempt.authorization.nonce
      },
      AT_ONCE
    )
    await this.rig.untilParked(Object.fromEntries(held.map((nonce) => [nonce, this.armed[nonce]!])))
  }

  private async planFault({ cell: { fault }, purchase: { goods } }: Order, { authorization }: Attempt): Promise<void> {
    if (fault === undefined) return
    const only = goods.kind === "mail" && fault.operation === "send" ? goods.recipient : authorization.nonce
    await this.rig.plan({ ...fault, times: 1, only })
  }

  /** Lets a client begin; resolves when its operation stands at the step, if there is one. */
  private async begin({ cell, purchase }: Order, attempt: Attempt, step: OperationStep | undefined): Promise<void> {
    const { nonce } = attempt.authorization
    for (let tries = 0; tries < TRIES; tries++) {
      const client =
        cell.twist === "stranger"
          ? this.refusedThenSubmitted(purchase, attempt)
          : carryThrough(purchase, attempt, this.over.signal)
      this.clients.push(client)
      if (step === undefined) return this.untilSilent(cell, purchase)
      // One that is told to come again before there is an operation would not be what is to be cut off: it does.
      if (await this.rig.isParked(nonce, step, client)) return
    }
    throw new Error(
      `${purchase.name}: its operation never came to ${step}; ${attempt.told.at(-1)?.text ?? "no answer"}`
    )
  }

  /** A mail over which the server is to be killed is with the relay, which says no more: it would hang later otherwise. */
  private async untilSilent({ fault, killed }: Cell, { goods, name }: Purchase): Promise<void> {
    if (!killed || fault?.mode !== "hang" || fault.operation !== "send" || goods.kind !== "mail") return
    const deadline = performance.now() + SILENT_MILLIS_MAX
    while (!(await this.rig.relay.read()).has(goods.recipient)) {
      if (performance.now() > deadline) throw new Error(`${name}: the mail never came to the relay`)
      await sleep(100)
    }
  }

  /** What somebody else does while the purchase is held. */
  private async interference({ cell, purchase }: Order): Promise<(attempt: Attempt) => Promise<void>> {
    switch (cell.twist) {
      case "gone": {
        const deletion = await this.shop.newDeletion(purchase)
        return () => buy(deletion)
      }
      case "cancelled":
        return ({ authorization }) => this.rig.treasury.cancel(purchase.buyer.account, authorization)
      default:
        return ({ authorization }) => this.rig.treasury.submit(authorization)
    }
  }

  /** Waits until every operation is where it is to be cut off, kills the server, and waits until it serves again. */
  async killAtSteps(): Promise<void> {
    await this.rig.untilParked(this.armed)
    this.armed = {}
    this.rig.arm(this.armed)
    await this.rig.untilServing(await this.rig.kill())
  }

  private stopAt({ step }: Cell, { authorization }: Attempt): void {
    if (step !== undefined) this.armed = { ...this.armed, [authorization.nonce]: { step, until: "killed" } }
  }

  /** The facilitator says no, and somebody who has seen the authorization submits it after all. */
  private async refusedThenSubmitted(purchase: Purchase, attempt: Attempt): Promise<void> {
    const deadline = performance.now() + REFUSED_MILLIS_MAX
    for (;;) {
      const told = await send(purchase, attempt)
      if (told?.status === 402) break
      if (performance.now() > deadline) throw new Error(`not refused but ${told?.status}: ${told?.text}`)
      await sleep(200)
    }
    await this.rig.treasury.submit(attempt.authorization)
    await carryThrough(purchase, attempt, this.over.signal)
  }

  /** Ends the clients that are still at it. */
  async end(): Promise<void> {
    this.over.abort()
    await Promise.all(this.clients)
  }
}
