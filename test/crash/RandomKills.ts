import { setTimeout as sleep } from "node:timers/promises"
import type { Random } from "../race/Random.ts"
import type { Buyer } from "./Buyer.ts"
import { carryThrough, sign } from "./Client.ts"
import type { Country } from "./CarrierSide.ts"
import type { CrashRig } from "./CrashRig.ts"
import { callsBoughtBy, linesBoughtBy } from "./PhoneShop.ts"
import type { PlannedFault } from "./PlannedFault.ts"
import { type ClientKind, type Purchase, type Service, SERVICES } from "./Purchase.ts"
import { Shop } from "./Shop.ts"
import { inTurns } from "./Turns.ts"
import type { About, OwnCall, OwnLine, OwnMailbox } from "./Wanted.ts"
import { type Outcome, settleDown } from "./Witness.ts"

export interface RandomKillsOptions {
  readonly random: Random
  readonly seconds: number
  readonly clients: number
}

export interface RandomKillsResult {
  readonly outcome: Outcome
  readonly kills: number
}

/** From when the server serves until it is killed. */
const LIFE_MILLIS = { min: 500, max: 3_000 }
const FAULT_EVERY_MILLIS = 1_500
const PAUSE_MILLIS = 300
/** Longer than a run lasts. */
const STAYS_SECONDS = 3_600
/** People answer sooner. */
const ANSWER_MILLIS = 600
const EXTENSION_TRIES = 5
/** Of ten clients, so many never come again. */
const GIVE_UP_IN_TEN = 3

/** Failures that pass by themselves within seconds; what hangs for longer at relay and carrier is the matrix's. */
const FAULTS: ReadonlyArray<PlannedFault> = [
  ...(["before", "after", "reject", "hang"] as const).map((mode) => ({ operation: "settle", mode }) as const),
  ...(["send", "search", "buy", "call", "update"] as const).flatMap((operation) =>
    (["before", "after", "reject"] as const).map((mode) => ({ operation, mode }))
  )
]

/**
 * Lets clients do every paid operation while the server is killed again and again, and facilitator, relay and
 * carrier fail now and then; then lets all come to an end.
 */
export const runRandomKills = async (rig: CrashRig, options: RandomKillsOptions): Promise<RandomKillsResult> => {
  const { clients, random, seconds } = options
  const shop = new Shop(rig)
  const buyers = await inTurns(Array.from({ length: clients }), () => shop.newTenant())
  const over = new AbortController()
  const work = buyers.map((buyer, index) => shopOn(rig, shop, buyer, random.fork(index), over.signal))
  const failing = failNowAndThen(rig, random.fork(clients), over.signal)
  const kills = await killFor(rig, random.fork(clients + 1), seconds * 1_000)
  over.abort()
  await Promise.all([...work, failing])
  await rig.clearFaults()
  const calm = performance.now()
  return { outcome: await settleDown(rig, shop.purchases, () => calm), kills }
}

const killFor = async (rig: CrashRig, random: Random, millis: number): Promise<number> => {
  const deadline = performance.now() + millis
  for (let kills = 0; ; kills++) {
    await sleep(LIFE_MILLIS.min + random.integer(LIFE_MILLIS.max - LIFE_MILLIS.min))
    if (performance.now() > deadline) return kills
    await rig.untilServing(await rig.kill())
  }
}

