import { Cache, Cause, Context, Duration, Effect, Layer } from "effect"
import type { ServiceId } from "../catalog/ServiceId.ts"
import { monotonicMillis } from "../kernel/Monotonic.ts"
import { type PaidRequest, priceOf } from "./PaidRequest.ts"
import type { PaymentRail } from "./PaymentRail.ts"
import type { PaymentTerms } from "./PaymentTerms.ts"
import { SaleStopped, type SalesStop, stopsByNetwork, stopsByService } from "./SalesStop.ts"
import { SalesStopStore } from "./SalesStopStore.ts"

/** How long a server may continue to sell after a stop on another server. Operators are promised 5 seconds. */
const CACHE_LIFETIME = Duration.seconds(4)
/** How long the catalog waits for the store before it shows its last answer. */
const CATALOG_WAIT = Duration.seconds(1)
/** The Retry-After of a refused purchase. The end of a stop is not known, but a stop rarely lasts less than minutes. */
const RETRY_AFTER_SECONDS = 120

type NetworkStops = ReadonlyMap<string, SalesStop>

const stopsOf = (list: ReadonlyArray<SalesStop>) => ({ services: stopsByService(list), networks: stopsByNetwork(list) })

export const withoutStopped = (terms: ReadonlyArray<PaymentTerms>, stops: NetworkStops): ReadonlyArray<PaymentTerms> =>
  stops.size === 0 ? terms : terms.filter(({ network }) => !stops.has(network))

/** Fails while no network sells at the price of the request. */
export const requireOffer = (
  { offers }: Pick<PaymentRail["Service"], "offers">,
  stops: NetworkStops,
  request: PaidRequest
): Effect.Effect<void, SaleStopped> => {
  const sold = offers(priceOf(request))
  if (withoutStopped(sold, stops).length > 0) return Effect.void
  const [stop] = sold.flatMap(({ network }) => stops.get(network) ?? [])
  return new SaleStopped({
    serviceId: request.entry.serviceId,
    reason: stop?.reason ?? "Gas costs more than its limit on every payment network.",
    retryAfterSeconds: RETRY_AFTER_SECONDS
  })
}

/** The services that are on sale, and the networks on which they are paid. */
export class Sales extends Context.Service<
  Sales,
  {
    /**
     * Fails if the operator has stopped the sale of the service, or payments on the network. Reads the store at most once in 4
     * seconds.
     */
    readonly requireOnSale: (serviceId: ServiceId, network?: string) => Effect.Effect<void, SaleStopped>
    /** Returns the stopped services, as they were last known while the store does not answer. */
    readonly stopped: Effect.Effect<ReadonlyMap<ServiceId, SalesStop>>
    /** Returns the stopped networks as they were last read, which `requireOnSale` and `stopped` do. */
    readonly stoppedNetworks: () => NetworkStops
    /** Clears this server's cache after a change, so that the store is read again. */
    readonly forget: Effect.Effect<void>
  }
>()("@agentos/core/payment/Sales") {
  static readonly layer = Layer.effect(
    Sales,
    Effect.gen(function* () {
      const { list } = yield* SalesStopStore
      let known = stopsOf([])
      let knownUntil = 0
      /** Until then, the catalog does not wait for a store that did not answer. */
      let silentUntil = 0
      /** Counts the changes: a read that began before one does not know it. */
      let changes = 0
      const read = Effect.gen(function* () {
        const changesBefore = changes
        const stops = stopsOf(yield* list)
        if (changesBefore !== changes) return stops
        known = stops
        knownUntil = (yield* monotonicMillis) + Duration.toMillis(CACHE_LIFETIME)
        return stops
      })
      // One read at a time.
      const cache = yield* Cache.make({ capacity: 1, lookup: (_: "stops") => read, timeToLive: Duration.zero })
      const current = Effect.flatMap(monotonicMillis, (now) =>
        now < knownUntil ? Effect.succeed(known) : Cache.get(cache, "stops")
      )

      return Sales.of({
        requireOnSale: Effect.fnUntraced(function* (serviceId, network) {
          const { networks, services } = yield* current
          const refused = { serviceId, retryAfterSeconds: RETRY_AFTER_SECONDS }
          const ofService = services.get(serviceId)
          if (ofService !== undefined) return yield* new SaleStopped({ ...refused, reason: ofService.reason })
          if (network === undefined) return
          const ofNetwork = networks.get(network)
          if (ofNetwork !== undefined) return yield* new SaleStopped({ ...refused, network, reason: ofNetwork.reason })
        }),
        stoppedNetworks: () => known.networks,
        stopped: Effect.flatMap(monotonicMillis, (now) =>
          now < Math.max(knownUntil, silentUntil)
            ? Effect.succeed(known)
            : current.pipe(
                Effect.timeout(CATALOG_WAIT),
                Effect.catchCause((cause) =>
                  Effect.sync(() => {
                    // A client that disconnects says nothing about the store.
                    if (!Cause.hasInterruptsOnly(cause)) silentUntil = now + Duration.toMillis(CACHE_LIFETIME)
                    return known
                  })
                )
              )
        ).pipe(Effect.map(({ services }) => services)),
        forget: Effect.suspend(() => {
          changes++
          knownUntil = 0
          silentUntil = 0
          return Cache.invalidate(cache, "stops")
        })
      })
    })
  )
}
