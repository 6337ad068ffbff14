import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import * as Schema from "effect/Schema"
import { readFileIfAny, replaceFile } from "../chain/AtomicFile.ts"
import { Person } from "./call/Person.ts"

const Method = Schema.Literals(["GET", "POST"])
const Url = Schema.NullOr(Schema.String)

/** A number that the account has bought. Moments are milliseconds since 1970. */
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

/** Who ended a call: the person on the phone, the account's side, or the carrier. */
export const Ender = Schema.Literals(["person", "agent", "carrier"])
export type Ender = typeof Ender.Type

const Moment = Schema.NullOr(Schema.Int)

/** What is known of a call. Moments are milliseconds since 1970; durations are seconds of the calls' clock. */
export const CallRecord = Schema.Struct({
  sid: Schema.String,
  direction: Schema.Literals(["inbound", "outbound-api"]),
  from: Schema.String,
  to: Schema.String,
  /** The number of the account's that takes part. A call to a number that nobody has is none of the account's. */
  numberSid: Schema.NullOr(Schema.String),
  status: CallStatus,
  timeLimitSeconds: Schema.Int,
  createdAt: Schema.Int,
  updatedAt: Schema.Int,
  /** When it began to ring. */
  startedAt: Moment,
  answeredAt: Moment,
  endedAt: Moment,
  durationSeconds: Schema.NullOr(Schema.Int),
  answeredBy: Schema.NullOr(Schema.String),
  /** What the person heard: one entry for each thing that was said, cut short where it was interrupted. */
  heard: Schema.Array(Schema.String),
  /** What the person said or pressed. */
  said: Schema.Array(Schema.String),
  endedBy: Schema.NullOr(Ender),
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

/** What the carrier keeps. Reads are from memory; each write resolves once the file has it. */
export interface CarrierStore {
  /** By sid, oldest first. */
  readonly numbers: ReadonlyMap<string, OwnedNumber>
  /** By sid, oldest first. */
  readonly calls: ReadonlyMap<string, CallRecord>
  /** By number. */
  readonly people: ReadonlyMap<string, Person>
  readonly putNumber: (number: OwnedNumber) => Promise<void>
  readonly deleteNumber: (sid: string) => Promise<void>
  readonly putCall: (call: CallRecord) => Promise<void>
  /** Like `putCall`, for what may be lost with the process: the file has it a little later. */
  readonly noteCall: (call: CallRecord) => void
  readonly putPerson: (person: Person) => Promise<void>
  /** Resolves once the file has everything. */
  readonly flush: () => Promise<void>
}

/** The oldest calls that are over are forgotten beyond this. */
const callsMax = 5_000
const peopleMax = 1_000
const noteMillis = 250

const isOver = ({ endedAt }: CallRecord): boolean => endedAt !== null

const forget = <Value>(values: Map<string, Value>, max: number, may: (value: Value) => boolean): void => {
  for (const [key, value] of values) {
    if (values.size <= max) return
    if (may(value)) values.delete(key)
  }
}

/**
 * Opens the carrier's state in its data directory, which is made when there is none. A call that was under way when
 * the process before this one ended is over, and nobody was told. One process per directory.
 */
export const openCarrierStore = async (dataDir: string): Promise<CarrierStore> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, "carrier.json")
  const kept = await readFileIfAny(path)
  const state = kept === undefined ? undefined : Schema.decodeUnknownSync(State)(kept.toString())
  const numbers = new Map(state?.numbers.map((number) => [number.sid, number]))
  const calls = new Map(state?.calls.map((call) => [call.sid, isOver(call) ? call : cutOff(call)]))
  const people = new Map(state?.people.map((person) => [person.number, person]))

  // The schema encodes nothing: what it reads is what is written.
  const file = makeFile(path, () =>
    JSON.stringify({ numbers: [...numbers.values()], calls: [...calls.values()], people: [...people.values()] })
  )
  const setCall = (call: CallRecord): void => {
    calls.set(call.sid, call)
    forget(calls, callsMax, isOver)
  }
  return {
    numbers,
    calls,
    people,
    putNumber: (number) => {
      numbers.set(number.sid, number)
      return file.write()
    },
    deleteNumber: (sid) => {
      numbers.delete(sid)
      return file.write()
    },
    putCall: (call) => {
      setCall(call)
      return file.write()
    },
    noteCall: (call) => {
      setCall(call)
      file.writeSoon()
    },
    putPerson: (person) => {
      people.set(person.number, person)
      forget(people, peopleMax, () => true)
      return file.write()
    },
    flush: () => file.write()
  }
}

const cutOff = (call: CallRecord): CallRecord => {
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

/** Writes a file again and again, one write at a time, each with all that was changed until it began. */
const makeFile = (path: string, content: () => string) => {
  let last: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  let soon: NodeJS.Timeout | undefined
  const begin = (): Promise<void> => {
    next = undefined
    clearTimeout(soon)
    soon = undefined
    return replaceFile(path, content(), 0o600)
  }
  const write = (): Promise<void> => {
    if (next === undefined) {
      next = last.then(begin, begin)
      last = next
    }
    return next
  }
  const writeSoon = (): void => {
    soon ??= setTimeout(() => {
      write().catch((error: unknown) => console.error(`the carrier: ${String(error)}`))
    }, noteMillis)
  }
  return { write, writeSoon }
}
