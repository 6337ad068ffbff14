import { Context, Effect, Scope } from "effect"
import type { TenantId } from "../tenancy/Tenant.ts"

/** Whose sessions are to look: those of these tenants, or all of them, where nobody knows which wake-ups were lost. */
export type WakeUp = ReadonlyArray<TenantId> | "everybody"

/**
 * The port that wakes sessions: after an event of a tenant was stored, or
 * leases on some were given back, every listener is told of the tenant, on
 * every server.
 *
 * A wake-up carries nothing, and one may stand for several; it may also be lost,
 * so whoever listens looks for itself from time to time.
 */
export class EventSignal extends Context.Service<
  EventSignal,
  {
    /**
     * Calls `wake` for each wake-up, of whatever tenant, until the scope closes. It is called in the middle
     * of other work: it must not throw, nor take long.
     */
    readonly listen: (wake: (wakeUp: WakeUp) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@agentos/core/events/EventSignal") {}
