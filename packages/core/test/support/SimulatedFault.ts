import { Deferred, Effect } from "effect"

/** The faults of the next calls to an outside service, in order; then, if it is set, the fault of all later calls. */
export class SimulatedFault<Mode extends string> {
  #next: Array<Mode> = []
  #always: Mode | undefined
  #lifted = Deferred.makeUnsafe<void>()

  /** Sets the fault of the next `times` calls, or of all calls from now on if `times` is 0. */
  set(mode: Mode, times: number): void {
    if (times === 0) this.#always = mode
    else for (let i = 0; i < times; i++) this.#next.push(mode)
  }

  /** Returns the fault of the current call, or undefined if it has none. */
  take(): Mode | undefined {
    return this.#next.shift() ?? this.#always
  }

  /** Ends the fault and every call that hangs. */
  lift(): void {
    this.#next = []
    this.#always = undefined
    Deferred.doneUnsafe(this.#lifted, Effect.void)
    this.#lifted = Deferred.makeUnsafe<void>()
  }

  /** Waits until the fault is lifted, at most `PATIENCE`, as a call without an answer. */
  readonly hang: Effect.Effect<void> = Effect.suspend(() =>
    Effect.raceFirst(Deferred.await(this.#lifted), Effect.sleep(PATIENCE))
  )
}

/** The time after which real adapters stop waiting for an answer. */
const PATIENCE = "30 seconds"
