import { type EventFilter, EventStore, type Position, toEventRecord } from "@agentos/core"
import { Effect } from "effect"
import { CLOSE_CODES } from "@agentos/api"
import type { SessionActions, SessionOwner } from "./SessionOwner.ts"

const PAGE = 100

/**
 * A read-only session. It receives all unacknowledged events, then each event as it is stored. It takes no lease, so it
 * takes no event from a delivering session.
 */
export class ObservingSession implements SessionActions {
  readonly mode = "observe"
  readonly owner: SessionOwner
  readonly #store: typeof EventStore.Service
  readonly #fork: (effect: Effect.Effect<void>) => void
  #position: Position | undefined
  #isReplaying = true
  /** Whether a read of the store is in progress, and whether the session was woken meanwhile. */
  #isReading = false
  #isWoken = false

  constructor(owner: SessionOwner, store: typeof EventStore.Service, fork: (effect: Effect.Effect<void>) => void) {
    this.owner = owner
    this.#store = store
    this.#fork = fork
  }

  wake(): void {
    this.#isWoken = true
    if (this.#isReading) return
    this.#isReading = true
    this.#fork(this.#read)
  }

  /** Returns whether events up to `latest` may be unsent. */
  isBehind(latest: Position): boolean {
    return this.#isReplaying || this.#position === undefined || isLater(latest, this.#position)
  }

  acknowledge(): void {
    this.owner.connection.sendError("FORBIDDEN", "An observing session cannot acknowledge events.")
  }

  reply(): void {
    this.owner.connection.sendError("FORBIDDEN", 'Only a session with "mode":"voice" can answer calls.')
  }

  get #read(): Effect.Effect<void> {
    const read = Effect.gen({ self: this }, function* () {
      while (this.#isWoken && this.owner.connection.isOpen) {
        this.#isWoken = false
        if (this.#isReplaying) yield* this.#replay
        const { reached } = yield* this.#send({}, this.#position)
        this.#position = reached
      }
    })
    return read.pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logError("sending events to an observer failed", cause),
          Effect.sync(() => this.owner.connection.close(CLOSE_CODES.failed.code, "internal error"))
        )
      ),
      Effect.ensuring(Effect.sync(() => (this.#isReading = false)))
    )
  }

  /** Sends the unacknowledged events that exist at its start. Later reads send newer events. */
  get #replay(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const newest = yield* this.#store.latest(this.owner.tenantId)
      const { sent } =
        newest === undefined
          ? { sent: 0 }
          : yield* this.#send({ statuses: ["pending", "delivered"] }, undefined, newest)
      this.owner.connection.send({ type: "session.replay.complete", delivered: sent })
      this.#position = newest
      this.#isReplaying = false
    })
  }

  /** Sends every matching event after `after`, up to and including `last`. Returns the position reached. */
  #send(filter: EventFilter, after: Position | undefined, last?: Position) {
    const { connection, tenantId } = this.owner
    return Effect.gen({ self: this }, function* () {
      let reached = after
      let sent = 0
      while (connection.isOpen) {
        const events = yield* this.#store.list(tenantId, filter, reached, PAGE)
        for (const event of events) {
          const at = { createdAt: event.createdAt, id: event.eventId }
          if (last !== undefined && isLater(at, last)) return { reached, sent }
          connection.send({ type: "event.observed", event: toEventRecord(event) })
          reached = at
          sent++
        }
        if (events.length < PAGE) break
      }
      return { reached, sent }
    })
  }
}

const isLater = (a: Position, b: Position): boolean =>
  a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.id > b.id)
