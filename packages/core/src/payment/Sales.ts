import { Cache, Context, Duration, Effect, Exit, Layer } from "effect"
import type { ServiceId } from "../catalog/ServiceId.ts"
import { SaleStopped, type SalesStop, stopsByService } from "./SalesStop.ts"
import { SalesStopStore } from "./SalesStopStore.ts"

/** How long a server may continue to sell after a stop on another server. Operators are promised 5 seconds. */
const CACHE_LIFETIME = Duration.seconds(4)
/** How long the catalog waits for the store before it shows what it last knew. */
const CATALOG_WAIT = Duration.seconds(1)
/** The Retry-After of a refused purchase. The end of a stop is not known, but a stop rarely lasts less than minutes. */
const RETRY_AFTER_SECONDS = 120

const ALL_ON_SALE: ReadonlyMap<ServiceId, SalesStop> = new Map()

/** The services that are on sale. */
export class Sales extends Context.Service<
  Sales,
  {
    /** Fails if the operator has stopped the sale of the service. Reads the store at most once in 4 seconds. */
    readonly requireOnSale: (serviceId: ServiceId) => Effect.Effect<void, SaleStopped>
    /** Returns the stopped services, as they were last known while the store does not answer. */
    readonly stopped: Effect.Effect<ReadonlyMap<ServiceId, SalesStop>>
    /** Clears this server's cache after a change, so that the store is read again. */
    readonly forget: Effect.Effect<void>
  }
>()("@agentos/core/payment/Sales") {
  static readonly layer = Layer.effect(
    Sales,
    Effect.gen(function* () {
      const { list } = yield* SalesStopStore
      let lastKnown = ALL_ON_SALE
      const read = Effect.map(list, (stops) => (lastKnown = stopsByService(stops)))
      const cache = yield* Cache.makeWith((_: "stops") => read, {
        capacity: 1,
        // A failed read is not cached.
        timeToLive: (exit) => (Exit.isSuccess(exit) ? CACHE_LIFETIME : Duration.zero)
      })
      const current = Cache.get(cache, "stops")

      return Sales.of({
        requireOnSale: Effect.fnUntraced(function* (serviceId) {
          const stop = (yield* current).get(serviceId)
          if (stop === undefined) return
          return yield* new SaleStopped({ serviceId, reason: stop.reason, retryAfterSeconds: RETRY_AFTER_SECONDS })
        }),
        stopped: current.pipe(
          Effect.timeout(CATALOG_WAIT),
          Effect.catchCause(() => Effect.sync(() => lastKnown))
        ),
        forget: Cache.invalidate(cache, "stops")
      })
    })
  )
}
