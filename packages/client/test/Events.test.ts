import { AgentOs, type EventRecord } from "@agentos/client"
import { describe, expect, it } from "vitest"
import { BASE_URL, scripted, ScriptedGateway, type ScriptedSession, success } from "./Scripted.ts"

const REALTIME = "/api/v1/events/realtime-token"
const ACKNOWLEDGE = "/api/v1/events/ack"

const eventOf = (eventId: string): EventRecord => ({
  eventId,
  type: "email.received",
  status: "pending",
  source: "smtp",
  service: "email",
  resourceId: eventId,
  agentId: "mailbox",
  createdAt: "2026-01-31T12:00:00.000Z",
  deliveredAt: null,
  acknowledgedAt: null,
  expiresAt: "2026-03-02T12:00:00.000Z",
  deliveryCount: 1,
  payload: {
    type: "email.received",
    eventId,
    mailboxId: "mailbox",
    emailId: eventId,
    from: "bob@example.com",
    subject: eventId,
    authentication: null,
    automatic: null,
    receivedAt: "2026-01-31T12:00:00.000Z"
  }
})

/** Connects to a gateway that opens every session that is not refused, and then calls `serve`. */
const connect = async (
  serve: (session: ScriptedSession, count: number) => void,
  onAcknowledge: (session: ScriptedSession, eventId: string) => void = (session, eventId) =>
    session.tell({ type: "event.acknowledged", eventId }),
  refused = 0
) => {
  const gateway = new ScriptedGateway((session, message) => {
    if (gateway.sessions.length <= refused) return session.close(4401, "The token is revoked")
    if (message["type"] === "session.authenticate") {
      session.tell({ type: "session.ready", sessionId: "s", leaseSeconds: 30, maxInFlight: 64, pending: 0 })
      serve(session, gateway.sessions.length)
    }
    if (message["type"] === "event.ack") onAcknowledge(session, String(message["eventId"]))
  })
  const realtime = {
    token: "rt",
    expiresAt: "2026-01-31T12:15:00.000Z",
    websocketUrl: "wss://agentos.example/realtime"
  }
  const server = scripted({
    [REALTIME]: [success({ realtime, items: [], nextCursor: null, pending: 0 })],
    [ACKNOWLEDGE]: [success({ event: eventOf("x") })]
  })
  const client = await AgentOs.connect(BASE_URL, {
    ...server.options,
    // Real time: the timers of a session must not run out at once.
    clock: { now: () => Date.now(), sleep: (millis, signal) => sleep(Math.min(millis, 60_000), signal) },
    tokens: new Map([[`${BASE_URL} ${server.options.wallet.address}`, "at_v1_x"]]),
    WebSocket: gateway.WebSocket
  })
  return { client, gateway, server }
}

const sleep = (millis: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(millis, 60_000))
    signal?.addEventListener("abort", () => {
      clearTimeout(timer)
      resolve()
    })
  })

describe("a stream of events", () => {
  it("authenticates by a realtime token in the first message, and leases without a filter", async () => {
    const { client, gateway } = await connect((session) =>
      session.tell({ type: "event.delivery", deliveryId: "d1", event: eventOf("a") })
    )
    for await (const event of client.events()) {
      expect(event.eventId).toBe("a")
      await event.acknowledge()
      break
    }
    const [session] = gateway.sessions
    expect(session?.url).toBe("wss://agentos.example/realtime")
    expect(session?.received).toEqual([
      { type: "session.authenticate", token: "rt", mode: "deliver" },
      { type: "event.ack", eventId: "a", deliveryId: "d1" }
    ])
  })

  it("does not handle an event twice whose acknowledgement was lost, and acknowledges it again", async () => {
    const { client, gateway } = await connect(
      (session, count) => {
        session.tell({ type: "event.delivery", deliveryId: `d${count}`, event: eventOf("a") })
        if (count === 2) session.tell({ type: "event.delivery", deliveryId: "e", event: eventOf("b") })
      },
      (session, eventId) =>
        gateway.sessions.length === 1 ? session.close(1012) : session.tell({ type: "event.acknowledged", eventId })
    )
    const handled: Array<string> = []
    for await (const { eventId } of client.events()) {
      handled.push(eventId)
      if (eventId === "b") break
    }
    expect(handled).toEqual(["a", "b"])
    expect(gateway.sessions[1]?.received).toContainEqual({ type: "event.ack", eventId: "a", deliveryId: "d2" })
  })

  it("gets another token if the first session is refused, because another program may have replaced it", async () => {
    const deliver = (session: ScriptedSession) =>
      session.tell({ type: "event.delivery", deliveryId: "d", event: eventOf("a") })
    const { client, server } = await connect(deliver, undefined, 1)
    for await (const { eventId } of client.events()) {
      expect(eventId).toBe("a")
      break
    }
    expect(server.to(REALTIME)).toHaveLength(2)
  })

  it("fails if another token is refused too", async () => {
    const { client, server } = await connect(() => undefined, undefined, 2)
    await expect(client.events().next()).rejects.toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("The token is revoked (4401)")
    })
    expect(server.to(REALTIME)).toHaveLength(2)
  })

  it("observes with a filter, and acknowledges over REST", async () => {
    const { client, gateway, server } = await connect((session) => {
      session.tell({ type: "event.observed", event: { ...eventOf("other"), agentId: "another mailbox" } })
      for (const id of ["a", "b"]) session.tell({ type: "event.observed", event: eventOf(id) })
    })
    for await (const { eventId } of client.events({ types: ["email.received"], agentId: "mailbox" }))
      if (eventId === "b") break
    expect(gateway.sessions[0]?.received).toEqual([{ type: "session.authenticate", token: "rt", mode: "observe" }])
    expect(server.to(ACKNOWLEDGE).map(({ body }) => body)).toEqual(['{"eventId":"a"}'])
  })

  it("holds at most 256 events, and has the others replayed", async () => {
    const acknowledged = new Set<string>()
    const ids = Array.from({ length: 300 }, (_, index) => `event-${index}`)
    const { client, gateway, server } = await connect((session) => {
      for (const { body } of server.to(ACKNOWLEDGE)) acknowledged.add(JSON.parse(String(body)).eventId)
      for (const id of ids) if (!acknowledged.has(id)) session.tell({ type: "event.observed", event: eventOf(id) })
    })
    const handled: Array<string> = []
    for await (const { eventId } of client.events({ types: ["email.received"] }))
      if (handled.push(eventId) === ids.length) break
    expect(handled).toEqual(ids)
    expect(gateway.sessions).toHaveLength(2)
  })

  it("keeps the order when there is room again behind an event that did not fit", async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `event-${index}`)
    const { client, gateway, server } = await connect((session, count) => {
      const acknowledged = server.to(ACKNOWLEDGE).map(({ body }) => JSON.parse(String(body)).eventId)
      const open = count === 1 ? ids.slice(0, 260) : ids.filter((id) => !acknowledged.includes(id))
      for (const id of open) session.tell({ type: "event.observed", event: eventOf(id) })
    })
    const handled: Array<string> = []
    for await (const { eventId } of client.events({ types: ["email.received"] })) {
      if (handled.push(eventId) === ids.length) break
      if (handled.length === 20)
        for (const id of ids.slice(260)) gateway.sessions[0]!.tell({ type: "event.observed", event: eventOf(id) })
    }
    expect(handled).toEqual(ids)
  })
})
