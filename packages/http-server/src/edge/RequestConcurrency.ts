import { ClientAddress } from "@agentos/core"
import { Context, Effect, Layer, Option, Semaphore } from "effect"
import { ServerSettings } from "../ServerSettings.ts"

/** Requests of one client that the server processes concurrently. A challenge takes 2 to 5 ms of the event loop. */
export const REQUESTS_AT_ONCE = 8

/** The semaphore whose permit the current request holds. */
const Permit = Context.Reference<Semaphore.Semaphore | null>("@agentos/http-server/edge/RequestConcurrency/Permit", {
  defaultValue: () => null
})

/** Runs an effect that waits for the client, such as for its body, while other requests of the client continue. */
export const whileOthersRun = <A, E, R>(waiting: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Permit, (permits) =>
    permits === null
      ? waiting
      : Effect.acquireUseRelease(
          Semaphore.release(permits, 1),
          () => waiting,
          () => Semaphore.take(permits, 1)
        )
  )

/** The requests of one client that are worked on or wait. */
interface Client {
  readonly permits: Semaphore.Semaphore
  requests: number
}

/**
 * Limits how many requests of one client are processed concurrently, and in one turn of the event loop; the others wait in
 * order of arrival. A client that sends all the requests of its rate limit at once therefore delays other clients only by
 * those few. The rate limit bounds how many wait, and the body of a waiting request is not read.
 */
export class RequestConcurrency extends Context.Service<
  RequestConcurrency,
  {
    readonly limit: (
      address: Option.Option<string>
    ) => <A, E, R>(request: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@agentos/http-server/edge/RequestConcurrency") {
  static readonly layer = Layer.effect(
    RequestConcurrency,
    Effect.map(ServerSettings, ({ rateLimit }) => {
      if (rateLimit === null) return RequestConcurrency.of({ limit: () => (request) => request })
      const clients = new Map<string, Client>()

      const enter = (name: string): Client => {
        const client = clients.get(name) ?? { permits: Semaphore.makeUnsafe(REQUESTS_AT_ONCE), requests: 0 }
        client.requests += 1
        clients.set(name, client)
        return client
      }
      const leave = (name: string, client: Client): void => {
        client.requests -= 1
        if (client.requests === 0) clients.delete(name)
      }
      // An embedded database answers without a turn of the event loop: permits that are released at once would let all
      // requests of a client that have arrived run in one turn.
      const releaseNextTurn = (name: string, client: Client) =>
        Effect.sync(() => {
          setImmediate(() => {
            Effect.runSync(Semaphore.release(client.permits, 1))
            leave(name, client)
          })
        })

      const limit =
        (address: Option.Option<string>) =>
        <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
          Effect.uninterruptibleMask((restore) =>
            Effect.suspend(() => {
              const name = ClientAddress.clientOf(Option.getOrElse(address, () => ""))
              const client = enter(name)
              return restore(Semaphore.take(client.permits, 1)).pipe(
                Effect.onError(() => Effect.sync(() => leave(name, client))),
                Effect.andThen(
                  Effect.onExit(restore(Effect.provideService(request, Permit, client.permits)), () =>
                    releaseNextTurn(name, client)
                  )
                )
              )
            })
          )
      return RequestConcurrency.of({ limit })
    })
  )
}
