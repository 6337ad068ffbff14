import { addToCount } from "@agentos/core"
import { Effect } from "effect"

/**
 * A limit of work at the same time, which groups share fairly: a free slot goes to the waiting group that uses the fewest.
 * Groups that use equally many take turns.
 */
export class FairSlots {
  readonly #limit: number
  readonly #limitPerGroup: number
  #used = 0
  readonly #usedBy = new Map<string, number>()
  /** The groups that wait, in turn. */
  readonly #waiting = new Map<string, Array<() => void>>()

  constructor(limit: number, limitPerGroup: number = limit) {
    this.#limit = limit
    this.#limitPerGroup = limitPerGroup
  }

  /** Runs an effect once its group has a slot. */
  use<A, E, R>(group: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(this.#entered(group)), () =>
        Effect.ensuring(
          restore(effect),
          Effect.sync(() => this.leave(group))
        )
      )
    )
  }

  #entered(group: string): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const start = () => resume(Effect.void)
      this.enter(group, start)
      return Effect.sync(() => this.remove(group, start))
    })
  }

  /** Calls `start` once the group has a slot, which `leave` must free. */
  enter(group: string, start: () => void): void {
    const queue = this.#waiting.get(group) ?? []
    queue.push(start)
    this.#waiting.set(group, queue)
    this.#fill()
  }

  leave(group: string): void {
    this.#used--
    addToCount(this.#usedBy, group, -1)
    this.#fill()
  }

  /** Takes back a call of `enter` that still waits. */
  remove(group: string, start: () => void): void {
    const queue = this.#waiting.get(group)?.filter((other) => other !== start) ?? []
    if (queue.length === 0) this.#waiting.delete(group)
    else this.#waiting.set(group, queue)
  }

  #usedOf(group: string): number {
    return this.#usedBy.get(group) ?? 0
  }

  #fill(): void {
    while (this.#used < this.#limit) {
      let next: string | undefined
      for (const group of this.#waiting.keys()) {
        const used = this.#usedOf(group)
        if (used < this.#limitPerGroup && (next === undefined || used < this.#usedOf(next))) next = group
      }
      const start = next === undefined ? undefined : this.#waiting.get(next)!.shift()
      if (next === undefined || start === undefined) return
      const queue = this.#waiting.get(next)!
      this.#waiting.delete(next)
      if (queue.length > 0) this.#waiting.set(next, queue)
      this.#used++
      addToCount(this.#usedBy, next, 1)
      start()
    }
  }
}
