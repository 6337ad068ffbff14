import {
  type Acknowledgement,
  type AcknowledgementOutcome,
  type Delivery,
  RealtimeSession,
  toEventRecord
} from "@agentos/core"
import type { SessionActions, SessionOwner } from "./SessionOwner.ts"

/** What a session asks of the store, by way of who asks for many sessions at once. */
export interface Desk {
  /** Leases what the session has room for, hands it over, and dismisses the session. */
  readonly lease: (session: DeliveringSession) => void
  /** Acknowledges, and has the session answer it. */
  readonly acknowledge: (session: DeliveringSession, acknowledgement: Acknowledgement) => void
}

/** Acknowledgements that may wait before the socket is read no further. */
const WAITING_LIMIT = 256

/**
 * A session that takes events to work on: each is leased to it, and is its own
 * until it acknowledges, goes away or stops answering. What it needs of the
 * store it asks the desk for, which asks for many sessions at once.
 */
export class DeliveringSession implements SessionActions {
  readonly mode = "deliver"
  readonly owner: SessionOwner
  readonly #desk: Desk
  #session = RealtimeSession.opened
  /** Whether the desk has it in hand, and whether it was woken meanwhile. */
  #isAsking = false
  #isWoken = false
  /** Acknowledgements that wait for their answer. */
  #unanswered = 0

  constructor(owner: SessionOwner, desk: Desk) {
    this.owner = owner
    this.#desk = desk
  }

  /** What it holds: the delivery of each event. */
  get inFlight(): RealtimeSession.RealtimeSession["inFlight"] {
    return this.#session.inFlight
  }

  /** How many events it can take now. */
  get room(): number {
    return this.owner.connection.isOpen ? RealtimeSession.room(this.#session) : 0
  }

  /** Whether it is full before it could be told that nothing is left to replay. */
  get isReplayingFull(): boolean {
    return this.#session.phase === "replaying" && RealtimeSession.room(this.#session) === 0
  }

  wake(): void {
    if (this.#isAsking) {
      this.#isWoken = true
      return
    }
    if (this.room === 0 && !this.isReplayingFull) return
    this.#isAsking = true
    this.#desk.lease(this)
  }

  acknowledge(acknowledgement: Acknowledgement): void {
    this.#unanswered++
    if (this.#unanswered >= WAITING_LIMIT) this.owner.connection.pause("acknowledgements")
    this.#desk.acknowledge(this, acknowledgement)
  }

  /** Takes what the desk got for it, having asked for so many. */
  deliver(deliveries: ReadonlyArray<Delivery>, asked: number): void {
    for (const { deliveryId, event } of deliveries) {
      this.owner.connection.send({ type: "event.delivery", deliveryId, event: toEventRecord(event) })
    }
    if (asked === 0) return
    this.#become(RealtimeSession.leased(this.#session, deliveries, asked))
    // What it acknowledged meanwhile has made room, and there may be more.
    if (deliveries.length === asked && this.room > 0) this.#isWoken = true
  }

  /** Is told that nothing was left when it was full. */
  drained(): void {
    if (this.isReplayingFull) this.#become(RealtimeSession.drained(this.#session))
  }

  /** The desk is done with it, until it is woken again. */
  dismiss(): void {
    this.#isAsking = false
    if (!this.#isWoken) return
    this.#isWoken = false
    this.wake()
  }

  /** Says what became of acknowledgements, in their order. */
  answer(acknowledgements: ReadonlyArray<Acknowledgement>, outcomes: ReadonlyArray<AcknowledgementOutcome>): void {
    const { connection } = this.owner
    const wasFull = RealtimeSession.room(this.#session) === 0
    this.#session = RealtimeSession.acknowledged(this.#session, acknowledgements, outcomes)
    connection.sendTogether(() =>
      acknowledgements.forEach(({ eventId }, index) => {
        switch (outcomes[index]) {
          case "acknowledged":
            return connection.send({ type: "event.acknowledged", eventId })
          case "stale":
            return connection.send({ type: "event.ack_stale", eventId })
          default:
            return connection.sendError("RESOURCE_NOT_FOUND", `No event ${eventId} of yours.`)
        }
      })
    )
    this.#unanswered -= acknowledgements.length
    if (this.#unanswered < WAITING_LIMIT) connection.resume("acknowledgements")
    if (wasFull) this.wake()
  }

  /** Takes note of which of the deliveries that it held when a renewal was asked for are still its own. */
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
