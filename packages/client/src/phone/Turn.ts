import { AgentOsError } from "../AgentOsError.ts"
import type { components } from "../generated/Components.ts"

export type TurnMessage = components["schemas"]["CallTurn"]
type Reply = components["schemas"]["CallReply"]

/** The limit of the service for the text of one reply, in characters. */
const TEXT_MAX = 4_000

/** The service closes the session of a program that sends others. */
const DIGITS = /^[0-9*#w]{1,64}$/u

/** What to say: a text, or its parts as they are generated. Each part is spoken while the next one is generated. */
export type Speech = string | AsyncIterable<string>

/** One utterance of the person on the line. Answer it within 5 seconds. */
export class Turn {
  readonly id: string
  readonly callId: string
  readonly text: string
  readonly at: string
  /** Up to 20 turns before this one, oldest first. */
  readonly transcriptSoFar: TurnMessage["transcriptSoFar"]
  readonly #send: (reply: Reply) => boolean
  readonly #interrupted = new AbortController()
  #endsCall = false

  /** @internal */
  constructor({ callId, transcriptSoFar, turn, turnId }: TurnMessage, send: (reply: Reply) => boolean) {
    this.id = turnId
    this.callId = callId
    this.text = turn.text
    this.at = turn.at
    this.transcriptSoFar = transcriptSoFar
    this.#send = send
  }

  /** Aborted when the turn is over: the person said something else, the call ended, or time ran out. */
  get signal(): AbortSignal {
    return this.#interrupted.signal
  }

  /** @internal Whether its answer ends the call. */
  get endsCall(): boolean {
    return this.#endsCall
  }

  /**
   * Answers the turn. With `silenceSeconds` (2 to 60), the turn `[silence]` follows if the person says nothing for this
   * long; after three in a row, the next silence ends the call.
   */
  async reply(speech: Speech, { silenceSeconds }: { readonly silenceSeconds?: number } = {}): Promise<void> {
    await this.#answer(speech, false, silenceSeconds === undefined ? {} : { silenceSeconds })
  }

  /** Answers the turn, and ends the call after the last word. */
  async hangUp(speech: Speech = ""): Promise<void> {
    await this.#answer(speech, true)
  }

  /**
   * Presses up to 64 keys for a menu at the other end, after a text: 0 to 9, `*`, `#`, and `w` for a pause of half a
   * second. Rejects with INVALID_OPTION, and answers nothing, if the digits are others.
   */
  async press(digits: string, speech: Speech = ""): Promise<void> {
    if (!DIGITS.test(digits))
      throw new AgentOsError({
        code: "INVALID_OPTION",
        message: "digits must be 1 to 64 keys of a telephone: 0 to 9, *, # and w for a pause."
      })
    await this.#answer(speech, false, { digits })
  }

  /** @internal Reports that the turn is over. Called by the voice session. */
  interrupt(): void {
    this.#interrupted.abort()
  }

  async #answer(speech: Speech, hangup: boolean, last: Pick<Reply, "digits" | "silenceSeconds"> = {}): Promise<void> {
    const base = { type: "call.reply", callId: this.callId, turnId: this.id } as const
    try {
      for await (const part of typeof speech === "string" ? [speech] : speech)
        for (let start = 0; start < part.length && !this.signal.aborted; start += TEXT_MAX)
          this.#send({ ...base, text: part.slice(start, start + TEXT_MAX), more: true })
    } catch (error) {
      // A model that the signal aborted rejects.
      if (!this.signal.aborted) throw error
    }
    if (this.signal.aborted) return
    this.#endsCall = hangup
    this.#send({ ...base, ...last, ...(hangup ? { hangup } : {}) })
  }
}
