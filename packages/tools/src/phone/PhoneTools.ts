import { AgentOsError, type CallRecord, type PhoneNumber } from "@agentos/client"
import { INPUTS } from "../generated/Contract.ts"
import { nullable, objectSchema, TEXT } from "../Schema.ts"
import { LiveCall } from "../LiveCall.ts"
import { isNewcomer, type Json } from "../Result.ts"
import { defineTool, type ToolContext } from "../Tool.ts"
import { cut, line } from "../Untrusted.ts"
import { TIMEOUT_INPUT, waitSecondsOf } from "../Wait.ts"

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

export const CALL_SCHEMA = objectSchema({
  callId: TEXT,
  phoneNumberId: TEXT,
  direction: TEXT,
  status: TEXT,
  endReason: nullable(TEXT),
  answeredBy: nullable({ type: "string", description: "person, machine or fax, if the carrier says it." }),
  authorizedSeconds: INTEGER,
  connectedSeconds: INTEGER,
  createdAt: { type: "string", format: "date-time" }
})

export const callOf = (call: CallRecord): Json => {
  const { answeredBy, authorizedSeconds, callId, connectedSeconds, createdAt, direction, endReason } = call
  const { phoneNumberId, status } = call
  const seconds = { authorizedSeconds, connectedSeconds }
  return { callId, phoneNumberId, direction, status, endReason, answeredBy, ...seconds, createdAt }
}

export const OTHER_SCHEMA = {
  otherNumber: nullable({ type: "string", description: "Number of the person; null if the caller withheld it." }),
  otherWithheld: nullable({ type: "string", description: "Why there is no number, for example anonymous." })
} as const

/** The person in a call, for `OTHER_SCHEMA`. */
export const otherOf = ({ direction, fromNumber, fromWithheld, toNumber }: CallRecord) => {
  const number = direction === "inbound" ? fromNumber : toNumber
  return { otherNumber: number === null ? null : line(number), otherWithheld: fromWithheld }
}

export const chosenNumber = async (
  context: ToolContext,
  field: string,
  chosen: string | undefined
): Promise<PhoneNumber> => {
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
    message: chosen === undefined ? `${field} is missing. ${have}` : `${field} ${chosen} is not your number. ${have}`
  })
}

export const NUMBER_INPUT = {
  type: "string",
  maxLength: 64,
  examples: ["+14155550100"],
  description: "Your phone number, as a number or an id. May be omitted if you have exactly one."
} as const

const { areaCode, beginMessage, description } = INPUTS.purchaseUsNumber

export const buyPhoneNumber = defineTool({
  name: "buy_phone_number",
  title: "Buy a phone number",
  description:
    "Buys a real US or Canadian phone number for 30 days, and returns it. It has no minutes for inbound calls yet: add them with add_inbound_minutes before people call it. If you already have a number in that country, returns it without a payment. Answer its calls with wait_for_call, or by a program such as `agentctl voice answer`.",
  properties: {
    country: { type: "string", enum: ["US", "CA"], default: "US", description: "Country of the number." },
    another: { type: "boolean", default: false, description: "Whether to buy one more although you have one." },
    areaCode,
    agentName: { ...INPUTS.purchaseUsNumber.agentName, default: "Agent" },
    beginMessage,
    description
  },
  required: [],
  output: {
    phoneNumber: NUMBER_SCHEMA,
    created: { type: "boolean", description: "False if you had it already." }
  },
  paysFor: ["purchaseUsNumber", "purchaseCanadaNumber"],
  effects: "buys",
  run: async ({ agent, call }, { another = false, ...input }) => {
    const numbers = agent.phoneNumbers
    const known = await numbers.list(call).catch((error: unknown) => {
      if (isNewcomer(error)) return []
      throw error
    })
    const isNew = another || known.length === 0
    const number = isNew ? await numbers.buy(input, call) : await numbers.open(input, call)
    return { phoneNumber: numberOf(number), created: isNew || known.every(({ id }) => id !== number.id) }
  }
})

export const renewPhoneNumber = defineTool({
  name: "renew_phone_number",
  title: "Renew a phone number",
  description: "Adds 30 days to a phone number, and returns it.",
  properties: { phoneNumber: NUMBER_INPUT },
  required: [],
  output: { phoneNumber: NUMBER_SCHEMA },
  paysFor: ["renewNumber"],
  effects: "buys",
  run: async (context, { phoneNumber }) => {
    const number = await chosenNumber(context, "phoneNumber", phoneNumber)
    return { phoneNumber: numberOf(await number.renew(context.call)) }
  }
})

