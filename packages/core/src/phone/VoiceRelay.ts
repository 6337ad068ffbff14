import type { Effect } from "effect"

/** What a relay tells of the person on the line. */
export type Heard =
  | { readonly _tag: "Said"; readonly text: string }
  /** The person spoke while something was being spoken: `spoken` is what had been heard of it by then. */
  | { readonly _tag: "Interrupted"; readonly spoken: string }
  | { readonly _tag: "Pressed"; readonly key: string }
  /** The relay could not carry something out. */
  | { readonly _tag: "Failed"; readonly why: string }

/** What a relay is told to do. */
export type Utterance =
  /** A piece to be spoken at once; `isLast` ends what belongs together, and has no text where nothing is left to say. */
  | { readonly _tag: "Say"; readonly text: string; readonly isLast: boolean }
  /** The conversation is over; the call is to be ended. */
  | { readonly _tag: "End" }

/** Hands an utterance to the relay, in order. */
export type Speak = (utterance: Utterance) => Effect.Effect<void>
