import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { type WebSocket, WebSocketServer } from "ws"
import { useApiDouble } from "../support/ApiDouble.ts"
import { play, removeFolders } from "../support/InProcess.ts"
import { AT, ID, LATER, NUMBER, PERSON } from "../support/Samples.ts"

const api = useApiDouble()
let gateway: WebSocketServer
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ["Date"] })
  gateway = new WebSocketServer({ port: 0, host: "127.0.0.1" })
  await once(gateway, "listening")
})
afterAll(() => {
  vi.useRealTimers()
  gateway.close()
  removeFolders()
})

const turn = {
  type: "call.turn",
  callId: ID,
  turnId: "0190f3c2-0000-7000-8000-000000000002",
  phoneNumberId: ID,
  direction: "inbound",
  from: PERSON,
  to: NUMBER,
  turn: { text: "Is this Ada?", at: AT },
  transcriptSoFar: []
}
const { callId, turnId } = turn
type Message = Readonly<Record<string, unknown>>

/** Runs `voice answer` and returns the messages of the session. `talk` plays the service after the first turn. */
const answer = async (exec: string, talk: (socket: WebSocket, received: ReadonlyArray<Message>) => void = () => {}) => {
  const received: Array<Message> = []
  gateway.removeAllListeners("connection")
  gateway.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message
      received.push(message)
      if (message["type"] === "session.authenticate") {
        socket.send(JSON.stringify({ type: "session.ready" }))
        socket.send(JSON.stringify(turn))
      }
      talk(socket, received)
    })
  })
  const { port } = gateway.address() as AddressInfo
  const realtime = { token: "t", expiresAt: LATER, websocketUrl: `ws://127.0.0.1:${port}` }
  const scene = {
    args: ["voice", "answer", "--exec", exec, "--number", ID],
    exit: 130,
    server: { "GET /api/v1/events/realtime-token": [{ data: { realtime, items: [] } }] },
    // One line is printed per turn.
    interrupt: { said: '"interrupted":' }
  }
  const { exit, text } = await play(api, scene, "program")
  assert.strictEqual(exit, 130, text)
  const [authenticate, ...replies] = received
  assert.deepInclude(authenticate, { type: "session.authenticate", mode: "voice", phoneNumberIds: [ID] })
  return { text, replies }
}
const reply = (more: object) => ({ type: "call.reply", callId, turnId, ...more })

describe("agentctl voice answer", () => {
  it("presses the keys and awaits the silence of a line that names them, in the order of the lines", async () => {
    const { replies } = await answer(
      "printf 'One moment.\\n[press 1w2#]\\n[press 1a]\\n[silence 10]\\n[silence 61]\\n'"
    )
    assert.deepStrictEqual(replies, [
      reply({ text: "One moment.\n", more: true }),
      reply({ digits: "1w2#", more: true }),
      reply({ text: "[press 1a]\n", more: true }),
      reply({ silenceSeconds: 10, more: true }),
      reply({ text: "[silence 61]\n", more: true }),
      reply({})
    ])
  })

  it("runs the command for a turn and speaks each line when it is complete", async () => {
    const { replies, text } = await answer(`node -e 'process.stdin.on("data", (line) => {
      const { turn, callId } = JSON.parse(line)
      console.log("You said: " + turn.text)
      process.stdout.write(callId === process.env.AGENTOS_CALL_ID ? "Yes." : "No.")
    })'`)
    assert.deepStrictEqual(replies, [
      reply({ text: "You said: Is this Ada?\n", more: true }),
      reply({ text: "Yes.", more: true }),
      reply({})
    ])
    const line = text.split("\n").find((each) => each.startsWith("{"))!
    assert.deepInclude(JSON.parse(line), {
      callId,
      turnId,
      heard: "Is this Ada?",
      text: "You said: Is this Ada?\nYes.",
      hangup: false,
      interrupted: false
    })
  })

  it("ends the call if the command exits with 10", async () => {
    const { replies } = await answer("echo Bye; exit 10")
    assert.deepStrictEqual(replies, [reply({ text: "Bye\n", more: true }), reply({ hangup: true })])
  })

  it("does not answer if the command fails without output, and says why", async () => {
    const { replies, text } = await answer("exit 3")
    assert.deepStrictEqual(replies, [])
    assert.include(text, `! Call ${callId}: the command exited with 3.`)
  })

  it("ends the command if the caller speaks over the answer", async () => {
    const { replies, text } = await answer("echo Well; sleep 30; echo never", (socket, received) => {
      if (received.length === 2) socket.send(JSON.stringify({ type: "call.interrupted", callId, turnId }))
    })
    assert.deepStrictEqual(replies, [reply({ text: "Well\n", more: true })])
    assert.include(text, '"interrupted":true')
  })

  it("keeps the secrets from the command", async () => {
    const { replies } = await answer('echo "[$AGENTOS_PRIVATE_KEY$AGENTOS_TOKEN]"')
    assert.deepInclude(replies[0], { text: "[]\n" })
  })

  it("requires --exec", async () => {
    const { exit, text } = await play(api, { args: ["voice", "answer"], exit: 3 }, "program")
    assert.deepStrictEqual([exit, text.includes("Missing flag --exec.")], [3, true])
  })
})
