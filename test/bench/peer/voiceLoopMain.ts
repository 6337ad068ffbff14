import { readFileSync } from "node:fs"
import { once } from "node:events"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { Pool } from "pg"
import { type WebSocket, WebSocketServer } from "ws"
import { answerParent } from "../compare/ChildModule.ts"
import { HOST, portOf } from "./Peer.ts"

export interface VoiceLoopOptions {
  readonly databaseUrl: string
  readonly agentUrl: string
  /** The certificate authority of the agent. */
  readonly caFile: string
}

interface Prompt {
  readonly type: "setup" | "prompt"
  readonly callSid?: string
  readonly voicePrompt?: string
}

const STORE = "insert into turns (call_id, role, text) values ($1, $2, $3)"

/** Yields the texts of the lines of an agent's answer as they arrive. */
const textsOf = async function* (response: Response): AsyncGenerator<string> {
  let left = ""
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (left + chunk).split("\n")
    left = lines.pop()!
    for (const line of lines) yield (JSON.parse(line) as { readonly text: string }).text
  }
}

/** Answers a turn: stores it, asks the agent, and stores the first words of the answer before they are spoken. */
const answer = async (pool: Pool, agentUrl: string, socket: WebSocket, callId: string, text: string): Promise<void> => {
  const stored = pool.query(STORE, [callId, "user", text])
  const response = await fetch(agentUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ callId, turn: { text } })
  })
  await stored
  let isFirst = true
  for await (const token of textsOf(response)) {
    if (isFirst) await pool.query(STORE, [callId, "agent", token])
    isFirst = false
    socket.send(JSON.stringify({ type: "text", token, last: false }))
  }
  socket.send(JSON.stringify({ type: "text", token: "", last: true }))
}

/** A loop of `ws`, fetch and `pg` that a developer would write for one agent. It verifies and recovers nothing. */
answerParent(async ({ agentUrl, caFile, databaseUrl }: VoiceLoopOptions): Promise<number> => {
  setDefaultCACertificates([...getCACertificates("default"), readFileSync(caFile, "utf8")])
  const pool = new Pool({ connectionString: databaseUrl, max: 10 })
  await pool.query(
    "create table turns (turn_id bigint generated always as identity primary key, call_id text not null, role text not null, text text not null)"
  )
  const server = new WebSocketServer({ host: HOST, port: 0, perMessageDeflate: false })
  server.on("connection", (socket) => {
    let callId = ""
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString("utf8")) as Prompt
      if (message.type === "setup") {
        callId = message.callSid!
        socket.send(JSON.stringify({ type: "text", token: "Hello.", last: true }))
        return
      }
      void answer(pool, agentUrl, socket, callId, message.voicePrompt!)
    })
  })
  await once(server, "listening")
  return portOf(server)
})
