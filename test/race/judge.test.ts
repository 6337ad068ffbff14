import { describe, expect, it } from "vitest"
import { Book, type ExpectedMail, type Stake } from "./Book.ts"
import type { Movement } from "./ChainLog.ts"
import { type Evidence, weigh } from "./Judge.ts"

const RACE = "a race"
const PAYER = "0x00000000000000000000000000000000000000AA"
const PRICE = 250_000n

const nonceOf = (digit: number): `0x${string}` => `0x${String(digit).repeat(64)}`

const stake = (digit: number, told: Partial<Stake> = {}): Stake => ({
  race: RACE,
  round: digit,
  offer: { payer: PAYER, nonce: nonceOf(digit), amount: PRICE, validBefore: 0, header: "" },
  delivered: 0,
  returned: false,
  ...told
})

const paid = (digit: number, value = PRICE): Movement => ({
  from: PAYER.toLowerCase(),
  to: "0x01",
  value,
  nonce: nonceOf(digit),
  transaction: "0x"
})

const paidBack = (value = PRICE, to = PAYER.toLowerCase()): Movement => ({
  from: "0x02",
  to,
  value,
  nonce: nonceOf(9),
  transaction: "0x"
})

const mail = (sent: boolean, mayRepeat = false): ExpectedMail => ({
  race: RACE,
  round: 0,
  recipient: "a@b.test",
  sent,
  mayRepeat
})

const nothing: Evidence = { received: [], sent: [], mails: new Map() }

const found = (stakes: ReadonlyArray<Stake>, evidence: Partial<Evidence>, mails: ReadonlyArray<ExpectedMail> = []) => {
  const book = new Book()
  book.tally(RACE)
  book.stakes.push(...stakes)
  book.mails.push(...mails)
  return weigh(book, { ...nothing, ...evidence }).flatMap(({ violations }) => violations.map(({ text }) => text))
}

const mails = (...ids: ReadonlyArray<string>) => ({ mails: new Map([["a@b.test", ids]]) })

describe("the judge of a race", () => {
  it("has nothing to say of who paid and got it, who paid and got it back, and who neither paid nor got it", () => {
    const stakes = [stake(1, { delivered: 1 }), stake(2, { returned: true }), stake(3)]
    expect(found(stakes, { received: [paid(1), paid(2)], sent: [paidBack()] })).toEqual([])
  })

  it.each<[string, ReadonlyArray<Stake>, Partial<Evidence>, string | RegExp]>([
    ["two things for one payment", [stake(1, { delivered: 2 })], { received: [paid(1)] }, /bought 2 things/],
    ["something for nothing", [stake(1, { delivered: 1 })], {}, /charged 0 times/],
    ["one payment taken twice", [stake(1, { delivered: 1 })], { received: [paid(1), paid(1)] }, /charged 2 times/],
    ["a loser who paid", [stake(1)], { received: [paid(1)] }, /nothing delivered/],
    ["a loser who paid, and got it back unasked", [stake(1)], { received: [paid(1)], sent: [paidBack()] }, /nothing/],
    ["money that is said to go back, and was never taken", [stake(1, { returned: true })], {}, /charged 0 times/],
    ["money that is said to go back, and did not", [stake(1, { returned: true })], { received: [paid(1)] }, /not paid/],
    ["another amount", [stake(1, { delivered: 1 })], { received: [paid(1, 1n)] }, /charged 1 of/],
    ["a payment that nobody made", [stake(1)], { received: [paid(2)] }, /nobody signed/],
    ["money given away", [stake(1, { delivered: 1 })], { received: [paid(1)], sent: [paidBack()] }, /not owed/],
    [
      "money paid back twice",
      [stake(1, { returned: true })],
      { received: [paid(1)], sent: [paidBack(), paidBack()] },
      /not owed/
    ],
    [
      "money paid back to another",
      [stake(1, { returned: true })],
      { received: [paid(1)], sent: [paidBack(PRICE, "0x03")] },
      /not owed/
    ]
  ])("notices %s", (_what, stakes, evidence, text) => {
    expect(found(stakes, evidence)).toContainEqual(expect.stringMatching(text))
  })

  it("counts mail by copy and by Message-ID", () => {
    expect(found([], mails("<1>"), [mail(true)])).toEqual([])
    expect(found([], mails("<1>", "<1>"), [mail(true, true)])).toEqual([])
    expect(found([], {}, [mail(false)])).toEqual([])
    expect(found([], {}, [mail(true)])).toHaveLength(1)
    expect(found([], mails("<1>", "<1>"), [mail(true)])).toHaveLength(1)
    expect(found([], mails("<1>", "<2>"), [mail(true, true)])).toHaveLength(1)
    expect(found([], mails("<1>"), [mail(false)])).toHaveLength(1)
  })
})
