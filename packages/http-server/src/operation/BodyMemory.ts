import { BodyMemoryExhausted } from "@agentos/api"
import { ByteBudget, ClientAddress, TransitMemory } from "@agentos/core"
import { Context, Effect, Layer, Option, type Scope } from "effect"

/** Fraction of the transit memory that the bodies of one client may hold. The longest message takes less. */
const CLIENT_SHARE = 1 / 2
const RETRY_AFTER_SECONDS = 5

/** The memory of one request's body, which is released when its scope closes. */
export interface BodyLease {
  /** Reserves more bytes for this body. */
  readonly reserve: (bytes: number) => Effect.Effect<void, BodyMemoryExhausted>
}

/** The memory of request bodies, taken from the transit memory of the process, with a share for each client. */
export class BodyMemory extends Context.Service<
  BodyMemory,
  {
    readonly lease: (address: Option.Option<string>) => Effect.Effect<BodyLease, never, Scope.Scope>
  }
>()("@agentos/http-server/operation/BodyMemory") {
  static readonly layer = Layer.effect(
    BodyMemory,
    Effect.map(TransitMemory, (whole) => {
      /** The shares of the clients that hold memory. */
      const shares = new Map<string, ByteBudget>()
      return BodyMemory.of({
        lease: (address) => {
          const client = Option.match(address, { onNone: () => "", onSome: ClientAddress.clientOf })
          let heldBytes = 0
          const reserve = (bytes: number) =>
            Effect.suspend(() => {
              const share = shares.get(client) ?? new ByteBudget(Math.floor(whole.limitBytes * CLIENT_SHARE), whole)
              if (!share.reserve(bytes)) {
                const exhausted = share.usedBytes + bytes > share.limitBytes ? "share" : "whole"
                return Effect.fail(new BodyMemoryExhausted({ exhausted, retryAfterSeconds: RETRY_AFTER_SECONDS }))
              }
              shares.set(client, share)
              heldBytes += bytes
              return Effect.void
            })
          const release = Effect.sync(() => {
            const share = shares.get(client)
            if (share === undefined || heldBytes === 0) return
            share.release(heldBytes)
            if (share.usedBytes === 0) shares.delete(client)
          })
          return Effect.as(
            Effect.addFinalizer(() => release),
            { reserve }
          )
        }
      })
    })
  )
}
