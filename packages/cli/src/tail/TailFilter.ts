import type { TailEvent } from "./Delivery.ts"

/** Which events are wanted; every part that is given must hold. */
export interface TailFilter {
  readonly types: ReadonlyArray<string>
  readonly service: string | undefined
  /** Created at this moment or later. */
  readonly since: string | undefined
}

/** Whether any event could be refused by it. */
export const isSelective = ({ service, since, types }: TailFilter): boolean =>
  types.length > 0 || service !== undefined || since !== undefined

export const isWanted = ({ service, since, types }: TailFilter, event: TailEvent): boolean =>
  (types.length === 0 || types.includes(event.type)) &&
  (service === undefined || event.service === service) &&
  (since === undefined || event.createdAt >= since)

/** What of it the server can be asked for. */
export const listFilter = ({ service, types }: TailFilter) => ({
  ...(types.length === 0 ? {} : { types }),
  ...(service === undefined ? {} : { service })
})
