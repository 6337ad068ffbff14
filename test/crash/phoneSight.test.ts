import { describe, expect, it } from "vitest"
import { Buyer, type NumberFields } from "./Buyer.ts"
import { countPhone, unclaimed } from "./PhoneSight.ts"
import type { PhoneGoods, Purchase } from "./Purchase.ts"

const number = "+14155550100"
const person = "+14155550150"

const owned = (status: NumberFields["status"] = "active"): NumberFields => ({
  phoneNumberId: "id",
  number,
  agentName: "agent",
  status,
  entitlement: { startedAt: "2030-01-01T00:00:00.000Z", expiresAt: "2030-01-31T00:00:00.000Z" },
  inboundAllowance: { purchasedSeconds: 0 }
})
const carrier = (numbers: ReadonlyArray<string>, called: ReadonlyArray<string> = []) => ({
  numbers: new Set(numbers),
  dialled: new Map(called.map((to) => [to, 1]))
})
const wish = { goods: { kind: "call", phoneNumberId: "id", toNumber: person } } as const

describe("of what the carrier has done, nothing is unclaimed", () => {
  it("where each number is one wallet's, those given back are nobody's, and each call was asked for", () => {
    expect(unclaimed(carrier([number], [person]), [owned("released"), owned()], [wish])).toEqual([])
  })
})

describe("it is noticed that", () => {
  it.each([
    ["a number is sold and nobody's", carrier([number]), [owned("released")], "is sold, and nobody's"],
    ["a number is somebody's and not sold", carrier([]), [owned()], "was not sold"],
    ["a number is two wallets'", carrier([number]), [owned(), owned()], "is 2 wallets'"],
    ["somebody was called for nobody", carrier([], [person]), [], "for which nobody asked"]
  ])("%s", (_name, seen, listed, words) => {
    expect(unclaimed(seen, listed, [])).toEqual([expect.stringContaining(words)])
  })
})

describe("goods are counted", () => {
  const buyer = new Buyer({ baseUrl: "http://127.0.0.1:1" } as never, `0x${"11".repeat(32)}`)
  const count = (goods: PhoneGoods, list: ReadonlyArray<NumberFields>, sold = [number]): Promise<number> => {
    const purchase: Purchase = {
      name: "case",
      service: "phone.number.us.30d",
      buyer,
      request: { path: "/" },
      goods,
      client: "repeats",
      attempts: []
    }
    return countPhone(purchase, goods, { numbers: new Set(sold), dialled: new Map() }, list)
  }
  const until = (expiresAt: string, purchasedSeconds = 0): NumberFields => ({
    ...owned(),
    entitlement: { startedAt: "2030-01-01T00:00:00.000Z", expiresAt },
    inboundAllowance: { purchasedSeconds }
  })

  it("for a number, where its wallet has it and the carrier has sold it", async () => {
    const goods = { kind: "number", agentName: "agent", areaCode: "415" } as const
    expect(await count(goods, [owned()])).toBe(1)
    expect(await count(goods, [owned()], [])).toBe(0)
    expect(await count(goods, [owned("released")])).toBe(0)
    expect(await count({ ...goods, agentName: "another" }, [owned()])).toBe(0)
  })

  it("for a renewal, by whole grants of 30 days", async () => {
    const goods = { kind: "renewal", phoneNumberId: "id" } as const
    expect(await count(goods, [until("2030-01-31T00:00:00.000Z")])).toBe(0)
    expect(await count(goods, [until("2030-03-02T00:00:00.000Z")])).toBe(1)
    expect(await count(goods, [until("2030-04-01T00:00:00.000Z")])).toBe(2)
  })

  it("for minutes, by 600 seconds", async () => {
    const goods = { kind: "minutes", phoneNumberId: "id" } as const
    expect(await count(goods, [until("2030-01-31T00:00:00.000Z", 600)])).toBe(1)
    expect(await count(goods, [until("2030-01-31T00:00:00.000Z", 1_200)])).toBe(2)
  })
})
