import type { Random } from "../../support/Random.ts"
import type { DefenseRig, Party } from "../DefenseRig.ts"
import type { Flaw } from "../Flaw.ts"
import type { Oracle } from "../Oracle.ts"

export type Countable =
  | "requests"
  | "frames"
  | "dialogues"
  | "mails parsed"
  | "mails accepted"
  | "relay messages"
  | "texts stored"
  | "command lines"

export interface FuzzStage {
  readonly rig: DefenseRig
  readonly oracle: Oracle
  readonly count: (what: Countable, by?: number) => void
}

/** Sends inputs of one target to the service, one after the other. */
export interface Player<Input> {
  readonly play: (input: Input) => Promise<ReadonlyArray<Flaw>>
  readonly close: () => Promise<void>
}

/**
 * One way into the service. `generate` is pure and its result is JSON, so that a seed repeats it and a file can keep it.
 * Inputs name objects of a run by placeholders, for example `{{own.mailboxId}}`.
 */
export interface Target<Input = unknown> {
  readonly name: string
  readonly summary: string
  /** Players that run at a time. */
  readonly workers: number
  readonly generate: (random: Random) => Input
  readonly open: (stage: FuzzStage) => Promise<Player<Input>>
}

/** Erases the type of a target's inputs, which only the target itself creates and reads. */
export const erased = <Input>(target: Target<Input>): Target => ({
  ...target,
  open: async (stage) => {
    const player = await target.open(stage)
    return { ...player, play: (input) => player.play(input as Input) }
  }
})

/** The objects that placeholders can name. */
const FIELDS = {
  token: ({ token }: Party) => token,
  mailboxId: ({ mailbox }: Party) => mailbox.mailboxId,
  address: ({ mailbox }: Party) => mailbox.address,
  messageId: ({ messageId }: Party) => messageId,
  eventId: ({ eventId }: Party) => eventId,
  phoneNumberId: ({ phoneNumberId }: Party) => phoneNumberId,
  number: ({ number }: Party) => number,
  callId: ({ callId }: Party) => callId,
  cursor: ({ cursor }: Party) => cursor,
  payment: ({ payment }: Party) => payment
}

/** Replaces placeholders by objects of this run: `own` is the attacker's, `other` the victim's. */
export const fill = (text: string, { attacker, victim }: DefenseRig): string =>
  text.replaceAll(/\{\{(own|other)\.(\w+)\}\}/g, (whole, whose: string, field: string) => {
    // The victim's token would let the attacker in.
    if (whose === "other" && field === "token") return whole
    const read = FIELDS[field as keyof typeof FIELDS]
    return read === undefined ? whole : read(whose === "own" ? attacker : victim)
  })
