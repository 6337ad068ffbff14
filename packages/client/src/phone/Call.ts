import { AgentOsError } from "../AgentOsError.ts"
import type { components } from "../generated/Components.ts"
import type { Caller, CallOptions } from "../http/Caller.ts"
import type { Clock } from "../Options.ts"
import type { Turn } from "./Turn.ts"
import type { Voice } from "./Voice.ts"

export type CallRecord = components["schemas"]["Call"]
export type Transcript = components["schemas"]["Transcript"]

/** What calls need of their client. */
export interface PhoneContext {
  readonly caller: Caller
  readonly clock: Clock
  readonly voice: Voice
}

export interface CallFields {
  readonly callId: string
  readonly phoneNumberId: string
  readonly direction: CallRecord["direction"]
  /** The caller's number or address; null if it is withheld. */
  readonly from: string | null
  /** Why an inbound call has no caller's number; otherwise null. */
  readonly fromWithheld: CallRecord["fromWithheld"]
  readonly to: string
}

/** The gateway does not say that a call has ended: its record is polled between turns. */
const POLL_MILLIS = 2_000

export class Call {
  readonly id: string
  readonly phoneNumberId: string
  readonly direction: CallRecord["direction"]
  /** The caller's number or address; null if it is withheld. */
  readonly from: string | null
  /** Why an inbound call has no caller's number; otherwise null. */
  readonly fromWithheld: CallRecord["fromWithheld"]
  readonly to: string
  readonly #context: PhoneContext

  /** @internal */
  constructor(context: PhoneContext, { callId, direction, from, fromWithheld, phoneNumberId, to }: CallFields) {
    this.#context = context
    this.id = callId
    this.phoneNumberId = phoneNumberId
    this.direction = direction
    this.from = from
    this.fromWithheld = fromWithheld
    this.to = to
  }

  /** Yields the turns of the person on the line, until the call ends or a turn hung up. */
  async *turns({ signal }: { readonly signal?: AbortSignal | undefined } = {}): AsyncGenerator<Turn, void, undefined> {
    const { clock, voice } = this.#context
    const { queue } = voice.take(this.id, this.phoneNumberId)
    const close = () => queue.close()
    signal?.addEventListener("abort", close)
    if (signal?.aborted === true) close()
    try {
      while (!queue.isClosed) {
        const timer = new AbortController()
        const taken = new AbortController()
        void clock.sleep(POLL_MILLIS, taken.signal).then(() => timer.abort())
        const turn = await queue.take(timer.signal)
        taken.abort()
        if (turn !== undefined) {
          yield turn
          if (turn.endsCall) return
        } else if (await this.#hasEnded()) return
      }
    } finally {
      signal?.removeEventListener("abort", close)
      voice.release(this.id)
    }
  }

  async #hasEnded(): Promise<boolean> {
    try {
      return (await this.read()).status === "ended"
    } catch (error) {
      if (error instanceof AgentOsError && error.isRetryable) return false
      throw error
    }
  }

  async read(options?: CallOptions): Promise<CallRecord> {
    return (await this.#context.caller.call("getCall", { callId: this.id }, options)).call
  }

  /** Returns the transcript so far; `complete` once the call has ended and every turn is stored. */
  async transcript(options?: CallOptions): Promise<Transcript> {
    return (await this.#context.caller.call("getTranscript", { callId: this.id }, options)).transcript
  }

  /** Adds a minute to the call. Costs money. */
  async extend(options?: CallOptions): Promise<CallRecord> {
    return (await this.#context.caller.call("extendCall", { callId: this.id }, options)).call
  }
}
