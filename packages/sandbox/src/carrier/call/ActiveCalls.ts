import { newSid } from "../api/TwilioResource.ts"
import type { CallRecord, OwnedNumber } from "../CarrierStore.ts"
import { LiveCall } from "./LiveCall.ts"
import type { Caller, CallScript, Person } from "./Person.ts"
import type { CallContext, TwimlSource } from "./TwimlPlayer.ts"
import type { MachineDetection, StatusCallbackTarget } from "./Webhooks.ts"

/** The options of a call that the account places. */
export interface CallOrder {
  readonly number: OwnedNumber
  readonly to: string
  /** Undefined if the called number belongs to no person. */
  readonly person: Person | undefined
  readonly document: TwimlSource
  readonly callback: StatusCallbackTarget | undefined
  readonly timeLimitSeconds: number
  readonly timeoutSeconds: number
  readonly detection: MachineDetection | undefined
}

export type ActiveCalls = ReturnType<typeof makeActiveCalls>

/** Twilio's default and maximum time limit for ordinary accounts. */
export const timeLimitSecondsMax = 14_400

type NewCall = Pick<CallRecord, "direction" | "from" | "to" | "numberSid" | "timeLimitSeconds">

export const makeActiveCalls = (context: CallContext) => {
  const calls = new Map<string, LiveCall>()

  const start = async (
    newCall: NewCall,
    script: CallScript,
    run: (call: LiveCall) => Promise<void>
  ): Promise<CallRecord> => {
    const record = toRecord(newCall)
    await context.store.putCall(record)
    const call = new LiveCall(context, record, script)
    calls.set(record.sid, call)
    // The response to the request comes before the first event of the call.
    setImmediate(() => {
      run(call)
        .catch((error: unknown) => {
          console.error(error)
          call.end({ by: "carrier", reason: `internal error: ${String(error)}` })
        })
        .finally(() => calls.delete(record.sid))
    })
    return record
  }
  return {
    /** Starts a call. Resolves when the call is stored. */
    placeCall: ({
      callback,
      detection,
      document,
      number,
      person,
      timeLimitSeconds,
      timeoutSeconds,
      to
    }: CallOrder): Promise<CallRecord> =>
      start(
        { direction: "outbound-api", from: number.phoneNumber, to, numberSid: number.sid, timeLimitSeconds },
        person ?? { lines: [] },
        (call) => {
          call.callbacks.setTarget(callback)
          return call.runOutbound(person, document, timeoutSeconds, detection)
        }
      ),
    /** Makes a person call a number. `number` is undefined if the number is not sold. */
    receiveCall: (caller: Caller, number: OwnedNumber | undefined): Promise<CallRecord> =>
      start(
        {
          direction: "inbound",
          from: caller.from,
          to: caller.to,
          numberSid: number?.sid ?? null,
          timeLimitSeconds: timeLimitSecondsMax
        },
        caller,
        (call) => {
          call.callbacks.setTarget(callbackOf(number))
          return call.runInbound(documentOf(number))
        }
      ),
    find: (sid: string) => calls.get(sid),
    count: () => calls.size,
    /** Ends all calls. */
    stop: (): void => {
      for (const call of calls.values()) call.end({ by: "carrier", reason: "the carrier stopped" })
    }
  }
}

const toRecord = (newCall: NewCall): CallRecord => {
  const now = Date.now()
  return {
    sid: newSid("CA"),
    ...newCall,
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

/** The StatusCallback of a number receives only the end of a call. */
const callbackOf = (number: OwnedNumber | undefined): StatusCallbackTarget | undefined =>
  typeof number?.statusCallback === "string"
    ? { url: number.statusCallback, method: number.statusCallbackMethod, events: ["completed"] }
    : undefined

const documentOf = (number: OwnedNumber | undefined): TwimlSource | undefined => {
  if (typeof number?.voiceUrl !== "string") return undefined
  const { voiceFallbackMethod, voiceFallbackUrl } = number
  return {
    _tag: "Remote",
    purpose: "voice",
    url: number.voiceUrl,
    method: number.voiceMethod,
    fallback: voiceFallbackUrl === null ? undefined : { url: voiceFallbackUrl, method: voiceFallbackMethod }
  }
}
