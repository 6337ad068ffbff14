import { Effect } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { SOFAR_TURNS } from "./AgentCallback.ts"
import type { CallStore, NewTurn } from "./CallStore.ts"
import type { Turn, TurnRole } from "./Transcript.ts"

/** How many turns a call has at most; what is heard later is passed over, and the call's limit ends it. */
export const TURNS_MAX = 1_000
/** How often a turn that grows is written, in milliseconds. What is younger has not been heard yet, only handed over. */
const WRITE_EVERY = 250
const FULL = "The transcript is full: nothing more of this call is written down."

/** The transcript of a call that is being led: in the store, and the end of it in memory. */
export interface LiveTranscript {
  /** The last turn. */
  readonly last: () => Turn | undefined
  /** The last turns, before the last of all if that is named: as an agent is told of them. */
  readonly soFar: (before?: Turn) => ReadonlyArray<Turn>
  /** Whether another turn is kept. */
  readonly hasRoom: () => boolean
  /** What is said now: no earlier than the turn before, whichever server's clock that one went by. */
  readonly said: (role: TurnRole, text: string) => Effect.Effect<NewTurn>
  /** Stores a turn; none once there are as many as a call has, of which the last says so. */
  readonly store: (turn: NewTurn) => Effect.Effect<Turn | undefined>
  /** Stores what is said now. */
  readonly add: (role: TurnRole, text: string) => Effect.Effect<Turn | undefined>
  /** The text of a turn that is still being said: written now, or by `flush` when that is due. */
  readonly grow: (index: number, text: string) => Effect.Effect<void>
  /** The text of a turn, for good. */
  readonly revise: (index: number, text: string) => Effect.Effect<void>
  /** When `flush` is due; null while nothing is owed. */
  readonly flushDue: () => Timestamp.Timestamp | null
  /** Writes what is owed. */
  readonly flush: Effect.Effect<void>
}

/** Reads what was said so far, once: from then on only this adds to the call. */
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
