import * as Schema from "effect/Schema"
import { isPerson } from "../number/Telephone.ts"

const Text = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(4_000))
const Millis = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 600_000 }))
export const Seconds = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 86_400 }))

/**
 * When a line comes: `afterMillis` after the agent has finished (0 unless given), or, with `interrupt`, so long after
 * the agent has begun to speak, and right into it.
 */
const timing = { interrupt: Schema.optionalKey(Schema.Boolean), afterMillis: Schema.optionalKey(Millis) }

/** What a person says or does in their turn. */
export const Line = Schema.Union([
  Text,
  Schema.Struct({ text: Text, ...timing }),
  /** Keys that are pressed one after the other. */
  Schema.Struct({ dtmf: Schema.String.check(Schema.isPattern(/^[0-9*#A-D]{1,32}$/)), ...timing }),
  /** Says nothing for so many seconds, whatever the agent says meanwhile, and then goes on with the next line. */
  Schema.Struct({ silence: Seconds }),
  Schema.Struct({ hangup: Schema.Literal(true), ...timing })
])
export type Line = typeof Line.Type

const Lines = Schema.Array(Line).check(Schema.isMaxLength(100))

/** How a person takes part in a call. Times are of the calls' clock. */
const part = {
  lines: Lines,
  /** Hangs up after so many seconds of connection; without it, after the last line was answered. */
  seconds: Schema.optionalKey(Seconds),
  /** How long the agent speaks before a line with `interrupt` and no time of its own comes. */
  interruptAfterMillis: Schema.optionalKey(Millis),
  /** Someone who hears nothing for so long at the start (3 s unless given), or when the agent is back after its
   * socket broke, says the first line, or the last one again. */
  patienceSeconds: Schema.optionalKey(Seconds)
}

export const PersonNumber = Schema.String.check(
  Schema.makeFilter((number: string) =>
    isPerson(number)
      ? undefined
      : "people have numbers from +1 NXX 555 0150 to 0199 (or +44 7700 900000 to 900999), which belong to nobody"
  )
)

/** Someone with a telephone, and how they behave when it rings. */
export const Person = Schema.Struct({
  number: PersonNumber,
  behaviour: Schema.Literals(["answers", "busy", "no-answer"]),
  /** How long it rings before they answer (0.2 s unless given). */
  ringSeconds: Schema.optionalKey(Seconds),
  ...part
})
export type Person = typeof Person.Type

/** A person who calls a number of the account's. */
export const Caller = Schema.Struct({ from: PersonNumber, to: Schema.String, ...part })
export type Caller = typeof Caller.Type

/** How a person takes part in a call that has come about. */
export type Part = Omit<Caller, "from" | "to">
