import type { AnsweringSession } from "./AnsweringSession.ts"
import type { DeliveringSession } from "./DeliveringSession.ts"
import type { ObservingSession } from "./ObservingSession.ts"

export type Session = AnsweringSession | DeliveringSession | ObservingSession

export class Sessions {
  readonly #byTenant = new Map<string, Array<Session>>()

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
