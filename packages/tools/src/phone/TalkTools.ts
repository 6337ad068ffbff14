import { AgentOsError, type Call } from "@agentos/client"
import { INPUTS } from "../generated/Contract.ts"
import { LiveCall } from "../LiveCall.ts"
import type { Json } from "../Result.ts"
import { nullable, objectSchema, TEXT } from "../Schema.ts"
import { defineTool, type ToolContext } from "../Tool.ts"
import { cut } from "../Untrusted.ts"
import { TIMEOUT_INPUT, waitSecondsOf } from "../Wait.ts"
import { CALL_SCHEMA, callOf, chosenNumber, NUMBER_INPUT, OTHER_SCHEMA, otherOf } from "./PhoneTools.ts"

const TURN_TEXT_MAX = 4_000

/** A call is announced by the first utterance, which follows at once. */
const SPEECH_MILLIS = 2_000

const SAID_SCHEMA = { type: "array", items: TEXT, description: "What the person said since your last call." }

const shownOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.map((text) => cut(text, TURN_TEXT_MAX).text)

/** Waits for the next call, and takes it. Returns undefined if none comes in time. */
const nextCall = async (
  { call, clock, toolset }: ToolContext,
  calls: (options: { readonly signal: AbortSignal }) => AsyncIterable<Call>,
  seconds: number
): Promise<LiveCall | undefined> => {
  const over = new AbortController()
  const signal = call.signal === undefined ? over.signal : AbortSignal.any([call.signal, over.signal])
  void clock.sleep(seconds * 1_000, signal).then(() => over.abort())
  try {
    for await (const arrived of calls({ signal })) {
      const live = new LiveCall(arrived, clock)
      toolset.calls.set(live.id, live)
      return live
    }
  } finally {
    over.abort()
  }
  call.signal?.throwIfAborted()
  return undefined
}

export const waitForCall = defineTool({
  name: "wait_for_call",
  title: "Wait for a call",
  description:
    "Waits until a person calls one of your numbers and says something, and answers the call. Answer with say_in_call within 25 seconds; after 3 seconds the person is asked for a moment. While this does not wait, calls go to the program that answers them, or hear an apology.",
  properties: {
    phoneNumber: { ...NUMBER_INPUT, description: "Only calls to this number of yours: a number or an id." },
    timeoutSeconds: TIMEOUT_INPUT
  },
  required: [],
  output: {
    arrived: { type: "boolean", description: "False if nobody called in time." },
    callId: nullable(TEXT),
    next: nullable(TEXT),
    untrusted: objectSchema({ ...OTHER_SCHEMA, said: SAID_SCHEMA })
  },
  isUntrusted: true,
  waits: true,
  effects: "answers",
  run: async (context, { phoneNumber, timeoutSeconds }): Promise<Json> => {
    const { agent, call } = context
    const number = phoneNumber === undefined ? undefined : await chosenNumber(context, "phoneNumber", phoneNumber)
    const seconds = waitSecondsOf(timeoutSeconds)
    const calls = (options: { readonly signal: AbortSignal }) => number?.calls(options) ?? agent.calls(options)
    const live = await nextCall(context, calls, seconds)
    if (live === undefined) {
      const next = `Nobody called within ${seconds} s. Call again to keep waiting.`
      return { arrived: false, callId: null, next, untrusted: { otherNumber: null, otherWithheld: null, said: [] } }
    }
    await live.wait(SPEECH_MILLIS, call.signal)
    const { call: record } = await agent.call("getCall", { callId: live.id }, call)
    return {
      arrived: true,
      callId: live.id,
      next: "Answer with say_in_call.",
      untrusted: { ...otherOf(record), said: shownOf(live.takeHeard()) }
    }
  }
})

export const sayInCall = defineTool({
  name: "say_in_call",
  title: "Speak in a call",
  description:
    "Says a text to the person in a call from wait_for_call, or from place_call with speak: true, and waits for what they say next. Without a text, only listens. With digits, presses keys after the text, for a menu. With hangUp, ends the call after the text. The person hears a text only after they have said something.",
  properties: {
    callId: { ...INPUTS.getCall.callId, description: "Id of the call." },
    text: { type: "string", maxLength: TURN_TEXT_MAX, examples: ["We open at nine."], description: "What to say." },
    digits: {
      type: "string",
      minLength: 1,
      maxLength: 64,
      examples: ["1w23#"],
      description: "Keys to press after the text: 0 to 9, * and #; w waits half a second. Not together with hangUp."
    },
    hangUp: { type: "boolean", default: false, description: "Whether to end the call after the text." },
    timeoutSeconds: TIMEOUT_INPUT
  },
  required: ["callId"],
  output: {
    spoken: { type: "boolean", description: "False if there was no text, or nobody waited for an answer." },
    ended: { type: "boolean", description: "Whether the call has ended." },
    call: CALL_SCHEMA,
    next: nullable(TEXT),
    untrusted: objectSchema({ said: SAID_SCHEMA })
  },
  isUntrusted: true,
  waits: true,
  effects: "answers",
  run: async (context, { callId, digits, hangUp = false, text, timeoutSeconds }): Promise<Json> => {
    const { agent, call, toolset } = context
    const live = toolset.calls.get(callId)
    if (live === undefined)
      throw new AgentOsError({
        code: "INVALID_OPTION",
        message: `callId ${callId} is not a call of wait_for_call, or of place_call with speak: true.`
      })
    if (digits !== undefined && hangUp)
      throw new AgentOsError({
        code: "INVALID_OPTION",
        message: "digits can't be pressed while the call ends. Leave out digits or hangUp."
      })
    const isAnswer = text !== undefined || digits !== undefined || hangUp
    const spoken = isAnswer && (await live.say(text ?? "", hangUp, digits))
    // Utterances that arrived meanwhile are returned at once.
    if (!isAnswer || spoken) await live.wait(waitSecondsOf(timeoutSeconds) * 1_000, call.signal)
    const said = shownOf(live.takeHeard())
    const { call: record } = await agent.call("getCall", { callId }, call)
    const ended = live.hasEnded || record.status === "ended"
    return { spoken, ended, call: callOf(record), next: nextOf({ ended, isAnswer, spoken, said }), untrusted: { said } }
  }
})

interface Talked {
  readonly ended: boolean
  readonly isAnswer: boolean
  readonly spoken: boolean
  readonly said: ReadonlyArray<string>
}

const nextOf = ({ ended, isAnswer, said, spoken }: Talked): string | null => {
  if (ended) return null
  if (isAnswer && !spoken)
    return said.length > 0
      ? "The text was not spoken: the person has said something else. Answer that with say_in_call."
      : "The text was not spoken: the person has to say something first. Call say_in_call without a text to listen."
  return said.length > 0
    ? "Answer with say_in_call."
    : "The person said nothing yet. Call say_in_call without a text to listen."
}
