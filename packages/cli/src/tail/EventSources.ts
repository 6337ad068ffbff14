import { type Acknowledged, backoff, type GatewaySession } from "@agentos/client"
import { EXIT, Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { type Server, type DataOf, serverTime } from "../server/Server.ts"
import { ROUTES } from "../server/Routes.ts"
import { follow, isTransient } from "./Gateway.ts"
import { type Intake, isSelective, listFilter, matches, pause, type TailEvent, type TailFilter } from "./TailEvent.ts"

const LIST_PAGE = 100
const REPLAY_PAGE = 200
const OBSERVE_POLL_MILLIS = 2_000
const WORK_POLL_MILLIS = 1_000

/** Events are ordered by createdAt and eventId, which is the order in which they were stored. */
type Position = Pick<TailEvent, "createdAt" | "eventId">

const isAfter = (event: TailEvent, { createdAt, eventId }: Position): boolean =>
  event.createdAt > createdAt || (event.createdAt === createdAt && event.eventId > eventId)

/**
 * Observes events without leasing them: the unacknowledged ones, or all since a time, and then each new one. Events that
 * were stored without a connection are read from the list, so that none is missed.
 */
export class ObservingSource {
  readonly #context: Context
  readonly #client: Server
  readonly #filter: TailFilter
  readonly #intake: Intake
  #position: Position | undefined

  constructor(context: Context, client: Server, filter: TailFilter, intake: Intake) {
    this.#context = context
    this.#client = client
    this.#filter = filter
    this.#intake = intake
    if (filter.since !== undefined) this.#position = { createdAt: filter.since, eventId: "" }
  }

  follow(stop: AbortSignal): Promise<void> {
    return follow(
      this.#context,
      this.#client,
      {
        mode: "observe",
        serve: (session, startedAt) => this.#serve(session, startedAt),
        serveWithoutSocket: (until) => this.#poll(until)
      },
      stop
    )
  }

  async #serve(session: GatewaySession, startedAt: string): Promise<void> {
    // The session buffers the events that are stored meanwhile.
    await this.#catchUp()
    for await (const message of session.messages()) {
      if (message.type === "event.observed") await this.#show(message.event as TailEvent)
      if (message.type === "session.replay.complete") this.#position ??= { createdAt: startedAt, eventId: "" }
    }
  }

  async #poll(stop: AbortSignal): Promise<void> {
    if (this.#position === undefined) await this.#showUnacknowledged()
    while (!stop.aborted) {
      await this.#catchUp()
      await pause(OBSERVE_POLL_MILLIS, stop)
    }
  }

  async #showUnacknowledged(): Promise<void> {
    const { method, path } = ROUTES.replayEvents
    const answer = await this.#client.send({ method, path, repeatable: true })
    const time = serverTime(answer.headers) ?? new Date(this.#context.host.now()).toISOString()
    const { items } = this.#client.dataOf(answer) as DataOf<"replayEvents">
    for (const event of items) await this.#show(event)
    this.#position ??= { createdAt: time, eventId: "" }
  }

  /** Shows the events after the last shown one. */
  async #catchUp(): Promise<void> {
    const from = this.#position?.createdAt
    if (from === undefined) return
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: DataOf<"listEvents"> = await this.#client.call("listEvents", {
        payload: { ...listFilter(this.#filter), from, limit: LIST_PAGE, ...(cursor === undefined ? {} : { cursor }) }
      })
      for (const event of page.items) await this.#show(event)
      cursor = page.items.length === 0 ? null : page.nextCursor
    }
  }

  async #show(event: TailEvent): Promise<void> {
    if (this.#position !== undefined && !isAfter(event, this.#position)) return
    this.#position = { createdAt: event.createdAt, eventId: event.eventId }
    if (matches(this.#filter, event)) await this.#intake.take({ event, acknowledge: undefined })
  }
}

/**
 * Takes events to handle and acknowledge. The socket leases each event, so that no other session works on it, but it
 * leases them in order. A filter therefore polls over REST, which leases nothing and withholds no event from others.
 */
export class WorkSource {
  readonly #context: Context
  readonly #client: Server
  readonly #filter: TailFilter
  readonly #intake: Intake

  constructor(context: Context, client: Server, filter: TailFilter, intake: Intake) {
    this.#context = context
    this.#client = client
    this.#filter = filter
    this.#intake = intake
  }

  follow(stop: AbortSignal): Promise<void> {
    if (isSelective(this.#filter)) return this.#pollWithRetry(stop)
    return follow(
      this.#context,
      this.#client,
      {
        mode: "deliver",
        serve: (session) => this.#serve(session),
        serveWithoutSocket: (until) => this.#poll(until)
      },
      stop
    )
  }

  async #serve(session: GatewaySession): Promise<void> {
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

  async #pollWithRetry(stop: AbortSignal): Promise<void> {
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
        const millis = backoff(attempts++)
        this.#context.output.note(`${error.message} Retrying in ${(millis / 1_000).toFixed(1)} s.`)
        await pause(millis, stop)
      }
  }

  async #poll(stop: AbortSignal, onAnswer: () => void = () => {}): Promise<void> {
    while (!stop.aborted) {
      const events = await this.#openEvents()
      onAnswer()
      for (const event of events) {
        if (stop.aborted) return
        await this.#intake.take({ event, acknowledge: () => this.#acknowledge(event.eventId) })
      }
      // Acknowledged events are no longer open, so the next poll does not return them again.
      await this.#intake.idle()
      if (events.length < REPLAY_PAGE) await pause(WORK_POLL_MILLIS, stop)
    }
  }

  /** Returns the events that are not leased or acknowledged, in order. */
  async #openEvents(): Promise<ReadonlyArray<TailEvent>> {
    const { items } = await this.#client.call("replayEvents", { query: { limit: REPLAY_PAGE } })
    if (!isSelective(this.#filter)) return items
    // The replay may be full of events that do not match; the list finds those behind them.
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
      .filter((event) => matches(this.#filter, event))
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
