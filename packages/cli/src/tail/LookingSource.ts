import type { Context } from "../command/Handler.ts"
import type { ApiClient, DataOf } from "../server/ApiClient.ts"
import { ROUTES } from "../server/Routes.ts"
import { serverTime } from "../server/ServerTime.ts"
import type { Intake, TailEvent } from "./Delivery.ts"
import { pause } from "./Pause.ts"
import type { RealtimeSession } from "./RealtimeSession.ts"
import { followSocket } from "./SocketFollower.ts"
import { isWanted, listFilter, type TailFilter } from "./TailFilter.ts"

const PAGE = 100
const POLL_MILLIS = 2_000

/** Where looking has got to. Events are ordered by createdAt, then eventId, which is the order in which they were stored. */
type Position = Pick<TailEvent, "createdAt" | "eventId">

const isAfter = (event: TailEvent, { createdAt, eventId }: Position): boolean =>
  event.createdAt > createdAt || (event.createdAt === createdAt && event.eventId > eventId)

/**
 * Looks at events and takes nothing from anybody: what is unacknowledged, or everything since a moment; then each as it
 * is stored. What came while there was no connection is read from the list, so that nothing is left out.
 */
export class LookingSource {
  readonly #context: Context
  readonly #client: ApiClient
  readonly #filter: TailFilter
  readonly #intake: Intake
  #position: Position | undefined

  constructor(context: Context, client: ApiClient, filter: TailFilter, intake: Intake) {
    this.#context = context
    this.#client = client
    this.#filter = filter
    this.#intake = intake
    if (filter.since !== undefined) this.#position = { createdAt: filter.since, eventId: "" }
  }

  follow(stop: AbortSignal): Promise<void> {
    return followSocket(
      this.#context,
      this.#client,
      {
        mode: "observe",
        serve: (session, at) => this.#serve(session, at),
        serveWithoutSocket: (enough) => this.#poll(enough)
      },
      stop
    )
  }

  async #serve(session: RealtimeSession, at: string): Promise<void> {
    // After the session has begun: what is stored meanwhile waits in it.
    await this.#catchUp()
    for await (const message of session.messages()) {
      if (message.type === "event.observed") await this.#show(message.event as TailEvent)
      if (message.type === "session.replay.complete") this.#position ??= { createdAt: at, eventId: "" }
    }
  }

  async #poll(stop: AbortSignal): Promise<void> {
    if (this.#position === undefined) await this.#showUnacknowledged()
    while (!stop.aborted) {
      await this.#catchUp()
      await pause(POLL_MILLIS, stop)
    }
  }

  /** Shows all that is newer than what was shown last. */
  async #catchUp(): Promise<void> {
    if (this.#position === undefined) return
    await this.#list({ from: this.#position.createdAt })
  }

  async #showUnacknowledged(): Promise<void> {
    const { method, path } = ROUTES.replayEvents
    const answer = await this.#client.send({ method, path, repeatable: true })
    const at = serverTime(answer.headers) ?? new Date(this.#context.host.now()).toISOString()
    const { items } = this.#client.dataOf(answer) as DataOf<"replayEvents">
    for (const event of items) await this.#show(event)
    this.#position ??= { createdAt: at, eventId: "" }
  }

  async #list(range: { readonly from: string }): Promise<void> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: DataOf<"listEvents"> = await this.#client.call("listEvents", {
        payload: { ...listFilter(this.#filter), ...range, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }
      })
      for (const event of page.items) await this.#show(event)
      cursor = page.items.length === 0 ? null : page.nextCursor
    }
  }

  async #show(event: TailEvent): Promise<void> {
    if (this.#position !== undefined && !isAfter(event, this.#position)) return
    this.#position = { createdAt: event.createdAt, eventId: event.eventId }
    if (isWanted(this.#filter, event)) await this.#intake.take({ event, acknowledge: undefined })
  }
}
