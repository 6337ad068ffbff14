import { startPostgres } from "@agentos/postgres/testing"
import { readChainDescription } from "@agentos/sandbox"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { generatePrivateKey } from "viem/accounts"
import { Agent } from "../support/Agent.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import { PhoneCustomer } from "../support/PhoneCustomer.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"
import { Treasury } from "../support/Treasury.ts"
import { WITHOUT_LIMITS } from "../support/WithoutLimits.ts"
import { startFrontDoor } from "./FrontDoor.ts"
import { type SlowAgent, startSlowAgent } from "./SlowAgent.ts"

/** A sandbox whose servers are behind a front door, a slow agent, and a customer with money. */
export interface CallRig {
  readonly agent: SlowAgent
  readonly carrier: PhoneCarrier
  readonly customer: PhoneCustomer
  /** Ends a server, and answers when. The supervisor starts it again. */
  readonly end: (place: number, signal: "SIGKILL" | "SIGTERM") => Promise<number>
  readonly stop: () => Promise<void>
}

const SERVER = fileURLToPath(new URL("callServerMain.ts", import.meta.url))
const FUNDS = 200
const SERVING_MILLIS_MAX = 60_000
const POLL_MILLIS = 50

/** One server has its database embedded; several share a PostgreSQL, and the first one that serves leads all calls. */
export const startCallRig = async (servers: 1 | 2): Promise<CallRig> => {
  const cleanup: Array<() => Promise<unknown>> = []
  const stop = async () => {
    for (let end = cleanup.pop(); end !== undefined; end = cleanup.pop()) await end()
  }
  try {
    const directory = await mkdtemp(join(tmpdir(), "agentos-calls-"))
    cleanup.push(() => rm(directory, { recursive: true, force: true }))
    const door = await startFrontDoor()
    cleanup.push(door.stop)
    const agent = await startSlowAgent(join(directory, "agent"))
    cleanup.push(agent.stop)
    const postgres = servers === 1 ? undefined : await startPostgres({ settings: { max_connections: "200" } })
    if (postgres !== undefined) cleanup.push(postgres.stop)
    const sandbox = await startSandbox({
      directory: join(directory, "sandbox"),
      isPrepared: true,
      arguments: [
        "--no-tour",
        "--servers",
        String(servers),
        "--allow-webhook",
        `127.0.0.1:${agent.port}`,
        "--allow-webhook-ca",
        agent.caFile
      ],
      environment: {
        DATABASE_URL: postgres?.url ?? "",
        ...WITHOUT_LIMITS,
        AGENTOS_SANDBOX_SERVER_MODULE: SERVER,
        AGENTOS_TEST_PUBLIC_URL: door.url
      }
    })
    cleanup.push(sandbox.stop)
    const description = await sandbox.describe()
    door.lead(description.servers.map(({ baseUrl }) => Number(new URL(baseUrl).port)))
    const chain = await readChainDescription(join(directory, "sandbox", "chain"))
    if (chain === undefined) throw new Error("the sandbox runs without a chain")
    const wallet = new Agent({ baseUrl: door.url }, generatePrivateKey())
    await new Treasury(chain).fund([wallet.account.address], FUNDS)
    return {
      agent,
      carrier: new PhoneCarrier(description),
      customer: new PhoneCustomer(wallet, agent.url),
      ...ending(sandbox),
      stop
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Ends the server of this place in the sandbox's list. */
const ending = (sandbox: Sandbox): Pick<CallRig, "end"> => {
  const ended = new Set<number>()
  return {
    end: async (place, signal) => {
      const deadline = performance.now() + SERVING_MILLIS_MAX
      for (;;) {
        const pid = (await sandbox.describe()).servers[place]!.pid
        if (!ended.has(pid)) {
          ended.add(pid)
          process.kill(pid, signal)
          return Date.now()
        }
        if (performance.now() > deadline) throw new Error("the server does not come back")
        await sleep(POLL_MILLIS)
      }
    }
  }
}
