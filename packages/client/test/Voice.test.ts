import { AgentOs } from "@agentos/client"
import { describe, expect, it, vi } from "vitest"
import { BASE_URL, scripted, ScriptedGateway, success } from "./Scripted.ts"

const sleep = (millis: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, millis)
    signal?.addEventListener("abort", () => {
      clearTimeout(timer)
      resolve()
    })
  })

/** An agent that answers the calls of one number, and the gateway of its voice session. */
const answering = async () => {
  const gateway = new ScriptedGateway((session, { type }) => {
    if (type === "session.authenticate")
      session.tell({ type: "session.ready", sessionId: "s", leaseSeconds: 30, maxInFlight: 64, pending: 0 })
  })
  const realtime = {
    token: "rt",
    expiresAt: "2026-01-31T12:15:00.000Z",
    websocketUrl: "wss://agentos.example/realtime"
  }
  const server = scripted({
    "/api/v1/events/realtime-token": [success({ realtime, items: [], nextCursor: null, pending: 0 })],
    "/api/v1/phone/numbers": [success({ items: [{ phoneNumberId: "mine", number: "+14155550100" }], nextCursor: null })]
  })
  const client = await AgentOs.connect(BASE_URL, {
    ...server.options,
    // The second in which an outbound call waits for its loop is short; the timers of a session must not run out.
    clock: { now: () => Date.now(), sleep: (millis, signal) => sleep(millis === 1_000 ? 20 : millis, signal) },
    tokens: new Map([[`${BASE_URL} ${server.options.wallet.address}`, "at_v1_x"]]),
    WebSocket: gateway.WebSocket
  })
  const [number] = await client.phoneNumbers.list()
  const said: Array<string> = []
  const calls = (async () => {
    for await (const call of number!.calls()) {
      for await (const turn of call.turns()) {
        said.push(turn.text)
        if (turn.text !== "menu") {
          await turn.hangUp()
          continue
        }
        await expect(turn.press("1-2", "One moment.")).rejects.toMatchObject({ code: "INVALID_OPTION" })
        await turn.press("1w2#", "One moment.")
        await turn.reply("", { silenceSeconds: 10 })
        break
      }
    }
  })()
  await vi.waitFor(() => expect(gateway.sessions[0]?.received).toHaveLength(1))
  const [session] = gateway.sessions
  expect(session!.received[0]).toMatchObject({ type: "session.authenticate", mode: "voice", phoneNumberIds: ["mine"] })
  const turnOf = (callId: string, phoneNumberId: string, direction: string) =>
    session!.tell({
      type: "call.turn",
      callId,
      turnId: `turn of ${callId}`,
      phoneNumberId,
      direction,
      from: "+12025550150",
      to: "+14155550100",
      turn: { text: callId, at: "2026-01-31T12:00:00.000Z" },
      transcriptSoFar: []
    })
  const declined = () => session!.received.filter(({ decline }) => decline === true).map(({ callId }) => callId)
  const end = async () => {
    client.close()
    await calls
  }
  return { declined, end, said, session: session!, turnOf }
}

describe("a voice session", () => {
  it("speaks a text before it presses keys, and says how long it waits for speech", async () => {
    const { end, said, session, turnOf } = await answering()
    turnOf("menu", "mine", "inbound")
    await vi.waitFor(() => expect(said).toStrictEqual(["menu"]))
    await vi.waitFor(() => expect(session.received).toHaveLength(4))
    expect(session.received.slice(1)).toMatchObject([
      { type: "call.reply", text: "One moment.", more: true },
      { type: "call.reply", digits: "1w2#" },
      { type: "call.reply", silenceSeconds: 10 }
    ])
    await end()
  })

  it("leaves the calls of numbers that no loop follows to the other sessions of the wallet, at once", async () => {
    const { declined, end, said, turnOf } = await answering()
    turnOf("a", "another", "inbound")
    turnOf("b", "mine", "inbound")
    expect(declined()).toStrictEqual(["a"])
    await vi.waitFor(() => expect(said).toStrictEqual(["b"]))
    await end()
  })

  it("leaves an outbound call that no loop has taken after a second, unless its turn is over by then", async () => {
    const { declined, end, session, turnOf } = await answering()
    turnOf("a", "another", "outbound")
    turnOf("b", "another", "outbound")
    expect(declined()).toStrictEqual([])
    session.tell({ type: "call.interrupted", callId: "a", turnId: "turn of a" })
    await vi.waitFor(() => expect(declined()).toStrictEqual(["b"]))
    await end()
  })

  /** A program that places a call to speak in it, before its session is ready. */
  const placing = async () => {
    const gateway = new ScriptedGateway(() => undefined)
    const realtime = {
      token: "rt",
      expiresAt: "2026-01-31T12:15:00.000Z",
      websocketUrl: "wss://agentos.example/realtime"
    }
    const call = {
      callId: "c",
      phoneNumberId: "mine",
      direction: "outbound",
      fromNumber: "+14155550100",
      toNumber: "+1"
    }
    const numbers = { items: [{ phoneNumberId: "mine", number: "+14155550100" }], nextCursor: null }
    const server = scripted({
      "/api/v1/events/realtime-token": [success({ realtime, items: [], nextCursor: null, pending: 0 })],
      "/api/v1/phone/numbers": [success(numbers)],
      "/api/v1/phone/call-1-minute": [success({ call, operationId: "o" }, 201)]
    })
    const client = await AgentOs.connect(BASE_URL, {
      ...server.options,
      clock: { now: () => Date.now(), sleep },
      tokens: new Map([[`${BASE_URL} ${server.options.wallet.address}`, "at_v1_x"]]),
      WebSocket: gateway.WebSocket
    })
    const [number] = await client.phoneNumbers.list()
    const placed = number!.call({ to: "+12025550150", speak: true })
    placed.catch(() => undefined)
    await vi.waitFor(() => expect(gateway.sessions[0]?.received).toHaveLength(1))
    return { client, gateway, placed, requests: () => server.to("/api/v1/phone/call-1-minute").length }
  }

  it("is connected before a call is placed by a program that speaks in it, and has its first turn", async () => {
    const { client, gateway, placed, requests } = await placing()
    const [session] = gateway.sessions
    expect(requests()).toBe(0)
    session!.tell({ type: "session.ready", sessionId: "s", leaseSeconds: 30, maxInFlight: 64, pending: 0 })
    const call = await placed
    session!.tell({
      type: "call.turn",
      callId: call.id,
      turnId: "t",
      phoneNumberId: "mine",
      direction: "outbound",
      from: "+14155550100",
      to: "+12025550150",
      turn: { text: "Who's there?", at: "2026-01-31T12:00:00.000Z" },
      transcriptSoFar: []
    })
    for await (const turn of call.turns()) {
      expect(turn.text).toBe("Who's there?")
      break
    }
    client.close()
  })

  it("places no call if it cannot be connected", async () => {
    const { client, placed, requests } = await placing()
    client.close()
    await expect(placed).rejects.toMatchObject({ code: "UNREACHABLE", moneyMoved: "no" })
    expect(requests()).toBe(0)
  })
})
