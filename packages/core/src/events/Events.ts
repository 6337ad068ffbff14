import { Context, Effect, Layer } from "effect"
import * as Cursor from "../kernel/Cursor.ts"
import * as Lookup from "../kernel/Lookup.ts"
import type { Page, PageRequest, Position } from "../kernel/Page.ts"
import { ResourceNotFound, type InvalidRequest, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import type { DurableEvent } from "./DurableEvent.ts"
import { EventStore, type AcknowledgeAllFilter, type EventFilter } from "./EventStore.ts"

export const DEFAULT_LIST_LIMIT = 50
export const DEFAULT_REPLAY_LIMIT = 100
/** Maximum of the number of pending events that is reported. */
export const PENDING_COUNT_LIMIT = 10_000

/** A page of the pending events, and how many of them there are in all pages, up to `PENDING_COUNT_LIMIT`. */
export interface PendingPage extends Page<DurableEvent> {
  readonly pending: number
}

const positionOf = ({ createdAt, eventId }: DurableEvent): Position => ({ createdAt, id: eventId })

/** The inbox of a tenant, read and acknowledged by REST. All of it is free and takes no lease. */
export class Events extends Context.Service<
  Events,
  {
    readonly list: (
      tenantId: TenantId,
      filter: EventFilter,
      page: PageRequest
    ) => Effect.Effect<Page<DurableEvent>, InvalidRequest>
    readonly get: (
      tenantId: TenantId,
      eventId: string
    ) => Effect.Effect<DurableEvent, ResourceNotFound | ResourceNotOwned>
    readonly replay: (tenantId: TenantId, page: PageRequest) => Effect.Effect<PendingPage, InvalidRequest>
    /** Acknowledges the event and returns it as it is afterwards. Idempotent. */
    readonly acknowledge: (
      tenantId: TenantId,
      eventId: string
    ) => Effect.Effect<DurableEvent, ResourceNotFound | ResourceNotOwned>
    readonly acknowledgeAll: (tenantId: TenantId, filter: AcknowledgeAllFilter) => Effect.Effect<number>
  }
>()("@agentos/core/events/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const store = yield* EventStore
      const readPage = yield* Cursor.reader

      const get = (tenantId: TenantId, eventId: string) =>
        Effect.flatMap(store.find(tenantId, eventId), (found) => Lookup.orFail(found, "event", eventId))

      return Events.of({
        list: (tenantId, filter, { cursor, limit = DEFAULT_LIST_LIMIT }) =>
          readPage(
            { tenantId, list: "events", filter },
            { cursor, limit },
            (after, count) => store.list(tenantId, filter, after, count),
            positionOf
          ),
        get,
        replay: Effect.fnUntraced(function* (tenantId, { cursor, limit = DEFAULT_REPLAY_LIMIT }) {
          const page = yield* readPage(
            { tenantId, list: "pending events", filter: null },
            { cursor, limit },
            (after, count) => store.replayable(tenantId, count, after),
            positionOf
          )
          const isWhole = cursor === undefined && page.nextCursor === null
          const pending = isWhole ? page.items.length : yield* store.countReplayable(tenantId, PENDING_COUNT_LIMIT)
          return { ...page, pending }
        }),
        acknowledge: Effect.fnUntraced(function* (tenantId, eventId) {
          yield* get(tenantId, eventId)
          yield* store.acknowledge(tenantId, [{ eventId }])
          return yield* get(tenantId, eventId)
        }),
        acknowledgeAll: store.acknowledgeAll
      })
    })
  )
}
