import { Deferred, Effect, Scope } from "effect"

type Gate = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Wraps a port, so that every effect of it passes a gate. */
export const gated = <Service extends object>(service: Service, gateOf: (name: string | symbol) => Gate): Service =>
  new Proxy(service, {
    get: (target, name) => {
      const pass = (value: unknown): unknown => (Effect.isEffect(value) ? gateOf(name)(value) : value)
      const member: unknown = Reflect.get(target, name)
      return typeof member === "function"
        ? (...args: ReadonlyArray<unknown>) => pass(Reflect.apply(member, target, args))
        : pass(member)
    }
  })

/** A process that can be killed and frozen. */
export class SimulatedProcess {
  readonly died = Deferred.makeUnsafe<void>()
  readonly scope = Scope.makeUnsafe()
  alive = true
  #thawed: Deferred.Deferred<void> | undefined

  freeze(): void {
    this.#thawed ??= Deferred.makeUnsafe<void>()
  }

  thaw(): void {
    if (this.#thawed !== undefined) Deferred.doneUnsafe(this.#thawed, Effect.void)
    this.#thawed = undefined
  }

  /** Interrupts effects of a killed process: it must do nothing, not even its own cleanup after an interruption. */
  readonly whileAlive = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => (this.alive ? effect : Effect.interrupt))

  /** Delays effects of a frozen process (paused by its scheduler or its host) until it continues. */
  readonly whenMoving = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() =>
      this.#thawed === undefined || !this.alive
        ? this.whileAlive(effect)
        : Effect.andThen(Deferred.await(this.#thawed), this.whenMoving(effect))
    )
}
