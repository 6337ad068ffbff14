import type { Call, Clock, Turn } from "@agentos/client"

/** The service waits 5 seconds for the first words of an answer, and 30 for the whole. */
const FILLER_MILLIS = 3_500
const FILLER = "One moment, please."
/** Limit of the utterances that are kept while no tool call waits for them. */
const HEARD_MAX = 64

/** Ends the part of a reply that bridges the time until the model answers. */
class Answered extends Error {}

/** A call that a model holds by tools, one utterance at a time. */
export class LiveCall {
  readonly id: string
  readonly #clock: Clock
  readonly #heard: Array<string> = []
  #turn: { readonly turn: Turn; readonly answered: AbortController } | undefined
  #changed = Promise.withResolvers<void>()
  #error: { readonly error: unknown } | undefined
  #hasEnded = false

  constructor(call: Call, clock: Clock) {
    this.id = call.id
    this.#clock = clock
    void this.#follow(call)
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Returns the utterances since the last time. */
  takeHeard(): ReadonlyArray<string> {
    return this.#heard.splice(0)
  }

  /** Says a text to the person, then presses keys. Returns whether the person was waiting for an answer. */
  async say(text: string, hangUp: boolean, digits?: string): Promise<boolean> {
    const open = this.#turn
    if (open === undefined || open.turn.signal.aborted) return false
    this.#turn = undefined
    open.answered.abort()
    if (digits !== undefined) await open.turn.press(digits, text)
    else await (hangUp ? open.turn.hangUp(text) : open.turn.reply(text))
    return true
  }

  /** Waits until the person has said something or the call has ended, at most for a time. Throws the error of the session. */
  async wait(millis: number, signal: AbortSignal | undefined): Promise<void> {
    const over = new AbortController()
    const end = this.#clock.sleep(millis, signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]))
    let isOver = false
    void end.then(() => (isOver = true))
    while (this.#heard.length === 0 && !this.#hasEnded && !isOver) await Promise.race([this.#changed.promise, end])
    over.abort()
    signal?.throwIfAborted()
    if (this.#error !== undefined) throw this.#error.error
  }

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }

  async #follow(call: Call): Promise<void> {
    try {
      for await (const turn of call.turns()) {
        const answered = new AbortController()
        this.#turn = { turn, answered }
        this.#heard.push(turn.text)
        this.#heard.splice(0, this.#heard.length - HEARD_MAX)
        this.#notify()
        void this.#bridge(turn, answered.signal)
      }
    } catch (error) {
      this.#error = { error }
    }
    this.#turn = undefined
    this.#hasEnded = true
    this.#notify()
  }

  /** Asks the person for patience if the model takes long. The answer then follows in the same turn. */
  async #bridge(turn: Turn, answered: AbortSignal): Promise<void> {
    const isOver = AbortSignal.any([answered, turn.signal])
    await this.#clock.sleep(FILLER_MILLIS, isOver)
    if (isOver.aborted) return
    const parts = async function* (): AsyncGenerator<string, void, undefined> {
      yield FILLER
      throw new Answered()
    }
    await turn.reply(parts()).catch(() => undefined)
  }
}
