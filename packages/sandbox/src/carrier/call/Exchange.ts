import type { CallRecord, OwnedNumber } from "../CarrierStore.ts"
import { newSid } from "../twilio/TwilioResource.ts"
import type { CallContext } from "./CallContext.ts"
import { LiveCall } from "./LiveCall.ts"
import type { Caller, Person } from "./Person.ts"
import type { StatusCallbackTarget } from "./StatusCallbacks.ts"
import type { TwimlSource } from "./TwimlPlayer.ts"

/** A call that the account asks for. */
export interface CallOrder {
  readonly number: OwnedNumber
  readonly to: string
  /** Who has the number that is called, if anybody. */
  readonly person: Person | undefined
  readonly document: TwimlSource
  readonly callback: StatusCallbackTarget | undefined
  readonly timeLimitSeconds: number
  readonly timeoutSeconds: number
  readonly detectMachine: boolean
}

/** The calls that are under way. */
export interface Exchange {
  /** Begins a call; it is kept before this resolves. */
  readonly dial: (order: CallOrder) => Promise<CallRecord>
  /** Lets a person call a number; undefined where nobody owns it. */
  readonly callIn: (caller: Caller, number: OwnedNumber | undefined) => Promise<CallRecord>
  /** A call that is under way. */
  readonly live: (sid: string) => LiveCall | undefined
  readonly liveCount: () => number
  /** Ends every call. */
  readonly stop: () => void
}

/** The most that a call lasts unless told: Twilio's limit for ordinary accounts. */
export const timeLimitSecondsMax = 14_400

/** An exchange without calls. */
export const makeExchange = (context: CallContext): Exchange => {
  const calls = new Map<string, LiveCall>()

  const begin = async (
    what: Pick<CallRecord, "direction" | "from" | "to" | "numberSid" | "timeLimitSeconds">,
    part: Pick<Person, "lines">,
    run: (call: LiveCall) => Promise<void>
  ): Promise<CallRecord> => {
    const record = newCall(what)
    await context.store.putCall(record)
    const call = new LiveCall(context, record, part)
    calls.set(record.sid, call)
    // The answer to whoever asked for the call goes first.
    setImmediate(() => {
      run(call)
        .catch((error: unknown) => {
          console.error(error)
          call.end({ by: "carrier", reason: `defect: ${String(error)}` })
        })
        .finally(() => calls.delete(record.sid))
    })
    return record
  }
  return {
    dial: ({ callback, detectMachine, document, number, person, timeLimitSeconds, timeoutSeconds, to }) =>
      begin(
        { direction: "outbound-api", from: number.phoneNumber, to, numberSid: number.sid, timeLimitSeconds },
        person ?? { lines: [] },
        (call) => {
          call.callbacks.target(callback)
          return call.runOutbound(person, document, timeoutSeconds, detectMachine)
        }
      ),
    callIn: (caller, number) =>
      begin(
        {
          direction: "inbound",
          from: caller.from,
          to: caller.to,
          numberSid: number?.sid ?? null,
          timeLimitSeconds: timeLimitSecondsMax
        },
        caller,
        (call) => {
          call.callbacks.target(callbackOf(number))
          return call.runInbound(documentOf(number))
        }
      ),
    live: (sid) => calls.get(sid),
    liveCount: () => calls.size,
    stop: () => {
      for (const call of calls.values()) call.end({ by: "carrier", reason: "the carrier stopped" })
    }
  }
}

const newCall = (
  what: Pick<CallRecord, "direction" | "from" | "to" | "numberSid" | "timeLimitSeconds">
): CallRecord => {
  const now = Date.now()
  return {
    sid: newSid("CA"),
    ...what,
    status: "queued",
    createdAt: now,
    updatedAt: now,
    startedAt: null,
    answeredAt: null,
    endedAt: null,
    durationSeconds: null,
    answeredBy: null,
    heard: [],
    said: [],
    endedBy: null,
    reason: null
  }
}

/** The end of a call to a number is all that its StatusCallback is told. */
const callbackOf = (number: OwnedNumber | undefined): StatusCallbackTarget | undefined =>
  typeof number?.statusCallback === "string"
    ? { url: number.statusCallback, method: number.statusCallbackMethod, events: ["completed"] }
    : undefined

const documentOf = (number: OwnedNumber | undefined): TwimlSource | undefined => {
  if (typeof number?.voiceUrl !== "string") return undefined
  const { voiceFallbackMethod, voiceFallbackUrl } = number
  return {
    _tag: "Asked",
    purpose: "voice",
    url: number.voiceUrl,
    method: number.voiceMethod,
    fallback: voiceFallbackUrl === null ? undefined : { url: voiceFallbackUrl, method: voiceFallbackMethod }
  }
}
