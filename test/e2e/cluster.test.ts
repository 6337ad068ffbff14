import { EventStore, type Tenant, Uuid } from "@agentos/core"
import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { Effect } from "effect"
import { once } from "node:events"
import { connect } from "node:net"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { Agent, freshName } from "../support/Agent.ts"
import { SHORT_LEASE_MILLIS, testServer } from "../faults/server/TestServer.ts"
import type { ClusterServer } from "../support/Cluster.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { Realtime, type RealtimeMessage } from "../support/Realtime.ts"
import { type RealtimeRig, socketUrl, startRealtimeRig } from "../support/RealtimeRig.ts"

/** Long enough that a signal on a busy machine still differs from a poll. */
const LEASE_MILLIS = 2 * SHORT_LEASE_MILLIS
/** Sessions are maintained three times per lease; a busy machine may be late. */
const ROUND_MILLIS = LEASE_MILLIS / 3
/** The least time that a lease has left, just before its renewal, with a tolerance for clocks. */
const LEASE_REST_MILLIS = LEASE_MILLIS - ROUND_MILLIS - 1_000
/** Events that are stored one after the other, each when the one before it has been delivered. */
const SIGNALS = 10
const LISTENING = "application_name like 'agentos events%'"

let rig: RealtimeRig
beforeAll(async () => {
  rig = await startRealtimeRig({ servers: 2, ...testServer({ leaseMillis: LEASE_MILLIS }) })
})
afterAll(() => rig?.stop())

const [A, B] = [0, 1]
const server = (index: number): ClusterServer => rig.cluster.servers[index]!

const newTenant = async (): Promise<Tenant> => (await rig.tenants(1))[0]!

/** Opens a session of the tenant on a server and waits until its replay is complete. */
const session = async (tenant: Tenant, index: number): Promise<Realtime> => {
  const [order] = await rig.orders([tenant])
  const socket = await Realtime.connect({ ...order!, url: socketUrl(server(index)) })
  await socket.next("session.ready")
  expect((await socket.next("session.replay.complete")).delivered).toBe(0)
  return socket
}

/** Stores events of the tenant from this process and returns their ids. */
const append = async ({ tenantId }: Tenant, count: number): Promise<ReadonlyArray<string>> => {
  const events = await rig.run(
    Effect.gen(function* () {
      const drafts = yield* Effect.replicateEffect(
        Effect.map(Uuid.next, (id) => ({
          tenantId,
          type: "email.received" as const,
          source: "smtp",
          service: "email",
          resourceId: id,
          agentId: id,
          payload: {},
          dedupeKey: id
        })),
        count
      )
      return yield* (yield* EventStore).append(drafts)
    })
  )
  return events.map(({ eventId }) => eventId)
}

/**
 * Expects that a session receives events of the tenant by signals: ten of them take 0.07 s. By polls alone, each would wait
 * for the next round, and all of them at least 36 s.
 */
const expectSignals = async (tenant: Tenant, socket: Realtime): Promise<void> => {
  const startedAt = performance.now()
  for (let count = 0; count < SIGNALS; count++) {
    const ids = await append(tenant, 1)
    expect(idsOf(await deliveries(socket, 1))).toEqual(ids)
  }
  expect(performance.now() - startedAt).toBeLessThan(((SIGNALS - 1) * ROUND_MILLIS) / 3)
}

const deliveries = async (socket: Realtime, count: number): Promise<ReadonlyArray<RealtimeMessage>> => {
  const messages: Array<RealtimeMessage> = []
  while (messages.length < count) {
    const message = await socket.next()
    if (message.type === "event.delivery") messages.push(message)
  }
  return messages
}

const idsOf = (messages: ReadonlyArray<RealtimeMessage>) => messages.map(({ event }) => event?.eventId)

const statusOf = async ({ tenantId }: Tenant, eventId: string) => {
  const found = await rig.run(Effect.flatMap(EventStore, (store) => store.find(tenantId, eventId)))
  return found._tag === "Owned" ? found.value.status : found._tag
}

