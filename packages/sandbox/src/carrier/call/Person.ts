import * as Schema from "effect/Schema"
import { isPersonNumber } from "../PhoneNumbers.ts"

const Text = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(4_000))
const Millis = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 600_000 }))
const Seconds = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 86_400 }))

/**
 * A line follows the end of the agent's speech after `afterMillis` (default 0). With `interrupt`, `afterMillis` counts
 * from the start of the agent's speech, and the line interrupts it.
 */
const timing = { interrupt: Schema.optionalKey(Schema.Boolean), afterMillis: Schema.optionalKey(Millis) }

/** One turn of a person. */
export const Line = Schema.Union([
  Text,
  Schema.Struct({ text: Text, ...timing }),
  /** Keys pressed in sequence. */
  Schema.Struct({ dtmf: Schema.String.check(Schema.isPattern(/^[0-9*#A-D]{1,32}$/)), ...timing }),
  /** Stays silent for this time, also while the agent speaks, then continues with the next line. */
  Schema.Struct({ silence: Seconds }),
  Schema.Struct({ hangup: Schema.Literal(true), ...timing })
])
export type Line = typeof Line.Type

const Lines = Schema.Array(Line).check(Schema.isMaxLength(100))

/** The script of a person in a call. Times are on the calls' clock. */
const script = {
  lines: Lines,
  /** Hangs up this long after the connection. By default, hangs up after the response to the last line. */
  seconds: Schema.optionalKey(Seconds),
  /** The default `afterMillis` of lines with `interrupt`. */
  interruptAfterMillis: Schema.optionalKey(Millis),
  /**
   * If the person hears nothing for this long (default 3) after the start, or after the agent reconnected a broken socket,
   * the person says the first line or repeats the last one.
   */
  patienceSeconds: Schema.optionalKey(Seconds)
}

export const PersonNumber = Schema.String.check(
  Schema.makeFilter((number: string) =>
    isPersonNumber(number)
      ? undefined
      : "must be a person's number, from +1 NXX 555 0150 to 0199 or from +44 7700 900000 to 900999"
  )
)

/** A person and their behavior when called. */
export const Person = Schema.Struct({
  number: PersonNumber,
  behaviour: Schema.Literals(["answers", "busy", "no-answer"]),
  /** The time until the person answers (default 0.2). */
  ringSeconds: Schema.optionalKey(Seconds),
  /** The result of machine detection (default `human`), in Twilio's words. */
  answeredBy: Schema.optionalKey(
    Schema.Literals([
      "human",
      "machine_start",
      "machine_end_beep",
      "machine_end_silence",
      "machine_end_other",
      "fax",
      "unknown"
    ])
  ),
  ...script
})
export type Person = typeof Person.Type

/**
 * The texts that Twilio sends in place of a withheld number. Numbers are words on a telephone's keys: ANONYMOUS, RESTRICTED,
 * UNAVAILABLE, UNKNOWN, BLOCKED.
 */
const Withheld = Schema.Literals([
  "anonymous",
  "Restricted",
  "",
  "+266696687",
  "+7378742833",
  "+86282452253",
  "+8656696",
  "+2562533",
  "+12562533"
])

/** A person who calls one of the account's numbers. */
export const Caller = Schema.Struct({ from: Schema.Union([PersonNumber, Withheld]), to: Schema.String, ...script })
export type Caller = typeof Caller.Type

export type CallScript = Omit<Caller, "from" | "to">
