import type { TenantId } from "@agentos/core"
import { Effect, Queue, type Scope } from "effect"

/** Who is to be woken, by tenant. */
export class Subscribers {
  readonly #queues = new Map<TenantId, Set<Queue.Queue<void>>>()

  /** How many wait for wake-ups, of whatever tenant. */
  get size(): number {
    return [...this.#queues.values()].reduce((sum, queues) => sum + queues.size, 0)
  }

  /** Puts a wake-up into the queue of every subscriber of the tenant in which none is waiting. */
  wake(tenantId: TenantId): void {
    for (const queue of this.#queues.get(tenantId) ?? []) Queue.offerUnsafe(queue, undefined)
  }

  /** A queue of at most one waiting wake-up, until the scope closes. */
  subscribe(tenantId: TenantId): Effect.Effect<Queue.Dequeue<void>, never, Scope.Scope> {
    return Effect.acquireRelease(
      Effect.tap(Queue.dropping<void>(1), (queue) => Effect.sync(() => this.#add(tenantId, queue))),
      (queue) =>
        Effect.andThen(
          Effect.sync(() => this.#remove(tenantId, queue)),
          Queue.shutdown(queue)
        )
    )
  }

  #add(tenantId: TenantId, queue: Queue.Queue<void>): void {
    const queues = this.#queues.get(tenantId) ?? new Set()
    this.#queues.set(tenantId, queues.add(queue))
  }

  #remove(tenantId: TenantId, queue: Queue.Queue<void>): void {
    const queues = this.#queues.get(tenantId)
    queues?.delete(queue)
    if (queues?.size === 0) this.#queues.delete(tenantId)
  }
}
