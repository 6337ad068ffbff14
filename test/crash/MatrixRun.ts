import type { OperationStep } from "@agentos/core"
import { setTimeout as sleep } from "node:timers/promises"
import { type Cell, faultMillis, situationOf, type Twist } from "./Cell.ts"
import { carryThrough, send, sign } from "./Client.ts"
import type { CrashRig } from "./CrashRig.ts"
import type { ArmedFile } from "./Parking.ts"
import type { Area } from "./PhoneShop.ts"
import type { PlannedFault } from "./PlannedFault.ts"
import type { Attempt, Purchase } from "./Purchase.ts"
import { buy, Shop } from "./Shop.ts"
import { inTurns } from "./Turns.ts"
import { type Outcome, settleDown } from "./Witness.ts"
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
/** The limit of a call of five minutes that was given another. */
const EXTENDED_SECONDS = 360

/** Where an operation is held while somebody else acts, or the carrier is made to fail: before that step nothing has come of it, and after it all would have. */
const HOLD_AT: Readonly<Partial<Record<Twist, OperationStep>>> = {
  gone: "settled",
  "front-run": "before_settle",
  cancelled: "before_settle",
  unread: "claimed"
}

/** A search that fails is the one by which a number is chosen: that before the payment is a check and no more. */
const holdAt = ({ fault, twist }: Cell): OperationStep | undefined =>
  twist === undefined ? (fault?.operation === "search" ? "settled" : undefined) : HOLD_AT[twist]

/** What is paid back has a wallet of its own, by which its refund is told from others, and so has what is a wallet's first. */
const isAlone = ({ client, end, service, twist }: Cell): boolean =>
  service === "email.mailbox.create" ||
  (service.startsWith("phone.number.") && service !== "phone.number.renew.30d" && client !== "gives up") ||
  twist === "gone" ||
  end === "paid back"

const areaOf = ({ fault, twist }: Cell): Area => {
  if (fault?.operation !== "search" && fault?.operation !== "buy") return "any"
  return twist === "rejected" ? "refused" : "own"
}

const isOfCarrier = (operation: PlannedFault["operation"]): boolean =>
  operation === "search" || operation === "buy" || operation === "call" || operation === "update"

/** What a cell's fault is meant for alone. */
const aboutOf = ({ cell: { fault }, purchase: { goods } }: Order, { authorization }: Attempt): string => {
  if (fault?.operation === "send" && goods.kind === "mail") return goods.recipient
  if (goods.kind === "number" && (fault?.operation === "search" || fault?.operation === "buy")) return goods.areaCode
  if (fault?.operation === "call" && goods.kind === "call") return goods.toNumber
  // Not the limit before, of which the server reminds the carrier now and then.
  if (fault?.operation === "update" && goods.kind === "extension") return `${goods.toNumber} ${EXTENDED_SECONDS}`
  return authorization.nonce
}

