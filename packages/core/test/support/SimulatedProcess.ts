import { Deferred, Effect, Scope } from "effect"

type Gate = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** A port through which every effect passes a gate. */
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

/** A process while it runs: whether it is killed, and whether it stands still. */
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

  /** A process that was killed does nothing any more: not even what it does when it is interrupted. */
  readonly whileAlive = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => (this.alive ? effect : Effect.interrupt))

  /** One that stands still (for its scheduler, or its host) goes on later with what it was about to do. */
  readonly whenMoving = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() =>
      this.#thawed === undefined || !this.alive
        ? this.whileAlive(effect)
        : Effect.andThen(Deferred.await(this.#thawed), this.whenMoving(effect))
    )
}
