import { setTimeout as sleep } from "node:timers/promises"
import { type Buyer, callOf } from "./Buyer.ts"
import type { CarrierSide, Country } from "./CarrierSide.ts"
import type { PhoneService, Purchase, Service } from "./Purchase.ts"
import type { About, OwnCall, OwnLine } from "./Wanted.ts"

/**
 * Where a number is bought: in an area in which nothing fails, in one that no other purchase has so that a fault there
 * is its own, or in the one in which the carrier sells none when it is told so.
 */
export type Area = "any" | "own" | "refused"

/** For what a line is taken. Any number of calls share one; what is counted on it is bought once. */
type Use = "call" | "renewal" | "minutes"

interface Kept {
  readonly line: Promise<OwnLine>
  readonly uses: Set<Use>
}

/** Of each country's areas, so many of the first are those in which nothing fails. The last refuses. */
const CALM_AREAS = { US: 5, CA: 6 }
/** Longer than the call is paid for, and than any run lasts. */
const STAYS_SECONDS = 3_600
const ANSWERED_MILLIS_MAX = 20_000
const POLL_MILLIS = 100

/** Finds what a purchase on the telephone is about: area codes, people, lines and calls that go on. */
export class PhoneShop {
  private readonly carrier: CarrierSide
  private readonly agentWebhookUrl: string
  private readonly order: (service: PhoneService, buyer: Buyer, about: About) => Promise<Purchase>
  private readonly lines = new Map<Buyer, Array<Kept>>()
  private readonly turns = { any: { US: 0, CA: 0 }, own: { US: 0, CA: 0 } }

  /** `order` buys something at once, without any fault. */
  constructor(carrier: CarrierSide, agentWebhookUrl: string, order: PhoneShop["order"]) {
    this.carrier = carrier
    this.agentWebhookUrl = agentWebhookUrl
    this.order = order
  }

  /** What a purchase of the buyer's is about. What it needs beforehand is bought, or shared where that can be told apart. */
  async about(service: Service, buyer: Buyer, area: Area): Promise<About> {
    switch (service) {
      case "phone.number.us.30d":
        return this.placeOf("US", area)
      case "phone.number.ca.30d":
        return this.placeOf("CA", area)
      case "phone.number.renew.30d":
        return { line: await this.lineOf(buyer, "renewal") }
      case "phone.call.inbound.add.10m":
        return { line: await this.lineOf(buyer, "minutes") }
      case "phone.call.outbound.1m":
      case "phone.call.outbound.5m":
        return { line: await this.lineOf(buyer, "call"), toNumber: await this.carrier.nextPerson() }
      case "phone.call.extend.1m":
        return { call: await this.callFor(buyer) }
      default:
        return {}
    }
  }

  /** Where a number of a country is bought. */
  async placeOf(country: Country, area: Area): Promise<About> {
    const all = (await this.carrier.areaCodes())[country]
    return { areaCode: this.areaOf(country, all, area), agentWebhookUrl: this.agentWebhookUrl }
  }

  private areaOf(country: Country, all: ReadonlyArray<string>, area: Area): string | undefined {
    if (area === "refused") return all.at(-1)
    if (area === "any") return all[this.turns.any[country]++ % CALM_AREAS[country]]
    const own = all.slice(CALM_AREAS[country], -1)
    const code = own[this.turns.own[country]++]
    if (code === undefined) throw new Error(`no area of ${country} is left for another fault of its own`)
    return code
  }

  /** A line of the buyer's to which nothing was added yet of what it is taken for; bought where there is none. */
  private lineOf(buyer: Buyer, use: Use): Promise<OwnLine> {
    const kept = this.lines.get(buyer) ?? []
    this.lines.set(buyer, kept)
    const free = kept.find(({ uses }) => use === "call" || !uses.has(use))
    if (free !== undefined) {
      free.uses.add(use)
      return free.line
    }
    const line = this.newLine(buyer)
    kept.push({ line, uses: new Set([use]) })
    return line
  }

  private async newLine(buyer: Buyer): Promise<OwnLine> {
    const purchase = await this.order("phone.number.us.30d", buyer, await this.placeOf("US", "any"))
    const [line] = linesBoughtBy(purchase)
    if (line === undefined) throw new Error("no number in the answer to its purchase")
    return line
  }

  /** A call of five minutes that was answered by somebody who stays on the line, and that goes on without a server. */
  private async callFor(buyer: Buyer): Promise<OwnCall> {
    const line = await this.lineOf(buyer, "call")
    const toNumber = await this.carrier.nextPerson()
    await this.carrier.put({ number: toNumber, behaviour: "answers", seconds: STAYS_SECONDS })
    const purchase = await this.order("phone.call.outbound.5m", buyer, { line, toNumber })
    const [callId] = callsBoughtBy(purchase)
    if (callId === undefined) throw new Error("no call in the answer to its purchase")
    const deadline = performance.now() + ANSWERED_MILLIS_MAX
    while ((await callOf(buyer, callId)).status !== "in_progress") {
      if (performance.now() > deadline) throw new Error(`${toNumber} was called, and the service knows of no answer`)
      await sleep(POLL_MILLIS)
    }
    await this.carrier.hold(toNumber)
    return { callId, toNumber, phoneNumberId: line.phoneNumberId }
  }
}

const boughtBy = <Data>({ attempts }: Purchase): ReadonlyArray<Data> => {
  const told = attempts.flatMap((attempt) => attempt.told).find(({ status }) => status < 300)
  return told === undefined ? [] : [(JSON.parse(told.text) as { readonly data: Data }).data]
}

/** The number that a purchase was told it bought, if any. */
export const linesBoughtBy = (purchase: Purchase): ReadonlyArray<OwnLine> =>
  boughtBy<OwnLine>(purchase).map(({ number, phoneNumberId }) => ({ number, phoneNumberId }))

/** The id of the call that a purchase was told it bought, if any. */
export const callsBoughtBy = (purchase: Purchase): ReadonlyArray<string> =>
  boughtBy<{ readonly call: { readonly callId: string } }>(purchase).map(({ call }) => call.callId)
