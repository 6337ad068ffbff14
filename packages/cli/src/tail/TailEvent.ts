import type { Acknowledged } from "@agentos/client"
import { setTimeout as sleep } from "node:timers/promises"
import type { DataOf } from "../server/Server.ts"

export type { Acknowledged }

export type TailEvent = DataOf<"getEvent">["event"]

/** A received event. It can be acknowledged unless it was only observed. */
export interface Delivery {
  readonly event: TailEvent
  readonly acknowledge: (() => Promise<Acknowledged>) | undefined
}

/** The receiver of deliveries. */
export interface Intake {
  /** Takes the deliveries in order. Resolves when there is room for the next. */
  readonly take: (delivery: Delivery) => Promise<void>
  /** Reports that all leases are lost: events that have not started are delivered again, perhaps to another session. */
  readonly leasesLost: () => void
  /** Resolves when no taken event is waiting or running. */
  readonly idle: () => Promise<void>
}

/** Selects events. All given parts must match. */
export interface TailFilter {
  readonly types: ReadonlyArray<string>
  readonly service: string | undefined
  /** Created at this time or later. */
  readonly since: string | undefined
}

/** Whether the filter can reject an event. */
export const isSelective = ({ service, since, types }: TailFilter): boolean =>
  types.length > 0 || service !== undefined || since !== undefined

export const matches = ({ service, since, types }: TailFilter, event: TailEvent): boolean =>
  (types.length === 0 || types.includes(event.type)) &&
  (service === undefined || event.service === service) &&
  (since === undefined || event.createdAt >= since)

/** The part of a filter that the server applies. */
export const listFilter = ({ service, types }: TailFilter) => ({
  ...(types.length === 0 ? {} : { types }),
  ...(service === undefined ? {} : { service })
})

/** Waits for a time or until `stop` is aborted. Never rejects. */
export const pause = async (millis: number, stop?: AbortSignal): Promise<void> => {
  await Promise.allSettled([sleep(millis, undefined, stop && { signal: stop })])
}
