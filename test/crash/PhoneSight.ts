import type { CarrierSight } from "../support/CarrierLog.ts"
import { callOf, type NumberFields } from "./Buyer.ts"
import { callsBoughtBy } from "./PhoneShop.ts"
import type { PhoneGoods, Purchase } from "./Purchase.ts"

const GRANT_MILLIS = 30 * 24 * 60 * 60 * 1_000
const MINUTES_SECONDS = 600
const EXTENSION_SECONDS = 60
const FIVE_MINUTES = 300

const isReleased = ({ status }: NumberFields): boolean => status === "released"

/**
 * How many times a purchase's goods are there, by the carrier and by what the service shows. A number counts where its
 * wallet has it and the carrier has sold it; a call as often as it was dialled, once the carrier's call is the one that
 * the service tells of; an extension where the carrier keeps the longer limit too.
 */
export const countPhone = async (
  purchase: Purchase,
  goods: PhoneGoods,
  carrier: CarrierSight,
  list: ReadonlyArray<NumberFields> = []
): Promise<number> => {
  switch (goods.kind) {
    case "number":
      return list.filter(
        (one) => one.agentName === goods.agentName && !isReleased(one) && carrier.numbers.has(one.number)
      ).length
    case "renewal": {
      const number = list.find(({ phoneNumberId }) => phoneNumberId === goods.phoneNumberId)
      if (number === undefined) return 0
      const { expiresAt, startedAt } = number.entitlement
      return (Date.parse(expiresAt) - Date.parse(startedAt)) / GRANT_MILLIS - 1
    }
    case "minutes": {
      const number = list.find(({ phoneNumberId }) => phoneNumberId === goods.phoneNumberId)
      return (number?.inboundAllowance.purchasedSeconds ?? 0) / MINUTES_SECONDS
    }
    case "call": {
      const dialled = carrier.dialled.get(goods.toNumber)?.length ?? 0
      const [told] = callsBoughtBy(purchase)
      if (told === undefined) return dialled
      return (await callOf(purchase.buyer, told)).toNumber === goods.toNumber ? dialled : 0
    }
    case "extension": {
      const { authorizedSeconds } = await callOf(purchase.buyer, goods.callId)
      const [call] = carrier.dialled.get(goods.toNumber) ?? []
      const isKept = call !== undefined && call.timeLimitSeconds >= authorizedSeconds
      return isKept ? (authorizedSeconds - FIVE_MINUTES) / EXTENSION_SECONDS : 0
    }
  }
}

/** What the carrier has sold and dialled for nobody, or the service sold without the carrier. */
export const unclaimed = (
  carrier: { readonly numbers: ReadonlySet<string>; readonly dialled: ReadonlyMap<string, unknown> },
  listed: ReadonlyArray<NumberFields>,
  purchases: ReadonlyArray<Pick<Purchase, "goods">>
): ReadonlyArray<string> => {
  const owned = Map.groupBy(
    listed.filter((number) => !isReleased(number)),
    ({ number }) => number
  )
  const called = new Set(purchases.flatMap(({ goods }) => (goods.kind === "call" ? [goods.toNumber] : [])))
  return [
    ...[...carrier.numbers].filter((number) => !owned.has(number)).map((number) => `${number} is sold, and nobody's`),
    ...[...owned].flatMap(([number, owners]) => [
      ...(carrier.numbers.has(number) ? [] : [`${number} is somebody's, and was not sold`]),
      ...(owners.length > 1 ? [`${number} is ${owners.length} wallets'`] : [])
    ]),
    ...[...carrier.dialled.keys()]
      .filter((number) => !called.has(number))
      .map((number) => `${number} was called, for which nobody asked`)
  ]
}