describe("a server on a PostgreSQL without durability", () => {
  it("logs the settings that can lose data", async () => {
    const warning = "the database runs with fsync off, full_page_writes off, synchronous_commit off"
    for (const index of [A, B]) await expect.poll(() => server(index).log()).toContain(warning)
  })
})

describe("sessions on two servers over one PostgreSQL", () => {
  it("receive at once the events that another server stored", async () => {
    const agent = new Agent(server(A), rig.cluster.chain.wallets[0]!.privateKey)
    await agent.createMailbox(freshName())
    const b = await openOn(agent, B)
    await deliveries(b, 1)
    await b.next("session.replay.complete")
    await agent.createMailbox(freshName())
    const [message] = await deliveries(b, 1)
    expect(message?.event?.type).toBe("payment.completed")
    b.close()
    const tenant = await newTenant()
    const own = await session(tenant, B)
    await expectSignals(tenant, own)
    own.close()
  })

  it("share a tenant's events: each event goes to one session, in order, and only that session may acknowledge it", async () => {
    const tenant = await newTenant()
    const [a, b] = [await session(tenant, A), await session(tenant, B)]
    const stored = await append(tenant, 40)
    const ids: Array<string> = []
    const taken = [new Array<RealtimeMessage>(), new Array<RealtimeMessage>()]
    await Promise.race([
      Promise.all(
        [a, b].map(async (socket, index) => {
          while (ids.length < stored.length) {
            const message = await socket.next()
            if (message.type !== "event.delivery") continue
            taken[index]!.push(message)
            ids.push(message.event!.eventId)
          }
        })
      ),
      vi.waitFor(() => expect(ids).toHaveLength(stored.length), { timeout: 60_000 })
    ])
    expect(ids.toSorted()).toEqual(stored.toSorted())
    for (const mine of taken) expect(idsOf(mine)).toEqual(stored.filter((id) => idsOf(mine).includes(id)))
    const holder = taken[0]!.length > 0 ? 0 : 1
    const { deliveryId, event } = taken[holder]![0]!
    const [own, other] = holder === 0 ? [a, b] : [b, a]
    other.send({ type: "event.ack", eventId: event!.eventId, deliveryId: tenant.tenantId })
    expect(await other.next()).toMatchObject({ type: "event.ack_stale", eventId: event!.eventId })
    expect(await statusOf(tenant, event!.eventId)).toBe("delivered")
    own.send({ type: "event.ack", eventId: event!.eventId, deliveryId })
    await own.next("event.acknowledged")
    expect(await statusOf(tenant, event!.eventId)).toBe("acknowledged")
    a.close()
    b.close()
  })

  it("lose nothing when the listening connections end, and reconnect", async () => {
    const tenant = await newTenant()
    const [a, b] = [await session(tenant, A), await session(await newTenant(), B)]
    const { url } = rig.cluster.database
    const listening = async () =>
      (await execute(url, `select pid from pg_stat_activity where ${LISTENING}`)).map((row) => row["pid"])
    const before = await listening()
    expect(before).toHaveLength(2)
    await execute(url, `select pg_terminate_backend(pid) from pg_stat_activity where ${LISTENING}`)
    const missed = await append(tenant, 3)
    expect(idsOf(await deliveries(a, 3))).toEqual(missed)
    await vi.waitFor(
      async () => {
        const now = await listening()
        expect(now).toHaveLength(2)
        expect(now.some((pid) => before.includes(pid))).toBe(false)
      },
      { timeout: 60_000, interval: 100 }
    )
    await expectSignals(tenant, a)
    a.close()
    b.close()
  })

  it("are closed on every server when the wallet revokes its tokens, and no others", async () => {
    const [other] = await rig.tenants(1)
    const agent = new Agent(server(A), rig.cluster.chain.wallets[1]!.privateKey)
    await agent.createMailbox(freshName())
    const onB = new Agent(server(B), rig.cluster.chain.wallets[1]!.privateKey)
    onB.token = agent.token
    const sockets = [await openOn(agent, A), await openOn(onB, B)]
    const bystander = await session(other!, B)
    const closed = Promise.all(sockets.map((socket) => socket.closed()))
    expect((await onB.send({ path: "/api/v1/events" })).status).toBe(200)
    const renewed = await signIn(agent, "/api/v1/auth/revoke")
    expect((await agent.send({ path: "/api/v1/events" })).status).toBe(401)
    const refused = vi.waitFor(async () => expect((await onB.send({ path: "/api/v1/events" })).status).toBe(401), {
      timeout: 60_000,
      interval: 100
    })
    expect(await closed).toEqual([4401, 4401])
    await refused
    onB.token = renewed
    expect((await onB.send({ path: "/api/v1/events" })).status).toBe(200)
    await append(other!, 1)
    expect(await deliveries(bystander, 1)).toHaveLength(1)
    bystander.close()
  })

  it("take over from a killed server when its leases expire, and not before", async () => {
    const tenant = await newTenant()
    const a = await session(tenant, A)
    const stored = await append(tenant, 3)
    const held = await deliveries(a, 3)
    const b = await session(tenant, B)
    a.socket.on("error", () => undefined)
    const killedAt = performance.now()
    process.kill(server(A).pid(), "SIGKILL")
    const again = await deliveries(b, 3)
    const elapsed = performance.now() - killedAt
    expect(idsOf(again)).toEqual(stored)
    expect(again.map(({ event }) => event?.deliveryCount)).toEqual([2, 2, 2])
    expect(elapsed).toBeGreaterThan(LEASE_REST_MILLIS)
    b.send({ type: "event.ack", eventId: stored[0]!, deliveryId: held[0]!.deliveryId! })
    expect(await b.next()).toMatchObject({ type: "event.ack_stale", eventId: stored[0] })
    b.close()
    await server(A).stop()
    await server(A).start()
  })

  it("take over at once from a server that stops, which finishes the requests under way", async () => {
    const tenant = await newTenant()
    const a = await session(tenant, A)
    const stored = await append(tenant, 3)
    await deliveries(a, 3)
    const b = await session(tenant, B)
    const request = await slowRequest(server(A))
    const closed = a.closed()
    const stoppedAt = performance.now()
    const stopped = server(A).stop()
    expect(await closed).toBe(1012)
    expect(idsOf(await deliveries(b, 3))).toEqual(stored)
    // Takes 0.02 s. Leases that the server had not released would last 7 s more at least.
    expect(performance.now() - stoppedAt).toBeLessThan(LEASE_REST_MILLIS)
    expect(await request.finish()).toMatch(/^HTTP\/1\.1 402 /)
    await stopped
    b.close()
    await server(A).start()
  })
})

