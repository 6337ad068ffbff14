import { BodyMemoryExhausted } from "@agentos/api"
import { ClientAddress, TransitMemory } from "@agentos/core"
import { Context, Effect, Layer, Option, Scope, Semaphore } from "effect"

/** Fraction of the transit memory that the bodies of one client may declare. The longest message declares less. */
const CLIENT_SHARE = 1 / 2
/** How long a request waits for the share of its client, and how many of a client's requests wait. */
const WAIT = "10 seconds"
const WAITING_MAX = 8
const RETRY_AFTER_SECONDS = 5

/** The memory of one request's body, which is released when its scope closes. */
export interface BodyLease {
  /** Reserves bytes that are about to be allocated for this body. */
  readonly reserve: (bytes: number) => Effect.Effect<void, BodyMemoryExhausted>
}

/** The share of a client that has requests with a lease, or that wait for one. */
interface Share {
  readonly bytes: Semaphore.Semaphore
  requests: number
  waiting: number
}

/**
 * The memory of request bodies, taken from the transit memory of the process. A client's share counts the lengths that
 * its bodies declare, before they are read: of bodies that do not fit together, it reads some completely instead of a
 * part of each. A body of unknown length declares nothing, and its bytes are counted as they arrive. The whole counts the
 * bytes that have arrived, so that headers alone reserve no memory of others.
 */
export class BodyMemory extends Context.Service<
  BodyMemory,
  {
    /** Waits a limited time until the client's share has that many bytes left. */
    readonly lease: (
      address: Option.Option<string>,
      declaredBytes: number
    ) => Effect.Effect<BodyLease, BodyMemoryExhausted, Scope.Scope>
  }
>()("@agentos/http-server/operation/BodyMemory") {
  static readonly layer = Layer.effect(
    BodyMemory,
    Effect.map(TransitMemory, (whole) => {
      const shareBytes = Math.floor(whole.limitBytes * CLIENT_SHARE)
      const shares = new Map<string, Share>()

      const exhausted = (memory: BodyMemoryExhausted["exhausted"]) =>
        Effect.fail(new BodyMemoryExhausted({ exhausted: memory, retryAfterSeconds: RETRY_AFTER_SECONDS }))

      const enter = (client: string) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const share = shares.get(client) ?? { bytes: Semaphore.makeUnsafe(shareBytes), requests: 0, waiting: 0 }
            share.requests += 1
            shares.set(client, share)
            return share
          }),
          (share) =>
            Effect.sync(() => {
              share.requests -= 1
              if (share.requests === 0) shares.delete(client)
            })
        )

      const takeAtOnce = ({ bytes }: Share, count: number) =>
        Effect.uninterruptible(
          Effect.tap(Semaphore.takeIfAvailable(bytes, count), (isTaken) =>
            isTaken ? Effect.addFinalizer(() => Semaphore.release(bytes, count)) : Effect.void
          )
        )

      const waitFor = (share: Share, count: number) =>
        Effect.suspend(() => {
          if (share.waiting >= WAITING_MAX) return exhausted("share")
          share.waiting += 1
          return Effect.timeoutOrElse(Semaphore.takeScoped(share.bytes, count), {
            duration: WAIT,
            orElse: () => exhausted("share")
          }).pipe(Effect.ensuring(Effect.sync(() => void (share.waiting -= 1))))
        })

      const lease = Effect.fnUntraced(function* (address: Option.Option<string>, declaredBytes: number) {
        if (declaredBytes > shareBytes) return yield* exhausted("share")
        const client = Option.match(address, { onNone: () => "", onSome: ClientAddress.clientOf })
        const share = yield* enter(client)
        if (!(yield* takeAtOnce(share, declaredBytes))) yield* waitFor(share, declaredBytes)
        let heldBytes = 0
        yield* Effect.addFinalizer(() => Effect.sync(() => whole.release(heldBytes)))
        const scope = yield* Effect.scope
        const isUndeclared = declaredBytes === 0
        const reserve = Effect.fnUntraced(function* (bytes: number) {
          if (isUndeclared && !(yield* Scope.provide(takeAtOnce(share, bytes), scope))) return yield* exhausted("share")
          if (!whole.reserve(bytes)) return yield* exhausted("whole")
          heldBytes += bytes
        })
        return { reserve }
      })
      return BodyMemory.of({ lease })
    })
  )
}
