import { openCertificateAuthority } from "@agentos/sandbox"
import { createServer } from "node:https"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { AgentsAnswer, AgentsCommand, OwnTime } from "./VoiceAgent.ts"

/** The pieces of an answer after its first words, and the time between them. */
const MORE_PIECES = ["a little more, ", "and more of it, ", "and that is all."]
const PIECE_MILLIS = 40

const times: Array<OwnTime> = []

const answer = async (thinkMillis: number, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  // Measured from the first byte of the request, so that it does not include work of the service.
  const askedAt = performance.now()
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { turn } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly turn: { readonly text: string } }
  await sleep(thinkMillis)
  response.writeHead(200, { "Content-Type": "application/x-ndjson" })
  const say = (text: string) => response.write(`${JSON.stringify({ text })}\n`)
  say(`You said ${turn.text}: `)
  times.push([turn.text, performance.now() - askedAt])
  for (const piece of MORE_PIECES) {
    await sleep(PIECE_MILLIS)
    say(piece)
  }
  response.end()
}

const start = async ({ dataDir, thinkMillis }: AgentsCommand): Promise<AgentsAnswer> => {
  const { caFile, certificate, privateKey } = await openCertificateAuthority(dataDir)
  const server = createServer({ key: privateKey, cert: certificate }, (request, response) => {
    answer(thinkMillis, request, response).catch((error: unknown) => {
      // The server has closed the connection.
      response.destroy(error instanceof Error ? error : undefined)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { type: "ready", port: (server.address() as AddressInfo).port, caFile }
}

process.on("message", (message: AgentsCommand | "times") => {
  const answered: Promise<AgentsAnswer> =
    message === "times" ? Promise.resolve({ type: "times", times: times.splice(0) }) : start(message)
  void answered.then((sent) => process.send?.(sent))
})
process.once("disconnect", () => process.exit(0))
