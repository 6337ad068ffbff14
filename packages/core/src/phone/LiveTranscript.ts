import { Effect } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { SOFAR_TURNS } from "./AgentCallback.ts"
import type { CallStore, NewTurn } from "./CallStore.ts"
import type { Turn, TurnRole } from "./Transcript.ts"

/** The maximum number of turns of a call. Later turns are dropped; the call itself ends at its limit. */
export const TURNS_MAX = 1_000
/**
 * The interval at which a growing turn is written, in milliseconds. Newer text was handed to the relay, but the caller
 * has not heard it yet.
 */
const WRITE_EVERY = 250
const FULL = "The transcript is full: nothing more of this call is written down."

/** The transcript of a live call: stored, with its last turns in memory. */
export interface LiveTranscript {
  readonly last: () => Turn | undefined
  /** Returns the last turns for a message to the agent, without the turn `before`. */
  readonly soFar: (before?: Turn) => ReadonlyArray<Turn>
  /** Whether another turn can be stored. */
  readonly hasRoom: () => boolean
  /**
   * Creates a turn with the current time, or with the time of the previous turn if that is later: server clocks may
   * differ.
   */
  readonly said: (role: TurnRole, text: string) => Effect.Effect<NewTurn>
  /** Stores a turn. Returns undefined if the transcript is full; its last turn then says so. */
  readonly store: (turn: NewTurn) => Effect.Effect<Turn | undefined>
  /** Creates a turn with the current time and stores it. */
  readonly add: (role: TurnRole, text: string) => Effect.Effect<Turn | undefined>
  /** Sets the text of a turn that is still growing. It is written now, or by `flush` when that is due. */
  readonly grow: (index: number, text: string) => Effect.Effect<void>
  /** Sets the final text of a turn and writes it. */
  readonly revise: (index: number, text: string) => Effect.Effect<void>
  /** Returns when `flush` is due, or null if nothing is unwritten. */
  readonly flushDue: () => Timestamp.Timestamp | null
  /** Writes the unwritten text. */
  readonly flush: Effect.Effect<void>
}

/** Reads the transcript so far. From then on, only this object may add turns to the call. */
export const make = Effect.fnUntraced(function* (
  calls: CallStore["Service"],
  callId: string
): Effect.fn.Return<LiveTranscript> {
  let recent = yield* calls.turns(callId, SOFAR_TURNS + 1)
  let owed: { readonly index: number; readonly text: string } | undefined
  let writtenAt = Timestamp.Timestamp.make(0)

  const count = () => (recent.at(-1)?.index ?? -1) + 1
  const said = Effect.fnUntraced(function* (role: TurnRole, text: string) {
    const now = yield* Timestamp.now
    const last = recent.at(-1)?.at ?? now
    return { role, text, at: last > now ? last : now }
  })
  const hasRoom = () => count() < TURNS_MAX - 1
  const append = Effect.fnUntraced(function* (next: NewTurn) {
    const turn = yield* calls.addTurn(callId, next)
    recent = [...recent, turn].slice(-SOFAR_TURNS - 1)
    writtenAt = yield* Timestamp.now
    return turn
  })
  const store = Effect.fnUntraced(function* (turn: NewTurn) {
    if (hasRoom()) return yield* append(turn)
    if (count() < TURNS_MAX) yield* append(yield* said("system", FULL))
    return undefined
  })
  const remember = (index: number, text: string) => {
    recent = recent.map((turn) => (turn.index === index ? { ...turn, text } : turn))
  }
  const flush = Effect.gen(function* () {
    if (owed === undefined) return
    const { index, text } = owed
    owed = undefined
    writtenAt = yield* Timestamp.now
    yield* calls.setTurnText(callId, index, text)
  }).pipe(Effect.uninterruptible)

  return {
    last: () => recent.at(-1),
    soFar: (before) => recent.filter((turn) => turn !== before).slice(-SOFAR_TURNS),
    hasRoom,
    said,
    store,
    add: (role, text) => Effect.flatMap(said(role, text), store),
    grow: Effect.fnUntraced(function* (index, text) {
      remember(index, text)
      owed = { index, text }
      if ((yield* Timestamp.now) - writtenAt >= WRITE_EVERY) yield* flush
    }),
    revise: Effect.fnUntraced(function* (index, text) {
      remember(index, text)
      owed = { index, text }
      yield* flush
    }),
    flushDue: () => (owed === undefined ? null : Timestamp.add(writtenAt, WRITE_EVERY)),
    flush
  }
})