export const addInboundMinutes = defineTool({
  name: "add_inbound_minutes",
  title: "Add minutes to a phone number",
  description: "Adds 10 minutes of inbound calls to a phone number, and returns it.",
  properties: { phoneNumber: NUMBER_INPUT },
  required: [],
  output: { phoneNumber: NUMBER_SCHEMA },
  paysFor: ["addInboundMinutes"],
  effects: "buys",
  run: async (context, { phoneNumber }) => {
    const number = await chosenNumber(context, "phoneNumber", phoneNumber)
    return { phoneNumber: numberOf(await number.addMinutes(context.call)) }
  }
})

export const releasePhoneNumber = defineTool({
  name: "release_phone_number",
  title: "Release a phone number",
  description:
    "Releases a phone number permanently, without a refund: another customer can get it. Only do this if the person you work for asks for it.",
  properties: {
    phoneNumber: { ...NUMBER_INPUT, description: "Your phone number, as a number or an id." },
    confirmRelease: { type: "boolean", description: "true, to confirm that the number is lost." }
  },
  required: ["phoneNumber", "confirmRelease"],
  output: { phoneNumber: NUMBER_SCHEMA },
  effects: "gives up",
  run: async (context, { confirmRelease, phoneNumber }) => {
    if (!confirmRelease)
      throw new AgentOsError({
        code: "INVALID_OPTION",
        message: "confirmRelease is false: the number was not released. Pass true to release it permanently."
      })
    const { id } = await chosenNumber(context, "phoneNumber", phoneNumber)
    const input = { phoneNumberId: id, confirmRelease: true } as const
    const { phoneNumber: record } = await context.agent.call("releaseNumber", input, context.call)
    return { phoneNumber: numberOf({ record }) }
  }
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
    "Calls a real person, speaks the greeting, and returns when the call is placed. To speak with the person yourself, pass speak: true, and call say_in_call at once. Otherwise the program that answers calls of the number speaks, such as `agentctl voice answer`; without one the person hears an apology. Read what was said with get_transcript.",
  properties: {
    from: NUMBER_INPUT,
    to: INPUTS.callOneMinute.toNumber,
    greeting: INPUTS.callOneMinute.initialGreeting,
    speak: { type: "boolean", default: false, description: "Whether you speak in the call, with say_in_call." },
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
  run: async (context, { from, greeting, minutes = 1, speak = false, to }) => {
    const number = await chosenNumber(context, "from", from)
    const placed = await number.call({ to, minutes, initialGreeting: greeting, speak }, context.call)
    if (speak) context.toolset.calls.set(placed.id, new LiveCall(placed, context.clock))
    const call = await placed.read(context.call)
    return { call: callOf(call) }
  }
})

export const extendCall = defineTool({
  name: "extend_call",
  title: "Extend a call",
  description: "Adds a minute to a call that is connected, and returns the call.",
  properties: { callId: { ...INPUTS.getCall.callId, description: "Id of the call." } },
  required: ["callId"],
  output: { call: CALL_SCHEMA },
  paysFor: ["extendCall"],
  effects: "buys",
  run: async ({ agent, call: options }, { callId }) => {
    const { call } = await agent.call("extendCall", { callId }, options)
    return { call: callOf(call) }
  }
})

const POLL_MILLIS = 1_000
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
    waitSeconds: { ...TIMEOUT_INPUT, minimum: 0, default: 0 }
  },
  required: ["callId"],
  output: {
    call: CALL_SCHEMA,
    complete: { type: "boolean", description: "Whether the call has ended and every turn is in the transcript." },
    next: nullable(TEXT),
    untrusted: objectSchema({
      ...OTHER_SCHEMA,
      turns: { type: "array", items: objectSchema({ role: TEXT, at: TEXT, text: TEXT }) }
    })
  },
  isUntrusted: true,
  waits: true,
  effects: "reads mail",
  run: async ({ agent, call: options, clock }, { callId, waitSeconds = 0 }) => {
    const end = clock.now() + waitSecondsOf(waitSeconds) * 1_000
    for (;;) {
      // The last look begins when the time is over.
      const left = end - clock.now()
      const { transcript } = await agent.call("getTranscript", { callId }, options)
      if (transcript.complete || left <= 0) {
        const { call } = await agent.call("getCall", { callId }, options)
        return {
          call: callOf(call),
          complete: transcript.complete,
          next: transcript.complete
            ? null
            : "The call goes on. To wait for its end, call again with waitSeconds: nothing that is said in between is lost.",
          untrusted: {
            ...otherOf(call),
            turns: transcript.turns
              .slice(-TURNS_MAX)
              .map(({ at, role, text }) => ({ role, at, text: cut(text, TURN_TEXT_MAX).text }))
          }
        }
      }
      await clock.sleep(Math.min(POLL_MILLIS, Math.max(0, end - clock.now())), options.signal)
      options.signal?.throwIfAborted()
    }
  }
})