/** Gives a number back, for good: its calls are ended with it. */
const release = async ({ reader }: Buyer, phoneNumberId: string): Promise<void> => {
  const body = { phoneNumberId, confirmRelease: true }
  const reply = await reader.send({ path: "/api/v1/phone/release-number", body })
  if (reply.status !== 200) throw new Error(`a number is not given back: ${reply.status} ${reply.text}`)
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
  // A call that is to be extended lasts five minutes: it is made last.
  const isExtension = ({ service }: Cell) => service === "phone.call.extend.1m"
  const orders = await run.order([...cells.filter((cell) => !isExtension(cell)), ...cells.filter(isExtension)])
  const killed = orders.filter(({ cell }) => cell.killed)
  // Those that take a while to come to their step have it before the others are stopped, whose leases run on; and a
  // call has to be made within a minute of its payment.
  const [calls, others] = [true, false].map((isCall) =>
    killed.filter(
      ({ cell: { service, twist } }) => twist === undefined && service.startsWith("phone.call.outbound") === isCall
    )
  )
  await run.start(killed.filter(({ cell }) => cell.twist !== undefined))
  await run.start(others ?? [])
  await run.start(calls ?? [])
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
        const buyer = isAlone(cell) ? undefined : tenants[turn++ % TENANTS]
        const purchase = await this.shop.newPurchase(cell.service, {
          name: situationOf(cell),
          client: cell.client,
          ...(cell.end === undefined ? {} : { end: cell.end }),
          ...(cell.twist === "gone" ? { taken: true } : {}),
          ...(cell.twist === "rejected" ? { domain: "reject.test" } : {}),
          area: areaOf(cell),
          ...(buyer === undefined ? {} : { buyer })
        })
        return { cell, purchase }
      },
      AT_ONCE
    )
  }

  /** Lets the clients of the purchases begin, some at a time, and stops their operations where each is to be cut off. */
  async start(orders: ReadonlyArray<Order>): Promise<void> {
    await this.startHeld(orders.filter(({ cell }) => holdAt(cell) !== undefined))
    await inTurns(
      orders.filter(({ cell }) => holdAt(cell) === undefined),
      async (order) => {
        const attempt = await sign(order.purchase)
        this.stopAt(order.cell, attempt)
        this.rig.arm(this.armed)
        await this.planFault(order, attempt)
        if (order.cell.twist === "intercepted") await this.rig.treasury.submit(attempt.authorization)
        await this.begin(order, attempt, order.cell.step)
      },
      AT_ONCE
    )
  }

  /** Stops purchases where something is to come between, lets that happen, and lets them go on. */
  private async startHeld(orders: ReadonlyArray<Order>): Promise<void> {
    const held = await inTurns(
      orders,
      async (order) => {
        const act = await this.interference(order)
        const attempt = await sign(order.purchase)
        const { nonce } = attempt.authorization
        const step = holdAt(order.cell)
        if (step !== undefined) this.armed = { ...this.armed, [nonce]: { step, until: "released" } }
        this.rig.arm(this.armed)
        await this.begin(order, attempt, step)
        await act(attempt)
        const { [nonce]: _released, ...others } = this.armed
        this.armed = others
        this.stopAt(order.cell, attempt)
        this.rig.arm(this.armed)
        await this.untilMet(order, attempt)
        return nonce
      },
      AT_ONCE
    )
    const stopped = held.flatMap((nonce) => (this.armed[nonce] === undefined ? [] : [[nonce, this.armed[nonce]]]))
    await this.rig.untilParked(Object.fromEntries(stopped))
  }

  private async planFault(order: Order, attempt: Attempt): Promise<void> {
    const { fault, killed, twist } = order.cell
    if (fault === undefined) return
    // A question is asked twice, and where a number is refused others are tried.
    const isAskedTwice = fault.operation === "search" && !(killed && fault.mode === "hang")
    const times = isAskedTwice ? 2 : fault.operation === "buy" && twist === "rejected" ? 1_000 : 1
    await this.rig.plan({ ...fault, times, only: aboutOf(order, attempt) })
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
      if (step === undefined) return this.untilSilent({ cell, purchase }, attempt)
      // One that is told to come again before there is an operation would not be what is to be cut off: it does.
      if (await this.rig.isParked(nonce, step, client)) return
    }
    throw new Error(
      `${purchase.name}: its operation never came to ${step}; ${attempt.told.at(-1)?.text ?? "no answer"}`
    )
  }

  /** What the server is to be killed over is outside, where no more is said: it would hang later otherwise. */
  private async untilSilent(order: Order, attempt: Attempt): Promise<void> {
    const { cell, purchase } = order
    if (!cell.killed || cell.fault?.mode !== "hang") return
    if (cell.fault.operation !== "send" || purchase.goods.kind !== "mail") return this.untilMet(order, attempt)
    const deadline = performance.now() + SILENT_MILLIS_MAX
    while (!(await this.rig.relay.read()).has(purchase.goods.recipient)) {
      if (performance.now() > deadline) throw new Error(`${purchase.name}: the mail never came to the relay`)
      await sleep(100)
    }
  }

  private async untilMet(order: Order, attempt: Attempt): Promise<void> {
    const { fault, killed } = order.cell
    if (!killed || fault?.mode !== "hang" || !isOfCarrier(fault.operation)) return
    await this.rig.carrier.untilMet({ operation: fault.operation, only: aboutOf(order, attempt) })
  }

  /** What somebody else does while the purchase is held. */
  private async interference(order: Order): Promise<(attempt: Attempt) => Promise<void>> {
    const { cell, purchase } = order
    const { buyer, goods } = purchase
    switch (cell.twist) {
      case undefined:
        return (attempt) => this.planFault(order, attempt)
      case "gone": {
        if ("phoneNumberId" in goods) return () => release(buyer, goods.phoneNumberId)
        const deletion = await this.shop.newDeletion(purchase)
        return () => buy(deletion)
      }
      case "cancelled":
        return ({ authorization }) => this.rig.treasury.cancel(buyer.account, authorization)
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
