import { Schema } from "effect"
import { IsoTimestamp, Timestamp, toIso } from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import type { Call } from "./Call.ts"

/** `system` turns report on the call itself, for example that the agent could not be reached. */
export const TurnRole = Schema.Literals(["agent", "caller", "system"])
export type TurnRole = typeof TurnRole.Type

/** A turn in a call. An agent's turn holds the text that was spoken until the caller interrupted. */
export const Turn = Schema.Struct({
  /** The index in the call, from 0. */
  index: Schema.Int,
  role: TurnRole,
  text: Schema.String,
  at: Timestamp
})
export type Turn = typeof Turn.Type

/** The maximum number of turns of a call. Later turns are dropped; the call itself ends at its limit. */
export const TURNS_MAX = 1_000
const FULL = "The transcript is full. Later turns are not recorded."

/**
 * Returns the turn to store after `last`, at `now`, or at the time of `last` if that is later: server clocks may differ.
 * The last possible turn is a note that the transcript is full; null follows it.
 */
export const nextTurn = (last: Turn | undefined, role: TurnRole, text: string, now: Timestamp): Turn | null => {
  const index = last === undefined ? 0 : last.index + 1
  const at = last !== undefined && last.at > now ? last.at : now
  if (index < TURNS_MAX - 1) return { index, role, text, at }
  return index < TURNS_MAX ? { index, role: "system", text: FULL, at } : null
}

/** A turn as clients see it. */
export const TurnRecord = Schema.Struct({
  role: TurnRole.annotateKey({
    description: "agent: your agent. caller: the person on the line. system: a note on the call itself."
  }),
  text: Schema.String.annotateKey({
    description: "The text. Of an agent's turn, the part that was spoken until the person interrupted."
  }),
  at: IsoTimestamp.annotateKey({ description: "When the turn began." })
})

/** The transcript of a call as clients see it. Calls are never recorded. */
export const TranscriptRecord = Schema.Struct({
  callId: Uuid.annotateKey({ description: "Id of the call." }),
  complete: Schema.Boolean.annotateKey({ description: "Whether nothing more will be added." }),
  turns: Schema.Array(TurnRecord).annotateKey({ description: "The turns of this page, oldest first." })
}).annotate({ identifier: "Transcript" })
export type TranscriptRecord = typeof TranscriptRecord.Type

export const toTranscriptRecord = ({ callId, state }: Call, turns: ReadonlyArray<Turn>): TranscriptRecord => ({
  callId,
  complete: state === "ended",
  turns: turns.map(({ at, role, text }) => ({ role, text, at: toIso(at) }))
})
