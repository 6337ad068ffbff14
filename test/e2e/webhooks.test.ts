import { openApiDocument } from "@agentos/api"
import { EventRecord, EventStore, type Tenant, Uuid } from "@agentos/core"
import { Effect, Schema } from "effect"
import type { ServerResponse } from "node:http"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Webhook } from "standardwebhooks"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { SHORT_LEASE_MILLIS, testServer } from "../faults/server/TestServer.ts"
import { Realtime } from "../support/Realtime.ts"
import { type RealtimeRig, startRealtimeRig } from "../support/RealtimeRig.ts"
import { type Callback, VoiceAgent } from "../support/VoiceAgent.ts"

const PATH = "/api/v1/events/webhook"
/** A delivery that fails is retried after 5 s, and one whose server dies when its lease has lapsed. */
const PATIENCE = { timeout: 4 * SHORT_LEASE_MILLIS + 15_000, interval: 20 }

let rig: RealtimeRig
let receiver: VoiceAgent
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "agentos-webhooks-"))
  receiver = await VoiceAgent.start(directory)
  const allowed = [{ host: "127.0.0.1", port: receiver.port, caFile: receiver.caFile }]
  const { environment, ...server } = testServer({ leaseMillis: SHORT_LEASE_MILLIS })
  rig = await startRealtimeRig({
    servers: 2,
    ...server,
    environment: { ...environment, AGENTOS_AGENT_WEBHOOK_ALLOW: JSON.stringify(allowed) }
  })
})
afterAll(async () => {
  await rig?.stop()
  receiver?.close()
  await rm(directory, { recursive: true, force: true })
})

interface Delivered {
  readonly eventId: string
  readonly type: string
  readonly status: string
  readonly deliveryCount: number
}

/** The parts of the answers that these tests read. */
interface Answer {
  readonly data: {
    readonly webhook: { readonly webhookId: string }
    readonly signingSecret: string
    readonly items: ReadonlyArray<{
      readonly status: string
      readonly createdAt: string
      readonly nextAttemptAt: string
    }>
  }
  readonly error: { readonly issues: ReadonlyArray<{ readonly path: string }> }
}

/** A tenant with its client, whose requests go to the servers in turn. */
const newClient = async () => {
  const [tenant] = await rig.tenants(1)
  const token = await rig.accessToken(tenant!)
  let asked = 0
  const call = async (method: string, path: string, body?: object) => {
    const { baseUrl } = rig.cluster.servers[asked++ % rig.cluster.servers.length]!
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) })
    })
    return { status: response.status, ...((await response.json()) as Answer) }
  }
  return { tenant: tenant!, call }
}
type Client = Awaited<ReturnType<typeof newClient>>

let endpoints = 0
/** Sets a webhook of the tenant, which answers as given, and returns how to read its requests. */
const endpointOf = async ({ call }: Client, answer: (response: ServerResponse) => unknown) => {
  const path = `/events/${++endpoints}`
  const url = receiver.at(path, (_message, response) => answer(response))
  const set = await call("POST", PATH, { url })
  expect(set.status).toBe(201)
  const requests = () => receiver.of(path)
  return { url, ...set.data, requests }
}

const append = async ({ tenantId }: Tenant, count: number): Promise<ReadonlyArray<string>> => {
  const draft = Effect.map(Uuid.next, (id) => ({
    tenantId,
    type: "email.received" as const,
    source: "smtp",
    service: "email",
    resourceId: id,
    agentId: id,
    payload: {
      mailboxId: id,
      emailId: id,
      from: "bob@example.com",
      subject: "Grüße 👋",
      authentication: null,
      automatic: null,
      receivedAt: "2026-01-31T12:00:00.000Z"
    },
    dedupeKey: id
  }))
  const events = await rig.run(
    Effect.flatMap(EventStore, (store) => Effect.flatMap(Effect.replicateEffect(draft, count), store.append))
  )
  return events.map(({ eventId }) => eventId)
}

