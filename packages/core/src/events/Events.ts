import { Context, Effect, Layer } from "effect"
import * as Cursor from "../kernel/Cursor.ts"
import { Keyring } from "../kernel/Keyring.ts"
import * as Lookup from "../kernel/Lookup.ts"
import type { Page, Position } from "../kernel/Page.ts"
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
      page: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    ) => Effect.Effect<Page<DurableEvent>, InvalidRequest>
    readonly get: (
      tenantId: TenantId,
      eventId: string
    ) => Effect.Effect<DurableEvent, ResourceNotFound | ResourceNotOwned>
    readonly replay: (
      tenantId: TenantId,
      page: { readonly limit?: number | undefined; readonly cursor?: string | undefined }
    ) => Effect.Effect<PendingPage, InvalidRequest>
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
      const keyring = yield* Keyring

      const get = (tenantId: TenantId, eventId: string) =>
        Effect.flatMap(store.find(tenantId, eventId), (found) => Lookup.orFail(found, "event", eventId))

      return Events.of({
        list: Effect.fnUntraced(
          function* (tenantId, filter, page) {
            const scope = { tenantId, list: "events", filter }
            const limit = page.limit ?? DEFAULT_LIST_LIMIT
            const after = page.cursor === undefined ? undefined : yield* Cursor.decode(scope, page.cursor)
            const found = yield* store.list(tenantId, filter, after, limit + 1)
            return yield* Cursor.page(scope, found, limit, positionOf)
          },
          Effect.provideService(Keyring, keyring)
        ),
        get,
        replay: Effect.fnUntraced(
          function* (tenantId, page) {
            const scope = { tenantId, list: "pending events", filter: null }
            const limit = page.limit ?? DEFAULT_REPLAY_LIMIT
            const after = page.cursor === undefined ? undefined : yield* Cursor.decode(scope, page.cursor)
            const found = yield* store.replayable(tenantId, limit + 1, after)
            const isWhole = after === undefined && found.length <= limit
            const pending = isWhole ? found.length : yield* store.countReplayable(tenantId, PENDING_COUNT_LIMIT)
            return { ...(yield* Cursor.page(scope, found, limit, positionOf)), pending }
          },
          Effect.provideService(Keyring, keyring)
        ),
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
