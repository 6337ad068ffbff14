import { Deferred, Effect } from "effect"

/**
 * Tracks the calls whose relays this server closes because it stops. Twilio asks at once how each call continues, and is
 * answered while the server still runs.
 */
export class RelayDrain {
  readonly #pending = new Set<string>()
  readonly #allResumed = Deferred.makeUnsafe<void>()
  #isStarted = false

  /** True once the server is stopping. */
  get isStarted(): boolean {
    return this.#isStarted
  }

  /** Starts the drain of these calls. Returns when Twilio has asked about each of them. */
  start(callIds: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#isStarted = true
      for (const callId of callIds) this.#pending.add(callId)
      this.#completeIfEmpty()
      return Deferred.await(this.#allResumed)
    })
  }

  /** Records that Twilio has asked how a call continues. */
  resumed(callId: string): void {
    this.#pending.delete(callId)
    this.#completeIfEmpty()
  }

  #completeIfEmpty(): void {
    if (this.#isStarted && this.#pending.size === 0) Deferred.doneUnsafe(this.#allResumed, Effect.void)
  }
}
