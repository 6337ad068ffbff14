import type { CarrierCall, CustomCarrier } from "../../src/index.ts"

/** A carrier of a host: one number for sale, and calls that it only records. */
export const houseCarrier = () => {
  const owned = new Map<string, string>()
  const placed: Array<Parameters<CustomCarrier["place"]>[0]> = []
  const hungUp: Array<string> = []
  const calls = new Map<string, CarrierCall>()
  const carrier: CustomCarrier = {
    name: "house-phone",
    search: async () => [{ number: "+14155550100", areaCode: "415" }],
    buy: async (number) => {
      owned.set(number, `PN${owned.size + 1}`)
      return { number, providerNumberId: owned.get(number)! }
    },
    findNumber: async (number) => {
      const providerNumberId = owned.get(number)
      return providerNumberId === undefined ? null : { number, providerNumberId, isOurs: true }
    },
    release: async () => undefined,
    listNumbers: async () => ({
      items: [...owned].map(([number, providerNumberId]) => ({ number, providerNumberId }))
    }),
    place: async (call) => {
      const providerCallId = `CA${placed.push(call)}`
      calls.set(providerCallId, { providerCallId, report: { state: "ringing" } })
      return providerCallId
    },
    findCalls: async () => [],
    findCall: async (id) => calls.get(id) ?? null,
    changeLimit: async () => undefined,
    hangUp: async (id) => void hungUp.push(id)
  }
  return { carrier, placed, hungUp }
}
