import type { Timestamp } from "../kernel/Timestamp.ts"

/** How long after a key another one belongs to the same turn, in milliseconds; and how many do. */
const PAUSE = 1_500
const KEYS_MAX = 64
const KEY = /^[0-9A-D*#]$/u

/** Keys that a caller has pressed, and when they are a turn if no more come. */
export interface PressedKeys {
  readonly keys: string
  readonly due: number
}

export const none: PressedKeys = { keys: "", due: Number.POSITIVE_INFINITY }

/** With one more key; `#` ends the turn at once. The same keys where it is no key of a telephone's. */
export const pressed = ({ due, keys }: PressedKeys, name: string, now: Timestamp): PressedKeys => {
  const key = name.toUpperCase()
  if (!KEY.test(key)) return { due, keys }
  const isWhole = key === "#" || keys.length + 1 >= KEYS_MAX
  return { keys: keys + key, due: isWhole ? now : now + PAUSE }
}

/** What the agent is told: `[pressed 12#]`. Undefined when no key was pressed. */
export const textOf = ({ keys }: PressedKeys): string | undefined => (keys === "" ? undefined : `[pressed ${keys}]`)
