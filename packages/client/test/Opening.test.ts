import { AgentOs } from "@agentos/client"
import { describe, expect, it } from "vitest"
import { type Answer, BASE_URL, challenge, failure, scripted, success } from "./Scripted.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const LIST = `${MAILBOXES}/query`
const NUMBERS = "/api/v1/phone/numbers"
const BUY = "/api/v1/phone/purchase-us-number-30-days"

const mailbox = (localPart: string, active = true) => ({
  mailboxId: `id of ${localPart}`,
  address: `${localPart}@agents.example`,
  localPart,
  active
})
const listed = (...items: ReadonlyArray<object>) => success({ items })
const created = success({ mailbox: mailbox("ada"), operationId: "o" }, 201)
const conflict = (state: object = {}) => failure(409, { code: "CONFLICT", ...state })

const connect = async (script: Readonly<Record<string, ReadonlyArray<Answer>>>) => {
  const server = scripted(script)
  const tokens = { get: () => "at_v1_token", set: () => undefined }
  return { ...server, agent: await AgentOs.connect(BASE_URL, { ...server.options, tokens }) }
}

describe("mailboxes.open", () => {
  it("returns the own mailbox of the address, in any case, and asks for no price", async () => {
    const { agent, requests, signatures } = await connect({ [LIST]: [listed(mailbox("bob"), mailbox("ada"))] })
    expect(await agent.mailboxes.open({ localPart: "Ada" })).toMatchObject({ id: "id of ada" })
    expect([requests.map(({ path }) => path), signatures]).toEqual([[LIST], []])
  })

  it("buys the mailbox if it does not exist", async () => {
    const { agent, signatures } = await connect({ [LIST]: [listed()], [MAILBOXES]: [challenge(), created] })
    expect(await agent.mailboxes.open({ localPart: "ada" })).toMatchObject({ id: "id of ada" })
    expect(signatures).toHaveLength(1)
  })

  it.each([
    ["before the payment", []],
    ["after it, which is refunded", [challenge()]]
  ])("returns the mailbox that another run of the wallet bought meanwhile, with a conflict %s", async (_, first) => {
    const { agent } = await connect({
      [LIST]: [listed(), listed(), listed(mailbox("ada"))],
      [MAILBOXES]: [...first, conflict({ paymentState: first.length === 0 ? "none" : "refunded" })]
    })
    expect(await agent.mailboxes.open({ localPart: "ada" })).toMatchObject({ id: "id of ada" })
  })

  it("says that the address belongs to another wallet, and that nothing was charged", async () => {
    const { agent, signatures } = await connect({ [LIST]: [listed(mailbox("bob"))], [MAILBOXES]: [conflict()] })
    await expect(agent.mailboxes.open({ localPart: "ada" })).rejects.toMatchObject({
      code: "CONFLICT",
      message: 'localPart "ada" belongs to another wallet. Nothing was charged. Choose another localPart.',
      moneyMoved: "no"
    })
    expect(signatures).toEqual([])
  })

  it("does not return a mailbox that is inactive", async () => {
    const { agent, requests } = await connect({ [LIST]: [listed(mailbox("ada", false))] })
    await expect(agent.mailboxes.open({ localPart: "ada" })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("update({ active: true })") as string
    })
    expect(requests).toHaveLength(1)
  })
})

describe("phoneNumbers.open", () => {
  const number = (phoneNumberId: string, status: string, country = "US") => ({ phoneNumberId, status, country })
  const numbers = [
    number("one", "suspended"),
    number("two", "active", "CA"),
    number("three", "expiring"),
    number("four", "active")
  ]

  it("returns the first own number of the country that is in service", async () => {
    const { agent, requests } = await connect({ [NUMBERS]: [listed(...numbers)] })
    expect(await agent.phoneNumbers.open()).toMatchObject({ id: "three" })
    expect(await agent.phoneNumbers.open({ country: "CA" })).toMatchObject({ id: "two" })
    expect(requests.map(({ path }) => path)).toEqual([NUMBERS, NUMBERS])
  })

  it("buys one if none is in service", async () => {
    const bought = success({ phoneNumber: number("five", "active"), operationId: "o" }, 201)
    const { agent, signatures } = await connect({ [NUMBERS]: [listed(numbers[0]!)], [BUY]: [challenge(), bought] })
    expect(await agent.phoneNumbers.open()).toMatchObject({ id: "five" })
    expect(signatures).toHaveLength(1)
  })
})
