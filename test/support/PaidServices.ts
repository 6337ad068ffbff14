import { operations, OPERATIONS } from "@agentos/api"
import { decodePaymentResponseHeader } from "@x402/core/http"
import { expect } from "vitest"
import { freshName } from "./Agent.ts"
import type { PhoneCarrier } from "./PhoneCarrier.ts"
import type { CallFields, PhoneCustomer } from "./PhoneCustomer.ts"

export const PAID = operations.filter(({ entry }) => entry.price !== null)
export type PaidName = (typeof PAID)[number]["name"]

/** The resources of a customer, which replace the ids in examples. */
export type Ids = Partial<Record<"mailboxId" | "phoneNumberId" | "callId", string>>

/** Returns the body of a paid service's example. */
export const exampleOf = (name: PaidName, ids: Ids): Record<string, unknown> => {
  const payload = OPERATIONS[name].example?.payload as Record<string, unknown>
  const known = Object.entries(ids).filter(([id]) => id in payload)
  return { ...payload, ...Object.fromEntries(known) }
}

export interface Paid {
  readonly status: number
  readonly receipt: string | null
  readonly data: Record<string, never>
}

/** Pays for a request and sends it. */
export type Pay = (path: string, body: unknown, headers: Readonly<Record<string, string>>) => Promise<Paid>

/** Reads a text in a response, by the names that lead to it. */
const textIn = (data: unknown, ...names: ReadonlyArray<string>): string =>
  String(names.reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], data))

export const untilAnswered = (carrier: PhoneCarrier, customer: PhoneCustomer, callId: string): Promise<CallFields> =>
  carrier.until(
    () => customer.call(callId),
    ({ status }) => status === "in_progress"
  )

/** Buys every paid service once, from its example, in an order in which each finds the resources that it needs. */
export const buyAll = async (
  carrier: PhoneCarrier,
  customer: PhoneCustomer,
  pay: Pay,
  keyOf: () => Readonly<Record<string, string>> = () => ({})
): Promise<void> => {
  const ids: Ids = {}
  const bought: Array<string> = []
  const buy = async (name: PaidName, changes: Record<string, unknown> = {}) => {
    const token = customer.agent.token
    const headers = { ...keyOf(), ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) }
    const { data, receipt, status } = await pay(
      OPERATIONS[name].entry.path,
      { ...exampleOf(name, ids), ...changes },
      headers
    )
    expect([name, status]).toEqual([name, OPERATIONS[name].status])
    const { payer, success, transaction } = decodePaymentResponseHeader(receipt ?? "")
    expect([success, payer, transaction]).toEqual([
      true,
      customer.address.toLowerCase(),
      expect.stringMatching(/^0x[0-9a-f]{64}$/)
    ])
    bought.push(name)
    return data
  }
  const person = () => carrier.person({ seconds: 10_000 })
  const mailbox = await buy("createMailbox", { localPart: freshName() })
  customer.agent.token = textIn(mailbox, "authentication", "accessToken")
  ids.mailboxId = textIn(mailbox, "mailbox", "mailboxId")
  await buy("updateMailbox")
  await buy("sendMessage")
  await buy("deleteMailbox")
  const number = await buy("purchaseUsNumber", { agentWebhookUrl: customer.webhookUrl })
  ids.phoneNumberId = textIn(number, "phoneNumberId")
  await buy("purchaseCanadaNumber")
  await buy("renewNumber")
  await buy("addInboundMinutes")
  const call = await buy("callOneMinute", { toNumber: await person() })
  ids.callId = textIn(call, "call", "callId")
  await untilAnswered(carrier, customer, ids.callId)
  await buy("extendCall")
  await buy("callFiveMinutes", { toNumber: await person() })
  expect(bought.toSorted()).toEqual(PAID.map(({ name }) => name).toSorted())
}
