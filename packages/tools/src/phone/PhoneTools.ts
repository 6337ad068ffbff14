import { AgentOsError, type CallRecord, type PhoneNumber } from "@agentos/client"
import { INPUTS } from "../generated/Contract.ts"
import { nullable, objectSchema, TEXT } from "../Schema.ts"
import type { Json } from "../Result.ts"
import { defineTool, type ToolContext } from "../Tool.ts"
import { cut, line } from "../Untrusted.ts"

const INTEGER = { type: "integer" } as const

const NUMBER_SCHEMA = objectSchema({
  phoneNumberId: TEXT,
  number: TEXT,
  country: TEXT,
  status: TEXT,
  expiresAt: { type: "string", format: "date-time" },
  inboundSecondsLeft: INTEGER
})

export const numberOf = ({ record }: Pick<PhoneNumber, "record">): Json => {
  const { country, entitlement, inboundAllowance, number, phoneNumberId, status } = record
  return {
    phoneNumberId,
    number,
    country,
    status,
    expiresAt: entitlement.expiresAt,
    inboundSecondsLeft: inboundAllowance.remainingSeconds
  }
}

const CALL_SCHEMA = objectSchema({
  callId: TEXT,
  phoneNumberId: TEXT,
  direction: TEXT,
  status: TEXT,
  endReason: nullable(TEXT),
  authorizedSeconds: INTEGER,
  connectedSeconds: INTEGER,
  createdAt: { type: "string", format: "date-time" }
})

export const callOf = (call: CallRecord): Json => {
  const { authorizedSeconds, callId, connectedSeconds, createdAt, direction, endReason, phoneNumberId, status } = call
  return { callId, phoneNumberId, direction, status, endReason, authorizedSeconds, connectedSeconds, createdAt }
}

const chosenNumber = async (context: ToolContext, chosen: string | undefined): Promise<PhoneNumber> => {
  const numbers = (await context.agent.phoneNumbers.list(context.call)).filter(
    ({ record }) => record.status !== "released"
  )
  const [only, ...others] = numbers
  const found = chosen === undefined ? only : numbers.find(({ id, number }) => id === chosen || number === chosen)
  if (found !== undefined && (chosen !== undefined || others.length === 0)) return found
  const have =
    only === undefined
      ? "You have no phone number. Buy one with buy_phone_number."
      : `Your numbers: ${numbers.map(({ number }) => number).join(", ")}.`
  throw new AgentOsError({
    code: "INVALID_OPTION",
    message: chosen === undefined ? `from is missing. ${have}` : `from ${chosen} is not your number. ${have}`,
    details: {}
  })
}

const { areaCode, beginMessage, description } = INPUTS.purchaseUsNumber

export const buyPhoneNumber = defineTool({
  name: "buy_phone_number",
  title: "Buy a phone number",
  description:
    "Buys a real US or Canadian phone number for 30 days, with 10 minutes of inbound calls, and returns it. A program that follows calls over the realtime socket answers them, such as `agentctl voice answer`.",
  properties: {
    country: { type: "string", enum: ["US", "CA"], default: "US", description: "Country of the number." },
    areaCode,
    agentName: { ...INPUTS.purchaseUsNumber.agentName, default: "Agent" },
    beginMessage,
    description
  },
  required: [],
  output: { phoneNumber: NUMBER_SCHEMA },
  paysFor: ["purchaseUsNumber", "purchaseCanadaNumber"],
  effects: "buys",
  run: async ({ agent, call }, input) => ({ phoneNumber: numberOf(await agent.phoneNumbers.buy(input, call)) })
})

export const listPhoneNumbers = defineTool({
  name: "list_phone_numbers",
  title: "List phone numbers",
  description: "Returns all of your phone numbers, with the end of each and the seconds left for inbound calls.",
  properties: {},
  required: [],
  output: { phoneNumbers: { type: "array", items: NUMBER_SCHEMA } },
  effects: "reads",
  run: async (context) => ({ phoneNumbers: (await context.agent.phoneNumbers.list(context.call)).map(numberOf) })
})

export const placeCall = defineTool({
  name: "place_call",
  title: "Call a person",
  description:
    "Calls a real person, speaks the greeting, and returns when the call is placed. Read what the person says with get_transcript. Answers are spoken by the program that answers calls of the number, such as `agentctl voice answer`; without one the person hears an apology.",
  properties: {
    from: {
      type: "string",
      maxLength: 64,
      description: "Your phone number, as a number or an id. May be omitted if you have exactly one."
    },
    to: INPUTS.callOneMinute.toNumber,
    greeting: INPUTS.callOneMinute.initialGreeting,
    minutes: {
      type: "integer",
      enum: [1, 5],
      default: 1,
      description: "Connected minutes to pay for, counted from the answer. Then the call ends."
    }
  },
  required: ["to", "greeting"],
  output: { call: CALL_SCHEMA },
  paysFor: ["callOneMinute", "callFiveMinutes"],
  effects: "reaches people",
  run: async (context, { from, greeting, minutes = 1, to }) => {
    const number = await chosenNumber(context, from)
    const { id } = await number.call({ to, minutes, initialGreeting: greeting }, context.call)
    const { call } = await context.agent.call("getCall", { callId: id }, context.call)
    return { call: callOf(call) }
  }
})

const POLL_MILLIS = 1_000
const WAIT_SECONDS_MAX = 300
/** A call of five minutes has fewer. */
const TURNS_MAX = 200
const TURN_TEXT_MAX = 4_000

export const getTranscript = defineTool({
  name: "get_transcript",
  title: "Read a call",
  description:
    "Returns the state of a call and what was said so far. With waitSeconds, waits until the call has ended and the transcript is complete.",
  properties: {
    callId: { ...INPUTS.getCall.callId, description: "Id of the call." },
    waitSeconds: {
      type: "integer",
      minimum: 0,
      maximum: WAIT_SECONDS_MAX,
      default: 0,
      description: "How long to wait for the end of the call."
    }
  },
  required: ["callId"],
  output: {
    call: CALL_SCHEMA,
    complete: { type: "boolean", description: "Whether the call has ended and every turn is in the transcript." },
    untrusted: objectSchema({
      otherNumber: TEXT,
      turns: { type: "array", items: objectSchema({ role: TEXT, at: TEXT, text: TEXT }) }
    })
  },
  isUntrusted: true,
  waits: true,
  effects: "reads mail",
  run: async ({ agent, call: options, clock }, { callId, waitSeconds = 0 }) => {
    for (let polls = 0; ; polls++) {
      const { transcript } = await agent.call("getTranscript", { callId }, options)
      if (transcript.complete || polls * POLL_MILLIS >= waitSeconds * 1_000) {
        const { call } = await agent.call("getCall", { callId }, options)
        return {
          call: callOf(call),
          complete: transcript.complete,
          untrusted: {
            otherNumber: line(call.direction === "inbound" ? call.fromNumber : call.toNumber),
            turns: transcript.turns
              .slice(-TURNS_MAX)
              .map(({ at, role, text }) => ({ role, at, text: cut(text, TURN_TEXT_MAX).text }))
          }
        }
      }
      await clock.sleep(POLL_MILLIS, options.signal)
      options.signal?.throwIfAborted()
    }
  }
})