/** The headers of a delivery by the OpenAPI document. */
const documented = (
  openApiDocument({ serverUrl: "https://agentos.example", networks: [] })["webhooks"] as unknown as {
    readonly event: { readonly post: { readonly parameters: ReadonlyArray<{ readonly name: string }> } }
  }
).event.post.parameters.map(({ name }) => name)
const decodeRecord = Schema.decodeUnknownSync(EventRecord, { onExcessProperty: "error" })

const idsOf = (requests: ReadonlyArray<Callback>) => requests.map(({ headers }) => headers["webhook-id"])
const ok = (response: ServerResponse) => response.writeHead(204).end()
const statusesOf = async ({ call }: Client): Promise<ReadonlyArray<string>> =>
  (await call("POST", "/api/v1/events/list", { limit: 100 })).data.items.map(({ status }) => status)

describe("an event webhook", () => {
  it("receives signed event records in order, which a Standard Webhooks library verifies, and acknowledges them", async () => {
    const client = await newClient()
    expect(await client.call("GET", PATH)).toMatchObject({ status: 404, error: { code: "RESOURCE_NOT_FOUND" } })
    const before = await append(client.tenant, 2)
    const { requests, signingSecret, url, webhook } = await endpointOf(client, ok)
    expect(webhook).toMatchObject({ url, types: null, status: "active", pausedAt: null })
    const after = await append(client.tenant, 20)
    await vi.waitFor(() => expect(idsOf(requests())).toEqual([...before, ...after]), PATIENCE)
    for (const { body, headers } of requests()) {
      const record = new Webhook(signingSecret).verify(body, headers as Record<string, string>) as Delivered
      expect(record).toMatchObject({ eventId: headers["webhook-id"], status: "delivered", deliveryCount: 1 })
      expect(documented.filter((name) => headers[name] === undefined)).toEqual([])
      expect(decodeRecord(JSON.parse(body))).toEqual(record)
      expect(() => new Webhook(signingSecret).verify(`${body} `, headers as Record<string, string>)).toThrow()
    }
    await vi.waitFor(async () => expect(new Set(await statusesOf(client))).toEqual(new Set(["acknowledged"])), PATIENCE)
    const { items } = (await client.call("GET", `${PATH}/deliveries`)).data
    expect(items).toHaveLength(22)
    expect(items[0]).toMatchObject({ eventId: after.at(-1), attempt: 1, outcome: "succeeded", responseStatus: 204 })
    expect((await client.call("GET", PATH)).data).toEqual({ webhook })

    // A new secret: the previous one signs too.
    const rotated = (await client.call("POST", PATH, { url, types: ["email.received"], rotateSecret: true })).data
    expect(rotated.webhook).toMatchObject({ webhookId: webhook.webhookId, types: ["email.received"] })
    const [last] = await append(client.tenant, 1)
    await vi.waitFor(() => expect(idsOf(requests()).at(-1)).toBe(last), PATIENCE)
    const { body, headers } = requests().at(-1)!
    for (const secret of [signingSecret, rotated.signingSecret]) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ eventId: last })
    }
    const options = await fetch(`${rig.cluster.servers[0]!.baseUrl}${PATH}`, { method: "OPTIONS" })
    expect(options.headers.get("access-control-allow-methods")).toBe("POST, GET, HEAD, DELETE, OPTIONS")
    expect((await client.call("DELETE", PATH)).data).toEqual({ webhookId: webhook.webhookId, deleted: true })
    expect((await client.call("DELETE", PATH)).status).toBe(404)
    expect((await client.call("GET", `${PATH}/deliveries`)).status).toBe(404)
    const asked = requests().length
    await append(client.tenant, 1)
    const socket = await Realtime.connect((await rig.orders([client.tenant]))[0]!)
    await socket.next("session.ready")
    await socket.next("event.delivery")
    socket.close()
    expect(requests()).toHaveLength(asked)
  })

  it("is sent one event at a time by two servers, each event once and in order", async () => {
    const client = await newClient()
    const open = { now: 0, most: 0 }
    const { requests } = await endpointOf(client, (response) => {
      open.most = Math.max(open.most, ++open.now)
      setTimeout(() => {
        open.now--
        ok(response)
      }, 5)
    })
    const events = [...(await append(client.tenant, 60))]
    for (let more = 0; more < 20; more++) events.push(...(await append(client.tenant, 2)))
    await vi.waitFor(() => expect(idsOf(requests())).toHaveLength(events.length), PATIENCE)
    expect(idsOf(requests())).toEqual(events)
    expect(open.most).toBe(1)
  })

  it("is sent a refused event again, later than others, and follows no redirect", async () => {
    const client = await newClient()
    let refused: string | undefined
    const { requests } = await endpointOf(client, (response) => {
      const id = String(requests().at(-1)!.headers["webhook-id"])
      refused ??= id
      if (id === refused && idsOf(requests()).filter((each) => each === id).length === 1) {
        return response.writeHead(307, { location: "https://127.0.0.1/" }).end()
      }
      return ok(response)
    })
    const events = await append(client.tenant, 3)
    await vi.waitFor(() => expect(idsOf(requests())).toEqual([...events, events[0]]), PATIENCE)
    const { items } = (await client.call("GET", `${PATH}/deliveries`)).data
    expect(items.at(-1)).toMatchObject({
      eventId: events[0],
      attempt: 1,
      outcome: "failed",
      responseStatus: 307,
      error: "The endpoint answered with status 307; redirects are not followed."
    })
    const { createdAt, nextAttemptAt } = items.at(-1)!
    expect(Date.parse(nextAttemptAt) - Date.parse(createdAt)).toBeGreaterThanOrEqual(5_000)
    expect(JSON.parse(requests().at(-1)!.body)).toMatchObject({ eventId: events[0], deliveryCount: 2 })
  })

  it("receives an event again under the same id if its server is killed between the 2xx and the acknowledgement", async () => {
    const client = await newClient()
    const { servers } = rig.cluster
    let isFirst = true
    const { requests, signingSecret } = await endpointOf(client, (response) => {
      if (!isFirst) return ok(response)
      isFirst = false
      // The answer arrives at processes that never run again.
      for (const server of servers) server.freeze()
      response.writeHead(200).end()
      return undefined
    })
    const [eventId] = await append(client.tenant, 1)
    await vi.waitFor(() => expect(idsOf(requests())).toEqual([eventId]), PATIENCE)
    await Promise.all(servers.map((server) => server.kill()))
    await Promise.all(servers.map((server) => server.start()))
    await vi.waitFor(() => expect(idsOf(requests())).toEqual([eventId, eventId]), PATIENCE)
    const [first, second] = requests().map(({ body, headers }) =>
      new Webhook(signingSecret).verify(body, headers as Record<string, string>)
    ) as ReadonlyArray<Delivered>
    expect([first!.deliveryCount, second!.deliveryCount]).toEqual([1, 2])
    await vi.waitFor(async () => expect(await statusesOf(client)).toEqual(["acknowledged"]), PATIENCE)
  })

  it.each([
    ["http://example.com/", "must begin with https://"],
    ["https://127.0.0.1/", "must have a host with a public internet address"],
    ["https://169.254.169.254/latest", "must have a host with a public internet address"],
    ["https://localhost/", "must have a host with a public internet address"],
    ["https://user:secret@example.com/", "must not contain a user name or password"]
  ])("refuses the URL %s, stores nothing and connects to nothing", async (url, message) => {
    const client = await newClient()
    const refused = await client.call("POST", PATH, { url })
    expect(refused).toMatchObject({ status: 400, error: { issues: [{ path: "url", message }] } })
    expect((await client.call("GET", PATH)).status).toBe(404)
  })

  it("refuses types that do not exist, and an empty list of types", async () => {
    const client = await newClient()
    const url = receiver.at("/never", () => undefined)
    for (const types of [["email.recieved"], []]) {
      const refused = await client.call("POST", PATH, { url, types })
      expect(refused.status).toBe(400)
      expect(refused.error.issues[0]!.path).toMatch(/^types/)
    }
  })
})
