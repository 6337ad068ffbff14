import {
  type CallRecord,
  type EventRecord,
  type MailboxRecord,
  type MessageRecord,
  networkNameOf,
  type PhoneNumberRecord,
  unitsOf
} from "@agentos/client"
import { mailboxOf } from "../mail/MailboxTools.ts"
import { emailOf } from "../mail/Records.ts"
import { callOf, numberOf } from "../phone/PhoneTools.ts"
import { nullable, objectSchema, TEXT, TIME } from "../Schema.ts"
import { isNewcomer, type Json } from "../Result.ts"
import { defineTool, type ToolContext } from "../Tool.ts"

const DAY_MILLIS = 24 * 60 * 60 * 1_000
const PAYMENTS_MAX = 100

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null)

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null

const paymentOf = ({ createdAt, payload, type }: EventRecord): Json => {
  const { network, paymentState, price, serviceId, transaction } = payload as Json
  return {
    at: createdAt,
    outcome: type.replace(/^payment\./, ""),
    service: textOrNull(serviceId),
    amount: isObject(price) ? textOrNull(price["amount"]) : null,
    network: typeof network === "string" ? networkNameOf(network) : null,
    paymentState: textOrNull(paymentState),
    transaction: textOrNull(transaction)
  }
}

/** Returns the payments of the last 24 hours that have ended, oldest first. */
const endedPayments = async ({ agent, call, clock }: ToolContext): Promise<ReadonlyArray<Json>> => {
  try {
    const from = new Date(clock.now() - DAY_MILLIS).toISOString()
    const { items } = await agent.call("listEvents", { service: "payment", from, limit: PAYMENTS_MAX }, call)
    return items.map(paymentOf)
  } catch (error) {
    if (isNewcomer(error)) return []
    throw error
  }
}

/** Returns the lower of two amounts. Null is no amount. */
const lowerOf = (one: string | null, other: string | null): string | null => {
  if (one === null || other === null) return one ?? other
  return (unitsOf(one) ?? 0n) < (unitsOf(other) ?? 0n) ? one : other
}

export const getSpending = defineTool({
  name: "get_spending",
  title: "Read spending and limits",
  description: `Returns what was spent in the last 24 hours, the limits, what you may still spend, payments whose outcome is unknown, and the first ${PAYMENTS_MAX} payments of the last 24 hours. Amounts are in USDT, one sum over all tokens and networks. Only the person who started this can change the limits.`,
  properties: {},
  required: [],
  output: {
    spentLastDay: TEXT,
    limitPerCall: nullable(TEXT),
    limitPerDay: nullable(TEXT),
    leftToday: nullable(TEXT),
    mayStillSpend: {
      type: ["string", "null"],
      description: "The highest price that a call may have now, by both limits; null without a limit."
    },
    openPayments: {
      type: "array",
      description: "Payments with an unknown outcome. Complete each with resume_payment.",
      items: objectSchema({ paymentId: TEXT, operation: TEXT, amount: TEXT, network: TEXT, createdAt: TIME })
    },
    payments: {
      type: "array",
      items: objectSchema({
        at: TIME,
        outcome: TEXT,
        service: nullable(TEXT),
        amount: nullable(TEXT),
        network: nullable(TEXT),
        paymentState: nullable(TEXT),
        transaction: nullable(TEXT)
      })
    }
  },
  effects: "reads",
  run: async (context) => {
    const { lastDay, left, perCall, perDay } = await context.spent()
    return {
      spentLastDay: lastDay,
      limitPerCall: perCall,
      limitPerDay: perDay,
      leftToday: left,
      mayStillSpend: lowerOf(perCall, left),
      openPayments: context.agent.payments.open().map(({ amount, createdAt, id, network, operationId }) => ({
        paymentId: id,
        operation: operationId,
        amount,
        network: networkNameOf(network),
        createdAt: new Date(createdAt).toISOString()
      })),
      payments: await endedPayments(context)
    }
  }
})

/** The records that an operation can return, as tools show them. Tokens and secrets are left out. */
const boughtBy = ({ call, mailbox, message, phoneNumber }: Json): Json => ({
  ...(isObject(message) ? { email: emailOf(message as unknown as MessageRecord) } : {}),
  ...(isObject(mailbox) ? { mailbox: mailboxOf({ record: mailbox as unknown as MailboxRecord }) } : {}),
  ...(isObject(phoneNumber) ? { phoneNumber: numberOf({ record: phoneNumber as unknown as PhoneNumberRecord }) } : {}),
  ...(isObject(call) ? { call: callOf(call as unknown as CallRecord) } : {})
})

export const resumePayment = defineTool({
  name: "resume_payment",
  title: "Complete a payment",
  description:
    "Sends a payment whose outcome is unknown again, byte for byte, and returns what it bought. Nothing is signed, so nothing is charged twice.",
  properties: {
    paymentId: {
      type: "string",
      maxLength: 64,
      examples: ["019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7"],
      description: "Id of an open payment, from an error or from get_spending."
    }
  },
  required: ["paymentId"],
  output: { moneyMoved: { type: "string", enum: ["yes"] }, bought: { type: "object" } },
  isUntrusted: true,
  effects: "completes",
  run: async ({ agent, call }, { paymentId }) => ({
    moneyMoved: "yes",
    bought: boughtBy(await agent.payments.resume(paymentId, call))
  })
})
