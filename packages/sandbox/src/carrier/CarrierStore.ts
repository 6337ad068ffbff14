import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import * as Schema from "effect/Schema"
import { readFileIfExists, replaceFile } from "../shared/AtomicFile.ts"
import { Person } from "./call/Person.ts"

const Method = Schema.Literals(["GET", "POST"])
const Url = Schema.NullOr(Schema.String)

/** A number that the account has bought. Times are in milliseconds since the Unix epoch. */
export const OwnedNumber = Schema.Struct({
  sid: Schema.String,
  phoneNumber: Schema.String,
  friendlyName: Schema.String,
  voiceUrl: Url,
  voiceMethod: Method,
  voiceFallbackUrl: Url,
  voiceFallbackMethod: Method,
  statusCallback: Url,
  statusCallbackMethod: Method,
  createdAt: Schema.Int,
  updatedAt: Schema.Int
})
export type OwnedNumber = typeof OwnedNumber.Type

export const CallStatus = Schema.Literals([
  "queued",
  "ringing",
  "in-progress",
  "completed",
  "busy",
  "failed",
  "no-answer",
  "canceled"
])
export type CallStatus = typeof CallStatus.Type

/** The party that ended a call: the person, the account, or the carrier. */
export const EndedBy = Schema.Literals(["person", "agent", "carrier"])
export type EndedBy = typeof EndedBy.Type

const Time = Schema.NullOr(Schema.Int)

/** A call. Times are in milliseconds since the Unix epoch, durations in seconds on the calls' clock. */
export const CallRecord = Schema.Struct({
  sid: Schema.String,
  direction: Schema.Literals(["inbound", "outbound-api"]),
  from: Schema.String,
  to: Schema.String,
  /** The account's number. Null for a call to a number that is not sold, which the account cannot see. */
  numberSid: Schema.NullOr(Schema.String),
  status: CallStatus,
  timeLimitSeconds: Schema.Int,
  createdAt: Schema.Int,
  updatedAt: Schema.Int,
  /** The start of ringing. */
  startedAt: Time,
  answeredAt: Time,
  endedAt: Time,
  durationSeconds: Schema.NullOr(Schema.Int),
  answeredBy: Schema.NullOr(Schema.String),
  /** The texts that the person heard, one per utterance, each cut at an interruption. */
  heard: Schema.Array(Schema.String),
  /** The texts that the person said and the keys that they pressed. */
  said: Schema.Array(Schema.String),
  endedBy: Schema.NullOr(EndedBy),
  reason: Schema.NullOr(Schema.String)
})
export type CallRecord = typeof CallRecord.Type

const State = Schema.fromJsonString(
  Schema.Struct({
    numbers: Schema.Array(OwnedNumber),
    calls: Schema.Array(CallRecord),
    people: Schema.Array(Person)
  })
)

/** The carrier's state. Reads are from memory. Writes resolve when the file is written. */
export type CarrierStore = Awaited<ReturnType<typeof openCarrierStore>>

/** The oldest ended calls above this number are removed. */
const callsMax = 5_000
const peopleMax = 1_000
const writeDelayMillis = 250

const isEnded = ({ endedAt }: CallRecord): boolean => endedAt !== null

/** Removes the oldest values above `max` that may be removed. */
const evict = <Value>(values: Map<string, Value>, max: number, isRemovable: (value: Value) => boolean): void => {
  for (const [key, value] of values) {
    if (values.size <= max) return
    if (isRemovable(value)) values.delete(key)
  }
}

/**
 * Opens the state in a data directory, which is created if missing. Calls that were active when the previous process ended
 * are marked as ended, without callbacks. One process per directory.
 */
export const openCarrierStore = async (dataDir: string) => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, "carrier.json")
  const content = await readFileIfExists(path)
  const state = content === undefined ? undefined : Schema.decodeUnknownSync(State)(content.toString())
  const numbers = new Map(state?.numbers.map((number) => [number.sid, number]))
  const calls = new Map(state?.calls.map((call) => [call.sid, isEnded(call) ? call : endInterrupted(call)]))
  const people = new Map(state?.people.map((person) => [person.number, person]))

  // The schema has no transformations, so values can be written as they are.
  const file = makeFileWriter(path, () =>
    JSON.stringify({ numbers: [...numbers.values()], calls: [...calls.values()], people: [...people.values()] })
  )
  const setCall = (call: CallRecord): void => {
    calls.set(call.sid, call)
    evict(calls, callsMax, isEnded)
  }
  return {
    /** By sid, oldest first, as are the calls. */
    numbers: numbers as ReadonlyMap<string, OwnedNumber>,
    calls: calls as ReadonlyMap<string, CallRecord>,
    /** By number. */
    people: people as ReadonlyMap<string, Person>,
    putNumber: (number: OwnedNumber): Promise<void> => {
      numbers.set(number.sid, number)
      return file.write()
    },
    deleteNumber: (sid: string): Promise<void> => {
      numbers.delete(sid)
      return file.write()
    },
    putCall: (call: CallRecord): Promise<void> => {
      setCall(call)
      return file.write()
    },
    /** Like `putCall`, but writes the file a little later. A killed process loses the change. */
    putCallLater: (call: CallRecord): void => {
      setCall(call)
      file.writeLater()
    },
    putPerson: (person: Person): Promise<void> => {
      people.set(person.number, person)
      evict(people, peopleMax, () => true)
      return file.write()
    },
    /** Resolves when the file holds all changes. */
    flush: () => file.write()
  }
}

const endInterrupted = (call: CallRecord): CallRecord => {
  const now = Date.now()
  const seconds = call.answeredAt === null ? null : Math.round((now - call.answeredAt) / 1_000)
  return {
    ...call,
    status: call.answeredAt === null ? "failed" : "completed",
    updatedAt: now,
    endedAt: now,
    durationSeconds: seconds === null ? null : Math.min(seconds, call.timeLimitSeconds),
    endedBy: "carrier",
    reason: "the carrier was restarted"
  }
}

/** Writes a file repeatedly, one write at a time. Each write contains all changes until its start. */
const makeFileWriter = (path: string, serialize: () => string) => {
  let last: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  let delayed: NodeJS.Timeout | undefined
  const begin = (): Promise<void> => {
    next = undefined
    clearTimeout(delayed)
    delayed = undefined
    return replaceFile(path, serialize(), 0o600)
  }
  const write = (): Promise<void> => {
    if (next === undefined) {
      next = last.then(begin, begin)
      last = next
    }
    return next
  }
  const writeLater = (): void => {
    delayed ??= setTimeout(() => {
      write().catch((error: unknown) => console.error(`carrier: ${String(error)}`))
    }, writeDelayMillis)
  }
  return { write, writeLater }
}
