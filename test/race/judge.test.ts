import { describe, expect, it } from "vitest"
import { Book, type ExpectedMail, type Stake } from "./Book.ts"
import type { TimedCall } from "../support/CarrierLog.ts"
import type { Movement } from "../support/TokenLog.ts"
import { type Evidence, weigh } from "./Judge.ts"
import type { PhoneEvidence } from "./PhoneRules.ts"

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

const noPhones: PhoneEvidence = { calls: [], sold: new Map(), held: new Set() }
const nothing: Evidence = { received: [], sent: [], mails: new Map(), phones: noPhones }

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

const ADA = "+12015550150"
const NUMBER = "+12015550100"

const dialled = (timeLimitSeconds = 60, to = ADA): TimedCall => ({
  id: "CA1",
  state: "completed",
  direction: "outbound-api",
  from: NUMBER,
  to,
  timeLimitSeconds,
  seconds: 3
})

const called = (seconds: number): TimedCall => ({ ...dialled(), direction: "inbound", to: NUMBER, seconds })

const foundByPhone = (told: (book: Book) => void, phones: Partial<PhoneEvidence>): ReadonlyArray<string> => {
  const book = new Book()
  book.tally(RACE)
  told(book)
  const verdicts = weigh(book, { ...nothing, phones: { ...noPhones, ...phones } })
  return verdicts.flatMap(({ violations }) => violations.map(({ text }) => text))
}

describe("the judge of a race for telephones", () => {
  const told = { race: RACE, round: 0 }
  const call = (made: boolean) => (book: Book) =>
    void book.calls.push({ ...told, toNumber: ADA, made, limitSeconds: 60 })
  const number =
    (...kept: ReadonlyArray<boolean>) =>
    (book: Book) =>
      void book.numbers.push(...kept.map((each) => ({ ...told, number: NUMBER, kept: each })))
  const allowance = (book: Book) => void book.allowances.push({ ...told, number: NUMBER, purchasedSeconds: 600 })
  const sold = (times: number) => new Map([[NUMBER, times]])
  const held = new Set([NUMBER])

  it("has nothing to say of what was paid for and done once, and of what was neither", () => {
    expect(foundByPhone(call(true), { calls: [dialled()] })).toEqual([])
    expect(foundByPhone(call(false), {})).toEqual([])
    expect(foundByPhone(number(true), { sold: sold(1), held })).toEqual([])
    expect(foundByPhone(number(false), { sold: sold(1) })).toEqual([])
    expect(foundByPhone(number(false, true), { sold: sold(2), held })).toEqual([])
    expect(foundByPhone(allowance, { calls: [called(350), called(250)] })).toEqual([])
  })

  it.each<[string, (book: Book) => void, Partial<PhoneEvidence>, RegExp]>([
    ["a call that was not made", call(true), {}, /dialled 0 times/],
    ["a call that was made twice", call(true), { calls: [dialled(), dialled()] }, /dialled 2 times/],
    ["a call that is said not to be made", call(false), { calls: [dialled()] }, /was not to be called/],
    ["a call that nobody asked for", () => undefined, { calls: [dialled()] }, /nobody paid for/],
    ["a call for another time", call(true), { calls: [dialled(120)] }, /called for 120 s/],
    ["a number that was not sold", number(true), { held }, /sold 0 times/],
    ["a number of two wallets", number(true, true), { sold: sold(1), held }, /given to 2, and sold 1 times/],
    ["a number of two wallets that was sold twice", number(true, true), { sold: sold(2), held }, /2 at a time/],
    ["a number that is somebody's and gone", number(true), { sold: sold(1) }, /was given back$/],
    ["a number that stays", number(false), { sold: sold(1), held }, /still held/],
    ["a number that is nobody's", () => undefined, { sold: sold(1), held }, /nobody's/],
    ["talk that was not paid for", allowance, { calls: [called(350), called(251)] }, /350 \+ 251 s/]
  ])("notices %s", (_what, tell, phones, text) => {
    expect(foundByPhone(tell, phones)).toContainEqual(expect.stringMatching(text))
  })
})
