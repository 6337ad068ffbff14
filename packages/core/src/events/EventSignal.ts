import { Context, Effect, Scope } from "effect"
import type { TenantId } from "../tenancy/Tenant.ts"

/** The sessions that must check for events: those of these tenants, or all sessions if wake-ups were lost. */
export type WakeUp = ReadonlyArray<TenantId> | "all"

/**
 * The port that wakes sessions. After an event of a tenant was stored, or leases on its events were released, every
 * listener on every server is notified of the tenant.
 *
 * A wake-up carries no data, and several may be merged into one. A wake-up may also be lost, so listeners must poll
 * from time to time.
 */
export class EventSignal extends Context.Service<
  EventSignal,
  {
    /**
     * Calls `wake` for each wake-up of any tenant until the scope closes. `wake` runs in the middle of other work: it
     * must not throw and must return quickly.
     */
    readonly listen: (wake: (wakeUp: WakeUp) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@agentos/core/events/EventSignal") {}
