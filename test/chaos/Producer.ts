import { EventStore, type Tenant, Uuid } from "@agentos/core"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import type { Random } from "../race/Random.ts"
import type { RealtimeRig } from "../support/RealtimeRig.ts"
import type { Append } from "./History.ts"
import type { Level } from "./Level.ts"

export interface ProducerOptions {
  readonly tenants: ReadonlyArray<Tenant>
  readonly random: Random
  /** Events that one call stores at the most. */
  readonly eventsPerCall: number
  /** How many events are stored by now. */
  readonly stored: Level
  /** How many may be stored by now. */
  readonly allowed: Level
  /** Whether the clients have so much to do that no more should come now. */
  readonly isTooMuch: () => boolean
}

/** Calls that store at a time, and tenants of one call. */
const CALLS = 4
const TENANTS_PER_CALL = 6
const PAUSE_MILLIS = 50

/**
 * Stores events beside the servers, by the store's own `append`: several calls at a time, each of several tenants. An
 * event is marked, so that it is known again.
 */
export class Producer {
  readonly appends: Array<Append> = []
  readonly #rig: RealtimeRig
  readonly #options: ProducerOptions
  #begun = 0

  constructor(rig: RealtimeRig, options: ProducerOptions) {
    this.#rig = rig
    this.#options = options
  }

  /** Stores until there are so many in all. */
  async produce(total: number): Promise<void> {
    await Promise.all(Array.from({ length: CALLS }, (_, call) => this.#lane(this.#options.random.fork(call), total)))
  }

  async #lane(random: Random, total: number): Promise<void> {
    const { allowed, eventsPerCall, isTooMuch, stored, tenants } = this.#options
    while (this.#begun < total) {
      const count = Math.min(1 + random.integer(eventsPerCall), total - this.#begun)
      this.#begun += count
      await allowed.reached(this.#begun)
      while (isTooMuch()) await sleep(PAUSE_MILLIS)
      const some = random.shuffle(tenants).slice(0, 1 + random.integer(TENANTS_PER_CALL))
      await this.#append(Array.from({ length: count }, () => random.pick(some)))
      stored.raise(stored.value + count)
    }
  }

  async #append(owners: ReadonlyArray<Tenant>): Promise<void> {
    const askedAt = Date.now()
    const events = await this.#rig.run(
      Effect.gen(function* () {
        const drafts = yield* Effect.forEach(owners, ({ tenantId }) =>
          Effect.map(Uuid.next, (mark) => ({
            tenantId,
            type: "email.received" as const,
            source: "smtp",
            service: "email",
            resourceId: mark,
            agentId: "an agent",
            payload: { subject: "a message", snippet: "x".repeat(100) },
            dedupeKey: mark
          }))
        )
        return yield* (yield* EventStore).append(drafts)
      })
    )
    const storedAt = Date.now()
    if (events.length !== owners.length) throw new Error(`${events.length} of ${owners.length} events were stored`)
    this.appends.push({
      askedAt,
      storedAt,
      events: events.map(({ createdAt, eventId, resourceId, tenantId }) => ({
        tenantId,
        eventId,
        createdAt,
        mark: resourceId
      }))
    })
  }
}
