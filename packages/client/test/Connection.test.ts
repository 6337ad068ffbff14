import { AgentOs, type AgentOsOptions, type Clock, type ConnectionChange, type EventOptions } from "@agentos/client"
import { describe, expect, it, vi } from "vitest"
import { Session } from "../src/realtime/Session.ts"
import { BASE_URL, scripted, ScriptedGateway, ScriptedSession, success } from "./Scripted.ts"

/** A time that a test advances. */
class ManualClock implements Clock {
  time = 0
  #waits: Array<{ readonly until: number; readonly resolve: () => void }> = []

  readonly now = () => this.time

  readonly sleep = (millis: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve()
      this.#waits.push({ until: this.time + millis, resolve })
      signal?.addEventListener("abort", () => resolve())
    })

  async advance(millis: number): Promise<void> {
    this.time += millis
    for (const { resolve, until } of this.#waits) if (until <= this.time) resolve()
    this.#waits = this.#waits.filter(({ until }) => until > this.time)
    await settled()
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const eventOf = (eventId: string) => ({ eventId, type: "email.received", agentId: "mailbox", payload: {} })
const realtime = { token: "rt", expiresAt: "2026-01-31T12:15:00.000Z", websocketUrl: "wss://agentos.example/realtime" }

/** Follows the events of a server until they end. `wrap` changes the class of its sockets. */
const follow = async (
  options: EventOptions,
  wrap: (Socket: NonNullable<AgentOsOptions["WebSocket"]>) => NonNullable<AgentOsOptions["WebSocket"]> = (Socket) =>
    Socket
) => {
  const gateway = new ScriptedGateway((session, { type }) => {
    if (type === "session.authenticate") session.tell({ type: "session.ready" })
  })
  const server = scripted({
    "/api/v1/events/realtime-token": [success({ realtime, items: [], nextCursor: null, pending: 0 })],
    "/api/v1/events": [success({ items: ["a", "b"].map(eventOf), nextCursor: null })],
    "/api/v1/events/ack": [success({ event: eventOf("a") })]
  })
  const clock = new ManualClock()
  const changes: Array<ConnectionChange> = []
  const client = await AgentOs.connect(BASE_URL, {
    ...server.options,
    clock,
    tokens: new Map([[`${BASE_URL} ${server.options.wallet.address}`, "at_v1_x"]]),
    WebSocket: wrap(gateway.WebSocket),
    onConnection: (change) => changes.push(change)
  })
  const handled: Array<string> = []
  const following = (async () => {
    for await (const { eventId } of client.events(options)) handled.push(eventId)
  })()
  const failure = following.then(
    () => undefined,
    (error: unknown) => error
  )
  await vi.waitFor(() => expect(changes).not.toEqual([]), { interval: 5 }).catch(() => undefined)
  return { client, clock, gateway, server, changes, handled, failure, states: () => changes.map(({ state }) => state) }
}

describe("the connection of a stream", () => {
  it("is replaced after 45 s without a ping if the socket shows pings", async () => {
    const pings: Array<() => void> = []
    let terminated = 0
    const { changes, client, clock } = await follow(
      {},
      (Socket) =>
        class extends Socket {
          override readonly on = (_event: "ping", listener: () => void) => pings.push(listener)
          override readonly terminate = () => {
            terminated++
            this.close(1006)
          }
        }
    )
    await clock.advance(10_000)
    await clock.advance(30_000)
    pings[0]?.()
    await clock.advance(5_000)
    await clock.advance(39_999)
    expect([changes, terminated]).toEqual([[{ state: "open" }], 0])
    await clock.advance(1)
    expect(terminated).toBe(1)
    expect(changes.slice(1)).toEqual([
      { state: "closed", reason: "no message from the server for 45 s", retryMillis: expect.any(Number) }
    ])
    client.close()
  })

  it("is replaced after 300 s without a message if the socket shows no pings", async () => {
    const { clock, client, states } = await follow({})
    await clock.advance(10_000)
    await clock.advance(289_999)
    expect(states()).toEqual(["open"])
    await clock.advance(1)
    expect(states()).toEqual(["open", "closed"])
    client.close()
  })

  it("is reported when it opens, and with the reason and the delay when it closes", async () => {
    const { changes, client, clock, gateway } = await follow({})
    gateway.sessions[0]!.close(1012, "The server restarts")
    await settled()
    expect(changes).toEqual([
      { state: "open" },
      { state: "closed", reason: "The server restarts (1012)", retryMillis: expect.any(Number) }
    ])
    const [, closed] = changes
    const delay = closed?.state === "closed" ? closed.retryMillis : 0
    expect(delay).toBeGreaterThanOrEqual(250)
    expect(delay).toBeLessThanOrEqual(500)
    await clock.advance(500)
    expect(changes.slice(2)).toEqual([{ state: "open" }])
    client.close()
  })

  describe("whose sockets are blocked", () => {
    let isBlocked = true
    const blocked = (Socket: NonNullable<AgentOsOptions["WebSocket"]>): typeof Socket =>
      class extends Socket {
        constructor(url: string) {
          super(url)
          if (isBlocked) this.close(1006)
        }
      }

    it("is an error of the first session", async () => {
      isBlocked = true
      const { failure } = await follow({}, blocked)
      expect(await failure).toMatchObject({ code: "UNREACHABLE", message: expect.stringContaining("code 1006") })
    })

    it("polls over REST with `polling`, and opens a socket after a minute", async () => {
      isBlocked = true
      const { client, clock, failure, handled, server, states } = await follow({ polling: true }, blocked)
      await clock.advance(500)
      await vi.waitFor(() => expect(server.to("/api/v1/events/ack")).toHaveLength(2), { interval: 5 })
      expect(states()).toEqual(["closed", "blocked"])
      expect(handled).toEqual(["a", "b"])
      await clock.advance(2_000)
      expect(server.to("/api/v1/events").length).toBeGreaterThan(1)
      isBlocked = false
      await clock.advance(60_000)
      await vi.waitFor(() => expect(states()).toEqual(["closed", "blocked", "open"]), { interval: 5 })
      expect(handled).toEqual(["a", "b"])
      client.close()
      expect(await failure).toBeUndefined()
    })
  })
})

/** Opens a session with sockets of this class. */
const openSession = (WebSocket: new (url: string) => ScriptedSession, mode: "deliver" | "observe") => {
  const { signal } = new AbortController()
  return Session.open({ clock: new ManualClock(), WebSocket }, { ...realtime, mode }, signal)
}

/** A socket whose gateway opens every session. */
class Socket extends ScriptedSession {
  static latest: Socket
  constructor(url: string) {
    super(url, (session, { type }) => {
      if (type === "session.authenticate") session.tell({ type: "session.ready" })
    })
    Socket.latest = this
  }
}

const tell = (count: number): void => {
  for (let index = 0; index < count; index++) Socket.latest.tell({ type: "event.observed", event: eventOf(`${index}`) })
}

describe("a session of the gateway", () => {
  it("stops reading while 256 messages wait, if its socket can", async () => {
    const calls: Array<string> = []
    class Pausable extends Socket {
      readonly pause = () => calls.push("pause")
      readonly resume = () => calls.push("resume")
    }
    const session = await openSession(Pausable, "observe")
    tell(255)
    expect(calls).toEqual([])
    tell(1)
    expect(calls).toEqual(["pause"])
    const messages = session.messages()
    for (let index = 0; index < 128; index++) await messages.next()
    expect(calls).toEqual(["pause"])
    await messages.next()
    expect(calls).toEqual(["pause", "resume"])
    await session.close()
  })

  it("passes on no message after it is replaced, because the next session replays it", async () => {
    const session = await openSession(Socket, "observe")
    const received: Array<string> = []
    const ended = session.receive(({ type }) => received.push(type))
    tell(1)
    session.replace()
    tell(1)
    await ended
    expect(received).toEqual(["event.observed"])
  })

  it("settles every acknowledgement of an event that is acknowledged twice", async () => {
    const session = await openSession(Socket, "deliver")
    const both = Promise.all([session.acknowledge("a", "d1"), session.acknowledge("a", "d2")])
    Socket.latest.tell({ type: "event.acknowledged", eventId: "a" })
    expect(await both).toEqual(["acknowledged", "acknowledged"])
    const lost = session.acknowledge("b", "d3")
    await session.close()
    expect(await lost).toBe("unknown")
    expect(await session.acknowledge("b", "d4")).toBe("unknown")
  })
})
