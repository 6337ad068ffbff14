import type { Acknowledgement } from "@agentos/core"
import type { DeliveringSession } from "./DeliveringSession.ts"
import type { ObservingSession } from "./ObservingSession.ts"
import type { RealtimeConnection } from "./RealtimeConnection.ts"

/** Whom a session serves, and over which socket. */
export interface SessionOwner {
  readonly tenantId: string
  readonly tokenVersion: number
  readonly sessionId: string
  readonly connection: RealtimeConnection
}

/** What every session can be asked for. Nothing waits for it: what there is to send is sent when it is known. */
export interface SessionActions {
  /** Looks for events to send: at the beginning, when the tenant is woken, and from time to time. */
  readonly wake: () => void
  readonly acknowledge: (acknowledgement: Acknowledgement) => void
}

/** An authenticated session. */
export type Session = DeliveringSession | ObservingSession

/** The sessions of this server, by tenant. */
export class Sessions {
  readonly #byTenant = new Map<string, Array<Session>>()

  /** Those of one tenant. */
  of(tenantId: string): ReadonlyArray<Session> {
    return this.#byTenant.get(tenantId) ?? []
  }

  add(session: Session): void {
    const others = this.#byTenant.get(session.owner.tenantId)
    if (others === undefined) this.#byTenant.set(session.owner.tenantId, [session])
    else others.push(session)
  }

  remove(session: Session): void {
    const { tenantId } = session.owner
    const left = this.of(tenantId).filter((other) => other !== session)
    if (left.length === 0) this.#byTenant.delete(tenantId)
    else this.#byTenant.set(tenantId, left)
  }

  *[Symbol.iterator](): Iterator<Session> {
    for (const sessions of this.#byTenant.values()) yield* sessions
  }
}
