import { Context, Effect, Queue, Scope } from "effect"
import type { TenantId } from "../tenancy/Tenant.ts"

/**
 * The port that wakes sessions: after an event of a tenant was stored, or
 * leases on some were given back, every subscriber of that tenant is woken.
 *
 * A wake-up carries nothing and several may arrive as one; it may also be lost,
 * so a subscriber looks for itself from time to time.
 */
export class EventSignal extends Context.Service<
  EventSignal,
  {
    /** A queue of at most one waiting wake-up, until the scope closes. */
    readonly subscribe: (tenantId: TenantId) => Effect.Effect<Queue.Dequeue<void>, never, Scope.Scope>
  }
>()("@agentos/core/events/EventSignal") {}
