import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtemp, rm } from "node:fs/promises"
import { randomBytes } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startCluster } from "../support/Cluster.ts"
import { type BenchRun, DURABLE } from "./Bench.ts"
import type { HttpServer } from "./compare/HttpSides.ts"
import { startServerUnderTest } from "./compare/ServerUnderTest.ts"
import { startVoiceAgents, type VoiceAgents } from "./VoiceAgent.ts"
import { ACCOUNT } from "./VoiceCaller.ts"
import { storeNumbers } from "./VoiceNumbers.ts"

/** A server, agents in another process, and numbers that can be called. */
export interface VoiceService {
  readonly server: HttpServer
  /** The URL of its database; undefined if it is embedded. */
  readonly databaseUrl: string | undefined
  readonly agentUrl: string
  readonly agents: VoiceAgents
  readonly numbers: ReadonlyArray<string>
}

export interface VoiceServiceOptions {
  readonly numbers: number
  readonly thinkMillis: number
  /** PGlite instead of PostgreSQL. */
  readonly isEmbedded: boolean
}

export const startVoiceService = async (
  bench: BenchRun,
  { isEmbedded, numbers: count, thinkMillis }: VoiceServiceOptions
): Promise<VoiceService> => {
  const { atEnd } = bench
  const dataDir = await mkdtemp(join(tmpdir(), "agentos-voice-"))
  atEnd(() => rm(dataDir, { recursive: true, force: true }))
  const agents = await startVoiceAgents({ dataDir, thinkMillis })
  atEnd(agents.stop)
  const carrier = await startLimits()
  atEnd(carrier.stop)
  const agentUrl = `https://127.0.0.1:${agents.port}/`
  const environment = {
    AGENTOS_TWILIO_ACCOUNT_SID: ACCOUNT.sid,
    AGENTOS_TWILIO_AUTH_TOKEN: ACCOUNT.token,
    AGENTOS_TWILIO_API_URL: carrier.url,
    AGENTOS_AGENT_WEBHOOK_ALLOW: JSON.stringify([{ host: "127.0.0.1", port: agents.port, caFile: agents.caFile }])
  }
  if (!isEmbedded) {
    const server = await startServerUnderTest(bench, { environment })
    const databaseUrl = server.rig.cluster.database.url
    return { server, databaseUrl, agentUrl, agents, numbers: await storeNumbers({ url: databaseUrl }, count, agentUrl) }
  }
  let numbers: ReadonlyArray<string> = []
  const cluster = await startCluster({
    servers: 1,
    database: DURABLE,
    embedded: async (directory) => {
      numbers = await storeNumbers({ directory }, count, agentUrl)
    },
    environment: { ...environment, AGENTOS_KEYS: `1:${randomBytes(32).toString("base64")}` }
  })
  atEnd(cluster.stop)
  const [{ baseUrl, pid }] = [cluster.servers[0]!]
  return {
    server: { name: "agentos-server", url: baseUrl, pid: pid() },
    databaseUrl: undefined,
    agentUrl,
    agents,
    numbers
  }
}

/** A carrier that accepts every limit of a call, and supports nothing else. */
const startLimits = async () => {
  const server = createServer((request, response) => {
    request.resume()
    const sid = /\/Calls\/(CA\w+)\.json$/.exec(request.url ?? "")?.[1]
    response.writeHead(sid === undefined ? 503 : 200, { "Content-Type": "application/json" })
    response.end(JSON.stringify(sid === undefined ? {} : { sid, status: "in-progress" }))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
