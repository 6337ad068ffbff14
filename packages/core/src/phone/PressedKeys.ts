import type { Timestamp } from "../kernel/Timestamp.ts"

/** The longest pause between two keys of one turn, in milliseconds; and the maximum number of keys in a turn. */
const PAUSE = 1_500
const KEYS_MAX = 64
const KEY = /^[0-9A-D*#]$/u

/** The keys that a caller has pressed, and when they become a turn if no further key is pressed. */
export interface PressedKeys {
  readonly keys: string
  readonly due: number
}

export const none: PressedKeys = { keys: "", due: Number.POSITIVE_INFINITY }

/**
 * Returns the keys with one more; `#` ends the turn immediately. A name that is not a telephone key changes nothing.
 */
export const pressed = ({ due, keys }: PressedKeys, name: string, now: Timestamp): PressedKeys => {
  const key = name.toUpperCase()
  if (!KEY.test(key)) return { due, keys }
  const isWhole = key === "#" || keys.length + 1 >= KEYS_MAX
  return { keys: keys + key, due: isWhole ? now : now + PAUSE }
}

/** Returns the text of the turn, for example `[pressed 12#]`, or undefined if no key was pressed. */
export const textOf = ({ keys }: PressedKeys): string | undefined => (keys === "" ? undefined : `[pressed ${keys}]`)
