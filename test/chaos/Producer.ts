import type { Tenant } from "@agentos/core"
import { setTimeout as sleep } from "node:timers/promises"
import { appendEvents } from "../faults/client/Events.ts"
import type { Append } from "../faults/observation/EventHistory.ts"
import type { Random } from "../support/Random.ts"
import type { RealtimeRig } from "../support/RealtimeRig.ts"

/** An increasing number that can be awaited. */
export class Level {
  #value = 0
  #waiting: Array<{ readonly at: number; readonly resume: () => void }> = []

  get value(): number {
    return this.#value
  }

  raise(value: number): void {
    this.#value = Math.max(this.#value, value)
    const reached = this.#waiting.filter(({ at }) => at <= this.#value)
    this.#waiting = this.#waiting.filter(({ at }) => at > this.#value)
    for (const { resume } of reached) resume()
  }

  reached(at: number): Promise<void> {
    return new Promise((resolve) => {
      if (at <= this.#value) resolve()
      else this.#waiting.push({ at, resume: resolve })
    })
  }
}

export interface ProducerOptions {
  readonly tenants: ReadonlyArray<Tenant>
  readonly random: Random
  readonly eventsPerCallMax: number
  /** Events stored so far. */
  readonly stored: Level
  /** Events that may be stored so far. */
  readonly allowed: Level
  /** Whether the clients have a backlog. */
  readonly isBacklogged: () => boolean
}

const CALLS_AT_ONCE = 4
const TENANTS_PER_CALL_MAX = 6
const PAUSE_MILLIS = 50

/** Stores events directly through the event store: several calls at a time, each for several tenants. */
export class Producer {
  readonly appends: Array<Append> = []
  readonly #rig: RealtimeRig
  readonly #options: ProducerOptions
  #started = 0

  constructor(rig: RealtimeRig, options: ProducerOptions) {
    this.#rig = rig
    this.#options = options
  }

  /** Stores events until there are `total`. */
  async produce(total: number): Promise<void> {
    const { random } = this.#options
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, (_, call) => this.#work(random.fork(call), total)))
  }

  async #work(random: Random, total: number): Promise<void> {
    const { allowed, eventsPerCallMax, isBacklogged, stored, tenants } = this.#options
    while (this.#started < total) {
      const count = Math.min(1 + random.integer(eventsPerCallMax), total - this.#started)
      this.#started += count
      await allowed.reached(this.#started)
      while (isBacklogged()) await sleep(PAUSE_MILLIS)
      const some = random.shuffle(tenants).slice(0, 1 + random.integer(TENANTS_PER_CALL_MAX))
      this.appends.push(
        await appendEvents(
          this.#rig,
          Array.from({ length: count }, () => random.pick(some))
        )
      )
      stored.raise(stored.value + count)
    }
  }
}