const failNowAndThen = async (rig: CrashRig, random: Random, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await rig.plan(random.pick(FAULTS))
    await sleep(FAULT_EVERY_MILLIS, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

/** What a client has, and has not bought anything for that is counted on it. */
interface Belongings {
  readonly mailboxes: Array<OwnMailbox>
  /** Each is renewed once, and given minutes once. */
  readonly lines: Array<OwnLine>
  readonly toRenew: Array<OwnLine>
  readonly toFill: Array<OwnLine>
  /** Calls that were answered, and go on whatever becomes of servers. */
  readonly calls: Array<OwnCall>
}

/** One client: wants one thing after the other, of all kinds, with a wallet of its own. */
const shopOn = async (rig: CrashRig, shop: Shop, buyer: Buyer, random: Random, signal: AbortSignal): Promise<void> => {
  const owned: Belongings = { mailboxes: [], lines: [], toRenew: [], toFill: [], calls: [] }
  while (!signal.aborted) {
    const client: ClientKind = random.integer(10) < GIVE_UP_IN_TEN ? "gives up" : "pays again"
    const { about, service } = await nextWish(rig, shop, owned, random.pick(SERVICES))
    const purchase = shop.wish(service, { name: "under random kills", client, buyer }, about)
    if (service === "email.mailbox.delete" && about.mailbox !== undefined) shop.hide(about.mailbox)
    await pursue(purchase, signal)
    if (service === "email.mailbox.create") owned.mailboxes.push(...shop.boughtBy(purchase))
    if (purchase.goods.kind === "number") {
      for (const list of [owned.lines, owned.toRenew, owned.toFill]) list.push(...linesBoughtBy(purchase))
    }
    if (service === "phone.call.outbound.5m") owned.calls.push(...(await heldCall(rig, purchase)))
  }
}

interface Wish {
  readonly service: Service
  readonly about: About
}

/** What is wanted; or, of what it needs and is not there, the first thing. */
const nextWish = async (rig: CrashRig, shop: Shop, owned: Belongings, service: Service): Promise<Wish> => {
  const newNumber = async (country: Country): Promise<Wish> => ({
    service: country === "US" ? "phone.number.us.30d" : "phone.number.ca.30d",
    about: await shop.phones.placeOf(country, "any")
  })
  switch (service) {
    case "email.mailbox.create":
      return { service, about: {} }
    case "email.mailbox.update":
    case "email.mailbox.delete":
    case "email.message.send": {
      // A mailbox is changed or deleted by one purchase alone, so that each can be seen for itself.
      const mailbox = service === "email.message.send" ? owned.mailboxes.at(-1) : owned.mailboxes.pop()
      return mailbox === undefined ? { service: "email.mailbox.create", about: {} } : { service, about: { mailbox } }
    }
    case "phone.number.us.30d":
      return newNumber("US")
    case "phone.number.ca.30d":
      return newNumber("CA")
    case "phone.number.renew.30d":
    case "phone.call.inbound.add.10m": {
      const line = (service === "phone.number.renew.30d" ? owned.toRenew : owned.toFill).pop()
      return line === undefined ? newNumber("US") : { service, about: { line } }
    }
    case "phone.call.extend.1m": {
      const call = owned.calls.pop()
      if (call !== undefined) return { service, about: { call } }
      return nextWish(rig, shop, owned, "phone.call.outbound.5m")
    }
    case "phone.call.outbound.1m":
    case "phone.call.outbound.5m": {
      const line = owned.lines.at(-1)
      if (line === undefined) return newNumber("CA")
      const toNumber = await rig.carrier.nextPerson()
      if (service === "phone.call.outbound.5m") {
        await rig.carrier.put({ number: toNumber, behaviour: "answers", seconds: STAYS_SECONDS })
      }
      return { service, about: { line, toNumber } }
    }
  }
}

/** A call that can be extended, if it was made and is still there: a server that is killed takes its calls with it. */
const heldCall = async ({ carrier }: CrashRig, purchase: Purchase): Promise<ReadonlyArray<OwnCall>> => {
  const [callId] = callsBoughtBy(purchase)
  if (callId === undefined || purchase.goods.kind !== "call") return []
  const { phoneNumberId, toNumber } = purchase.goods
  await sleep(ANSWER_MILLIS, undefined, { ref: false })
  return carrier.hold(toNumber).then(
    () => [{ callId, toNumber, phoneNumberId }],
    () => []
  )
}

/** Gets a challenge as soon as the server is there, and does what the client does. A call that is over has none to get. */
const pursue = async (purchase: Purchase, signal: AbortSignal): Promise<void> => {
  const tries = purchase.goods.kind === "extension" ? EXTENSION_TRIES : Infinity
  for (let tried = 0; tried < tries && !signal.aborted; tried++) {
    const attempt = await sign(purchase).catch(() => undefined)
    if (attempt !== undefined) return carryThrough(purchase, attempt, signal)
    await sleep(PAUSE_MILLIS, undefined, { ref: false })
  }
}