/** Opens a session of the agent on a server. */
const openOn = async (agent: Agent, index: number): Promise<Realtime> => {
  const reply = await agent.send({ path: "/api/v1/events/realtime-token" })
  const { token } = reply.body.data["realtime"] as unknown as { readonly token: string }
  const socket = await Realtime.connect({ url: socketUrl(server(index)), token })
  await socket.next("session.ready")
  return socket
}

/** Signs in with the agent's wallet as a stock client does, and returns the access token. */
const signIn = async (agent: Agent, path: string): Promise<string> => {
  const wallet = new x402Client().registerExtension(createSIWxClientExtension({ signers: [agent.account] }))
  const response = await wrapFetchWithPayment(fetch, wallet)(`${server(A).baseUrl}${path}`, { method: "POST" })
  const { data } = (await response.json()) as { readonly data: { authentication: { readonly accessToken: string } } }
  return data.authentication.accessToken
}

/** Sends the first half of a request; `finish` sends the rest and returns the response. */
const slowRequest = async ({ baseUrl }: ClusterServer) => {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  await once(socket, "connect")
  const body = JSON.stringify({ localPart: "slow" })
  const head = `POST /api/v1/email/mailboxes HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 5)}`)
  return {
    finish: async () => {
      let answer = ""
      socket.setEncoding("utf8").on("data", (text: string) => (answer += text))
      socket.write(body.slice(5))
      await once(socket, "close")
      return answer
    }
  }
}
