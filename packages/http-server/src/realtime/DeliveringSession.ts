import { notFoundMessage } from "@agentos/api"
import {
  type Acknowledgement,
  type AcknowledgementOutcome,
  type Delivery,
  RealtimeSession,
  toEventRecord
} from "@agentos/core"
import type { SessionActions, SessionOwner } from "./SessionOwner.ts"

/** The store requests of a session, batched with those of other sessions. */
export interface StoreRequests {
  /** Leases as many events as the session has room for, delivers them, and dismisses the session. */
  readonly lease: (session: DeliveringSession) => void
  /** Acknowledges an event and lets the session send the outcome. */
  readonly acknowledge: (session: DeliveringSession, acknowledgement: Acknowledgement) => void
}

/** Number of pending acknowledgements at which the socket is no longer read. */
const WAITING_LIMIT = 256

/**
 * A session that processes events. Each event is leased to it, and belongs to it until the session acknowledges it,
 * disconnects or stops answering.
 */
export class DeliveringSession implements SessionActions {
  readonly mode = "deliver"
  readonly owner: SessionOwner
  readonly #requests: StoreRequests
  #session = RealtimeSession.opened
  /** Whether a lease request is in progress, and whether the session was woken meanwhile. */
  #isLeasing = false
  #isWoken = false
  /** The number of acknowledgements without an answer. */
  #unanswered = 0

  constructor(owner: SessionOwner, requests: StoreRequests) {
    this.owner = owner
    this.#requests = requests
  }

  /** The deliveries that the session holds, by event. */
  get inFlight(): RealtimeSession.RealtimeSession["inFlight"] {
    return this.#session.inFlight
  }

  /** The number of events that the session can accept now. */
  get room(): number {
    return this.owner.connection.isOpen ? RealtimeSession.room(this.#session) : 0
  }

  /** Whether the session is full before it has reported the end of the replay. */
  get isReplayingFull(): boolean {
    return this.#session.phase === "replaying" && RealtimeSession.room(this.#session) === 0
  }

  wake(): void {
    if (this.#isLeasing) {
      this.#isWoken = true
      return
    }
    if (this.room === 0 && !this.isReplayingFull) return
    this.#isLeasing = true
    this.#requests.lease(this)
  }

  acknowledge(acknowledgement: Acknowledgement): void {
    this.#unanswered++
    if (this.#unanswered >= WAITING_LIMIT) this.owner.connection.pause("acknowledgements")
    this.#requests.acknowledge(this, acknowledgement)
  }

  reply(): void {
    this.owner.connection.sendError("FORBIDDEN", 'Only a session with "mode":"voice" can answer calls.')
  }

  /** Sends the leased deliveries. `asked` is the number that was requested. */
  deliver(deliveries: ReadonlyArray<Delivery>, asked: number): void {
    for (const { deliveryId, event } of deliveries) {
      this.owner.connection.send({ type: "event.delivery", deliveryId, event: toEventRecord(event) })
    }
    if (asked === 0) return
    this.#become(RealtimeSession.leased(this.#session, deliveries, asked))
    // Acknowledgements have made room meanwhile, and more events may be available.
    if (deliveries.length === asked && this.room > 0) this.#isWoken = true
  }

  /** Reports the end of the replay if nothing was left while the session was full. */
  drained(): void {
    if (this.isReplayingFull) this.#become(RealtimeSession.drained(this.#session))
  }

  /** Ends the lease request. Starts another one if the session was woken meanwhile. */
  dismiss(): void {
    this.#isLeasing = false
    if (!this.#isWoken) return
    this.#isWoken = false
    this.wake()
  }

  /** Sends the outcomes of acknowledgements, in order. */
  answer(acknowledgements: ReadonlyArray<Acknowledgement>, outcomes: ReadonlyArray<AcknowledgementOutcome>): void {
    const { connection } = this.owner
    const wasFull = RealtimeSession.room(this.#session) === 0
    this.#session = RealtimeSession.acknowledged(this.#session, acknowledgements, outcomes)
    connection.sendTogether(() =>
      acknowledgements.forEach(({ eventId }, index) => {
        switch (outcomes[index]) {
          case "acknowledged":
            return connection.send({ type: "event.acknowledged", eventId })
          case "lease_lost":
          case "expired":
            return connection.send({ type: "event.ack_stale", eventId, reason: outcomes[index] })
          default:
            return connection.sendError("RESOURCE_NOT_FOUND", notFoundMessage("event", eventId))
        }
      })
    )
    this.#unanswered -= acknowledgements.length
    if (this.#unanswered < WAITING_LIMIT) connection.resume("acknowledgements")
    if (wasFull) this.wake()
  }

  /** Keeps those of the deliveries in `asked` whose leases were renewed. */
  keep(asked: RealtimeSession.RealtimeSession["inFlight"], heldEventIds: ReadonlySet<string>): void {
    const wasFull = RealtimeSession.room(this.#session) === 0
    this.#session = RealtimeSession.renewed(this.#session, asked, heldEventIds)
    if (wasFull) this.wake()
  }

  #become(next: { readonly session: RealtimeSession.RealtimeSession; readonly replayComplete: number | undefined }) {
    this.#session = next.session
    if (next.replayComplete !== undefined) {
      this.owner.connection.send({ type: "session.replay.complete", delivered: next.replayComplete })
    }
  }
}
