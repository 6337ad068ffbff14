import type { Effect } from "effect"

/** An event that a relay reports about the person on the line. */
export type Heard =
  | { readonly _tag: "Said"; readonly text: string }
  /** The person spoke during playback: `spoken` is the part that had been heard by then. */
  | { readonly _tag: "Interrupted"; readonly spoken: string }
  | { readonly _tag: "Pressed"; readonly key: string }
  /** The relay could not carry out an instruction. */
  | { readonly _tag: "Failed"; readonly why: string }

/** An instruction to a relay. */
export type Utterance =
  /** A piece to speak immediately. `isLast` ends the speech; its text is empty if nothing is left to say. */
  | { readonly _tag: "Say"; readonly text: string; readonly isLast: boolean }
  /** The conversation is over: end the call. */
  | { readonly _tag: "End" }

/** Sends an utterance to the relay. Utterances keep their order. */
export type Speak = (utterance: Utterance) => Effect.Effect<void>
