import type { Invariant } from "./Judge.ts"

/** The records of the commands of `agentctl events tail --exec`, and those of the database. All are event ids. */
export interface CommandObservations {
  readonly stored: ReadonlyArray<string>
  /** Events whose command always fails. */
  readonly poisoned: ReadonlySet<string>
  /** Events whose command finished. */
  readonly done: ReadonlySet<string>
  /** Events whose command read another event. */
  readonly misread: ReadonlyArray<string>
  /** Events that were seen acknowledged before their command finished. */
  readonly early: ReadonlySet<string>
}

export const COMMAND_INVARIANTS = {
  "every event is handled": function* ({ done, poisoned, stored }) {
    for (const eventId of stored) if (!poisoned.has(eventId) && !done.has(eventId)) yield `${eventId} was not handled`
  },
  "a command reads its own event": function* ({ misread }) {
    for (const eventId of misread) yield `the command of ${eventId} read another event`
  },
  "an event is acknowledged after its command": function* ({ early }) {
    for (const eventId of early) yield `${eventId} was acknowledged before its command finished`
  }
} as const satisfies Readonly<Record<string, Invariant<CommandObservations>>>
