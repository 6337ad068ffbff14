import { type Acknowledged, backoff, type GatewaySession } from "@agentos/client"
import { EXIT, Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import type { DataOf, Server } from "../server/Server.ts"
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
export const observeEvents = (
  context: Context,
  client: Server,
  filter: TailFilter,
  intake: Intake,
  stop: AbortSignal
): Promise<void> => {
  const { since } = filter
  let position: Position | undefined = since === undefined ? undefined : { createdAt: since, eventId: "" }

  const show = async (event: TailEvent): Promise<void> => {
    if (position !== undefined && !isAfter(event, position)) return
    position = { createdAt: event.createdAt, eventId: event.eventId }
    if (matches(filter, event)) await intake.take({ event, acknowledge: undefined })
  }
  /** Shows the events after the last shown one. */
  const catchUp = async (): Promise<void> => {
    const from = position?.createdAt
    if (from === undefined) return
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: DataOf<"listEvents"> = await client.call("listEvents", {
        payload: { ...listFilter(filter), from, limit: LIST_PAGE, ...(cursor === undefined ? {} : { cursor }) }
      })
      for (const event of page.items) await show(event)
      cursor = page.items.length === 0 ? null : page.nextCursor
    }
  }
  const showUnacknowledged = async (): Promise<void> => {
    const { data, time } = await client.callAt("replayEvents")
    for (const event of data.items) await show(event)
    position ??= { createdAt: time, eventId: "" }
  }
  const serve = async (session: GatewaySession, startedAt: string): Promise<void> => {
    // The session buffers the events that are stored meanwhile.
    await catchUp()
    for await (const message of session.messages()) {
      if (message.type === "event.observed") await show(message.event as TailEvent)
      if (message.type === "session.replay.complete") position ??= { createdAt: startedAt, eventId: "" }
    }
  }
  const poll = async (until: AbortSignal): Promise<void> => {
    if (position === undefined) await showUnacknowledged()
    while (!until.aborted) {
      await catchUp()
      await pause(OBSERVE_POLL_MILLIS, until)
    }
  }
  return follow(context, client, { mode: "observe", serve, serveWithoutSocket: poll }, stop)
}

/**
 * Takes events to handle and acknowledge. The socket leases each event, so that no other session works on it, but it
 * leases them in order. A filter therefore polls over REST, which leases nothing and withholds no event from others.
 */
export const workOnEvents = (
  context: Context,
  client: Server,
  filter: TailFilter,
  intake: Intake,
  stop: AbortSignal
): Promise<void> => {
  const serve = async (session: GatewaySession): Promise<void> => {
    try {
      for await (const message of session.messages())
        if (message.type === "event.delivery") {
          const { deliveryId, event } = message
          await intake.take({
            event: event as TailEvent,
            acknowledge: () => session.acknowledge(event.eventId, deliveryId)
          })
        }
    } finally {
      intake.leasesLost()
    }
  }
  const poll = async (until: AbortSignal, onAnswer: () => void = () => {}): Promise<void> => {
    while (!until.aborted) {
      const events = await openEvents(client, filter)
      onAnswer()
      for (const event of events) {
        if (until.aborted) return
        await intake.take({ event, acknowledge: () => acknowledge(client, event.eventId) })
      }
      // Acknowledged events are no longer open, so the next poll does not return them again.
      await intake.idle()
      if (events.length < REPLAY_PAGE) await pause(WORK_POLL_MILLIS, until)
    }
  }
  return isSelective(filter)
    ? withRetry(context, poll, stop)
    : follow(context, client, { mode: "deliver", serve, serveWithoutSocket: poll }, stop)
}

/** Polls until `stop` is aborted. Repeats after errors that may pass, once the server has answered. */
const withRetry = async (
  { output }: Context,
  poll: (stop: AbortSignal, onAnswer: () => void) => Promise<void>,
  stop: AbortSignal
): Promise<void> => {
  let attempts = 0
  let reached = false
  while (!stop.aborted)
    try {
      await poll(stop, () => {
        reached = true
        attempts = 0
      })
    } catch (error) {
      if (stop.aborted) return
      if (!reached || !isTransient(error)) throw error
      const millis = backoff(attempts++)
      output.note(`${error.message} Retrying in ${(millis / 1_000).toFixed(1)} s.`)
      await pause(millis, stop)
    }
}

/** Returns the events that are not leased or acknowledged, in order. */
const openEvents = async (client: Server, filter: TailFilter): Promise<ReadonlyArray<TailEvent>> => {
  const { items } = await client.call("replayEvents", { query: { limit: REPLAY_PAGE } })
  if (!isSelective(filter)) return items
  // The replay may be full of events that do not match; the list finds those behind them.
  const { since } = filter
  const from = since === undefined ? {} : { from: since }
  const { items: listed } = await client.call("listEvents", {
    payload: { ...listFilter(filter), ...from, status: "pending", limit: LIST_PAGE }
  })
  const byId = new Map([...items, ...listed].map((event) => [event.eventId, event]))
  return [...byId.values()]
    .filter((event) => matches(filter, event))
    .toSorted((left, right) =>
      left.createdAt === right.createdAt
        ? left.eventId.localeCompare(right.eventId)
        : left.createdAt.localeCompare(right.createdAt)
    )
}

const acknowledge = async (client: Server, eventId: string): Promise<Acknowledged> => {
  try {
    await client.call("acknowledgeEvent", { payload: { eventId } })
    return "acknowledged"
  } catch (error) {
    if (error instanceof Failure && error.exit === EXIT.notFound) return "stale"
    if (isTransient(error)) return "unknown"
    throw error
  }
}
