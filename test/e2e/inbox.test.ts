import { EventStore, type Tenant, Uuid } from "@agentos/core"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RealtimeRig, startRealtimeRig } from "../support/RealtimeRig.ts"

/** Events per second. */
const RATE = 200
const SECONDS = 2
const ACK_ALLS = 30

let rig: RealtimeRig
beforeAll(async () => {
  rig = await startRealtimeRig({ servers: 2 })
})
afterAll(() => rig?.stop())

interface ListedEvent {
  readonly eventId: string
  readonly status: string
  readonly createdAt: string
}

/** Returns a client of the tenant that sends its requests to the servers in turn. */
const inboxOf = async (tenant: Tenant) => {
  const token = await rig.accessToken(tenant)
  let asked = 0
  const ask = async <Data>(path: string, body: Readonly<Record<string, unknown>>): Promise<Data> => {
    const { baseUrl } = rig.cluster.servers[asked++ % rig.cluster.servers.length]!
    const response = await fetch(`${baseUrl}/api/v1/events/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify(body)
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${path} failed with ${response.status}: ${text}`)
    const { data }: { readonly data: Data } = JSON.parse(text)
    return data
  }
  /** Lists all events page by page. */
  const list = async (limit: number): Promise<ReadonlyArray<ListedEvent>> => {
    const listed: Array<ListedEvent> = []
    let cursor: string | null = null
    do {
      const page: { readonly items: ReadonlyArray<ListedEvent>; readonly nextCursor: string | null } = await ask(
        "list",
        cursor === null ? { limit } : { limit, cursor }
      )
      listed.push(...page.items)
      cursor = page.nextCursor
    } while (cursor !== null)
    return listed
  }
  const acknowledgeAll = async (before: string): Promise<number> =>
    (await ask<{ readonly acknowledged: number }>("ack-all", { before })).acknowledged
  return { list, acknowledgeAll }
}

/** Stores events of the tenant, one per transaction, until `stop` or until `most` are stored. */
const pour = (tenant: Tenant, most: number) => {
  let isOver = false
  const stored: Array<string> = []
  const appendOne = Effect.gen(function* () {
    const id = yield* Uuid.next
    const common = { type: "email.received", source: "smtp", service: "email", payload: {} } as const
    const names = { tenantId: tenant.tenantId, resourceId: id, agentId: id, dedupeKey: id }
    const [event] = yield* (yield* EventStore).append([{ ...common, ...names }])
    stored.push(event!.eventId)
  })
  const over = (async () => {
    const appending: Array<Promise<void>> = []
    const startedAt = performance.now()
    while (!isOver && appending.length < most) {
      const due = Math.min(most, ((performance.now() - startedAt) / 1_000) * RATE)
      while (appending.length < due) appending.push(rig.run(appendOne))
      await sleep(2)
    }
    await Promise.all(appending)
  })()
  return {
    stored,
    over,
    stop: () => {
      isOver = true
      return over
    }
  }
}

const idsOf = (events: ReadonlyArray<ListedEvent>) => events.map(({ eventId }) => eventId)

describe("an inbox under a stream of new events, on two servers", () => {
  it("is listed page by page without a gap or a repeat", async () => {
    const [tenant] = await rig.tenants(1)
    const inbox = await inboxOf(tenant!)
    const { over, stored } = pour(tenant!, RATE * SECONDS)
    let isOver = false
    void over.then(() => (isOver = true))
    const readings: Array<{ readonly known: ReadonlyArray<string>; readonly listed: ReadonlyArray<string> }> = []
    while (!isOver) {
      const known = [...stored]
      readings.push({ known, listed: idsOf(await inbox.list(readings.length % 2 === 0 ? 25 : 100)) })
    }
    await over
    const all = idsOf(await inbox.list(100))
    expect(all.toSorted()).toEqual(stored.toSorted())
    expect(all).toHaveLength(RATE * SECONDS)
    for (const { known, listed } of readings) {
      expect(listed).toEqual(all.slice(0, listed.length))
      expect(listed).toEqual(expect.arrayContaining([...known]))
    }
    // A listing that is as fast as the stream includes events that were stored while it ran.
    expect(readings.some(({ known, listed }) => listed.length > known.length)).toBe(true)
  })

  it("is acknowledged exactly up to each of 30 cutoffs", async () => {
    const [tenant] = await rig.tenants(1)
    const inbox = await inboxOf(tenant!)
    const pouring = pour(tenant!, Number.MAX_SAFE_INTEGER)
    const ended: Array<{ readonly before: string; readonly count: number }> = []
    while (ended.length < ACK_ALLS) {
      const before = new Date().toISOString()
      ended.push({ before, count: await inbox.acknowledgeAll(before) })
    }
    await pouring.stop()
    const events = await inbox.list(100)
    expect(events).toHaveLength(pouring.stored.length)
    ended.forEach(({ before, count }, index) => {
      const from = ended[index - 1]?.before ?? ""
      expect(count, `ack-all ${index}`).toBe(
        events.filter(({ createdAt }) => from <= createdAt && createdAt < before).length
      )
    })
    const last = ended.at(-1)!.before
    for (const { createdAt, status } of events) expect(status).toBe(createdAt < last ? "acknowledged" : "pending")
  })
})
