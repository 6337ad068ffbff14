import { openCertificateAuthority } from "@agentos/sandbox"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { AgentAnswer } from "../faults/verdict/CallInvariants.ts"

/** The agent's record of one call. */
export interface AgentCall {
  /** It has received a turn, and not answered a word. */
  isThinking: boolean
  readonly asked: Array<string>
  readonly answers: Array<AgentAnswer>
}

/** An agent that streams long answers slowly, so that a kill interrupts one. */
export interface SlowAgent {
  readonly url: string
  readonly port: number
  readonly caFile: string
  /** By call id. */
  readonly calls: ReadonlyMap<string, AgentCall>
  readonly stop: () => Promise<void>
}

const THINK_MILLIS = 400
const WORD_MILLIS = 40
/** Of an answer, which takes two seconds. */
export const WORDS = 50

interface Message {
  readonly callId: string
  readonly turn: { readonly text: string }
}

export const startSlowAgent = async (dataDir: string): Promise<SlowAgent> => {
  const { caFile, certificate, privateKey } = await openCertificateAuthority(dataDir)
  const calls = new Map<string, AgentCall>()

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { callId, turn } = JSON.parse(Buffer.concat(chunks).toString()) as Message
    const call = calls.get(callId) ?? { isThinking: false, asked: [], answers: [] }
    calls.set(callId, call)
    call.asked.push(turn.text)
    call.isThinking = true
    await sleep(THINK_MILLIS)
    call.isThinking = false
    const given: AgentAnswer = { words: [] }
    call.answers.push(given)
    response.writeHead(200, { "Content-Type": "application/x-ndjson" })
    for (let word = 0; word < WORDS && !response.destroyed; word++) {
      const text = word === 0 ? `Answer ${call.answers.length} to ${turn.text}: ` : `word-${word} `
      given.words.push({ text, at: Date.now() })
      response.write(`${JSON.stringify({ text })}\n`)
      await sleep(WORD_MILLIS)
    }
    response.end()
  }
  const server = createServer({ key: privateKey, cert: certificate }, (request, response) => {
    // A killed server cuts the request.
    answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}/`,
    port,
    caFile,
    calls,
    stop: async () => {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    }
  }
}
