import { Schema } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { CallDirection } from "./Call.ts"
import { Turn } from "./Transcript.ts"

const Message = Schema.Struct({
  callId: Schema.String,
  phoneNumberId: Schema.String,
  direction: CallDirection,
  from: Schema.String,
  to: Schema.String,
  turn: Schema.Struct({ text: Schema.String, at: Timestamp.Timestamp }),
  transcriptSoFar: Schema.Array(Turn)
})

/** The answer of a session's server to `Ask` or `Check`, or the reply of the session. */
export const TurnAnswer = Schema.Union([
  /** The session has the turn. `isCheckable`: its server also answers `Check`, which older servers do not. */
  Schema.TaggedStruct("Accepted", { isCheckable: Schema.optionalKey(Schema.Boolean) }),
  /** The session is not connected to that server any more, or has too many open turns. */
  Schema.TaggedStruct("Refused", { isFull: Schema.Boolean }),
  Schema.TaggedStruct("Reply", {
    text: Schema.optionalKey(Schema.String),
    digits: Schema.optionalKey(Schema.String),
    silenceSeconds: Schema.optionalKey(Schema.Int),
    hangup: Schema.Boolean,
    more: Schema.Boolean
  })
])
export type TurnAnswer = typeof TurnAnswer.Type

export const ACCEPTED: TurnAnswer = { _tag: "Accepted", isCheckable: true }

/** A message between the server of a call and the server of a session. */
export const Parcel = Schema.Union([
  Schema.TaggedStruct("Ask", {
    sessionId: Schema.String,
    turnId: Schema.String,
    replyTo: Schema.String,
    message: Message
  }),
  /** Asks whether the session still has the turn. */
  Schema.TaggedStruct("Check", { sessionId: Schema.String, turnId: Schema.String, replyTo: Schema.String }),
  Schema.TaggedStruct("Interrupt", { sessionId: Schema.String, turnId: Schema.String, callId: Schema.String }),
  Schema.TaggedStruct("Answer", { turnId: Schema.String, answer: TurnAnswer })
])
export type Parcel = typeof Parcel.Type

const ParcelJson = Schema.fromJsonString(Parcel)
export const encodeParcel = Schema.encodeSync(ParcelJson)

/** None for a parcel of a newer server that this one does not know. */
export const decodeParcel = Schema.decodeUnknownOption(ParcelJson)

/** Sends a parcel to a server; also to the own one. */
export type Post = (serverId: string, parcel: Parcel) => void
