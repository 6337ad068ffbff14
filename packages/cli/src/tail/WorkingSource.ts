import { randomInt } from "node:crypto"
import type { Context } from "../command/Handler.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure } from "../failure/Failure.ts"
import type { ApiClient } from "../server/ApiClient.ts"
import type { Acknowledged, Intake, TailEvent } from "./Delivery.ts"
import { pause } from "./Pause.ts"
import type { RealtimeSession } from "./RealtimeSession.ts"
import { followSocket, isTransient, pauseAfter } from "./SocketFollower.ts"
import { isSelective, isWanted, listFilter, type TailFilter } from "./TailFilter.ts"

const REPLAY_PAGE = 200
const LIST_PAGE = 100
const POLL_MILLIS = 1_000

/**
 * Takes events to work on. Over the socket each is leased, so that nobody else works on it. The socket leases events of
 * every kind in their order: whoever wants some of them alone asks over REST, which leases nothing and so takes
 * the others from nobody.
 */
export class WorkingSource {
  readonly #context: Context
  readonly #client: ApiClient
  readonly #filter: TailFilter
  readonly #intake: Intake

  constructor(context: Context, client: ApiClient, filter: TailFilter, intake: Intake) {
    this.#context = context
    this.#client = client
    this.#filter = filter
    this.#intake = intake
  }

  follow(stop: AbortSignal): Promise<void> {
    if (isSelective(this.#filter)) return this.#pollThrough(stop)
    return followSocket(
      this.#context,
      this.#client,
      {
        mode: "deliver",
        serve: (session) => this.#serve(session),
        serveWithoutSocket: (enough) => this.#poll(enough)
      },
      stop
    )
  }

  async #serve(session: RealtimeSession): Promise<void> {
    try {
      for await (const message of session.messages())
        if (message.type === "event.delivery") {
          const { deliveryId, event } = message
          await this.#intake.take({
            event: event as TailEvent,
            acknowledge: () => session.acknowledge(event.eventId, deliveryId)
          })
        }
    } finally {
      this.#intake.leasesLost()
    }
  }

  /** Polls until it is stopped, and waits for what passes by itself. */
  async #pollThrough(stop: AbortSignal): Promise<void> {
    let attempts = 0
    let reached = false
    while (!stop.aborted)
      try {
        await this.#poll(stop, () => {
          reached = true
          attempts = 0
        })
      } catch (error) {
        if (stop.aborted) return
        if (!reached || !isTransient(error)) throw error
        const millis = pauseAfter(attempts++, randomInt)
        this.#context.output.note(`${error.message} Asking again in ${(millis / 1_000).toFixed(1)} s.`)
        await pause(millis, stop)
      }
  }

  async #poll(stop: AbortSignal, answered: () => void = () => {}): Promise<void> {
    while (!stop.aborted) {
      const events = await this.#open()
      answered()
      for (const event of events) {
        if (stop.aborted) return
        await this.#intake.take({ event, acknowledge: () => this.#acknowledge(event.eventId) })
      }
      // What is acknowledged is open no more: nothing comes twice.
      await this.#intake.idle()
      if (events.length < REPLAY_PAGE) await pause(POLL_MILLIS, stop)
    }
  }

  /** What nobody works on, in order. */
  async #open(): Promise<ReadonlyArray<TailEvent>> {
    const { items } = await this.#client.call("replayEvents", { query: { limit: REPLAY_PAGE } })
    if (!isSelective(this.#filter)) return items
    // Where others stand before them, the list finds them.
    const { since } = this.#filter
    const { items: listed } = await this.#client.call("listEvents", {
      payload: {
        ...listFilter(this.#filter),
        ...(since === undefined ? {} : { from: since }),
        status: "pending",
        limit: LIST_PAGE
      }
    })
    const byId = new Map([...items, ...listed].map((event) => [event.eventId, event]))
    return [...byId.values()]
      .filter((event) => isWanted(this.#filter, event))
      .toSorted((left, right) =>
        left.createdAt === right.createdAt
          ? left.eventId.localeCompare(right.eventId)
          : left.createdAt.localeCompare(right.createdAt)
      )
  }

  async #acknowledge(eventId: string): Promise<Acknowledged> {
    try {
      await this.#client.call("acknowledgeEvent", { payload: { eventId } })
      return "acknowledged"
    } catch (error) {
      if (error instanceof Failure && error.exit === EXIT.notFound) return "stale"
      if (isTransient(error)) return "unknown"
      throw error
    }
  }
}
