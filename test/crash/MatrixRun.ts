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
  await run.startHeld(killed.filter(isHeld))
  await run.start(killed.filter((order) => order.cell.twist !== undefined && !isHeld(order)))
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

  /** Signs for the purchases, says where they stop and what fails, and lets their clients begin. */
  async start(orders: ReadonlyArray<Order>): Promise<void> {
    const signed = await inTurns(orders, async (order) => ({ ...order, attempt: await sign(order.purchase) }), AT_ONCE)
    for (const { attempt, cell, purchase } of signed) {
      this.stopAt(cell, attempt)
      if (cell.fault !== undefined) {
        const only =
          purchase.goods.kind === "mail" && cell.fault.operation === "send"
            ? purchase.goods.recipient
            : attempt.authorization.nonce
        await this.rig.plan({ ...cell.fault, times: 1, only })
      }
    }
    await this.rig.arm(this.armed)
    for (const { attempt, cell, purchase } of signed) {
      this.clients.push(
        cell.twist === "stranger"
          ? this.refusedThenSubmitted(purchase, attempt)
          : carryThrough(purchase, attempt, this.over.signal)
      )
    }
  }

  /** Stops purchases where something is to come between, lets that happen, and lets them go on. */
  async startHeld(orders: ReadonlyArray<Order>): Promise<void> {
    const prepared = await inTurns(
      orders,
      async (order) => ({ ...order, attempt: await sign(order.purchase), act: await this.interference(order) }),
      AT_ONCE
    )
    const held: ArmedFile = Object.fromEntries(
      prepared.flatMap(({ attempt, cell: { twist } }) => {
        const step = twist === undefined ? undefined : HOLD_AT[twist]
        return step === undefined ? [] : [[attempt.authorization.nonce, { step, until: "released" } as const]]
      })
    )
    await this.rig.arm({ ...this.armed, ...held })
    for (const { attempt, purchase } of prepared) this.clients.push(carryThrough(purchase, attempt, this.over.signal))
    await this.rig.untilParked(held)
    await inTurns(prepared, ({ act, attempt }) => act(attempt), AT_ONCE)
    for (const { attempt, cell } of prepared) this.stopAt(cell, attempt)
    await this.rig.arm(this.armed)
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
    await this.rig.arm(this.armed)
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
