import { Deferred, Effect } from "effect"

/** How the next calls of somebody outside go wrong, in order; then, if it is set, how all that follow do. */
export class SimulatedFault<Mode extends string> {
  #next: Array<Mode> = []
  #always: Mode | undefined
  #lifted = Deferred.makeUnsafe<void>()

  /** Lets so many calls go wrong; all of them, from here on, for 0. */
  set(mode: Mode, times: number): void {
    if (times === 0) this.#always = mode
    else for (let i = 0; i < times; i++) this.#next.push(mode)
  }

  /** How the call that is made now goes wrong; undefined when it does not. */
  take(): Mode | undefined {
    return this.#next.shift() ?? this.#always
  }

  /** Ends the fault, and with it every call that hangs. */
  lift(): void {
    this.#next = []
    this.#always = undefined
    Deferred.doneUnsafe(this.#lifted, Effect.void)
    this.#lifted = Deferred.makeUnsafe<void>()
  }

  /** A call that is not answered until its caller has had enough of waiting, or the fault is over. */
  readonly hang: Effect.Effect<void> = Effect.suspend(() =>
    Effect.raceFirst(Deferred.await(this.#lifted), Effect.sleep(PATIENCE))
  )
}

/** After how long the adapters of the real world give up waiting for an answer. */
const PATIENCE = "30 seconds"
