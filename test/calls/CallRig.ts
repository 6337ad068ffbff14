import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Wallet } from "../faults/client/Wallet.ts"
import { Testbed } from "../faults/server/Testbed.ts"
import { PhoneCustomer } from "../support/PhoneCustomer.ts"
import { startLoadBalancer } from "./LoadBalancer.ts"
import { type SlowAgent, startSlowAgent } from "./SlowAgent.ts"

/** Servers behind a load balancer, a slow agent, and a customer with money. */
export interface CallRig {
  readonly testbed: Testbed
  readonly agent: SlowAgent
  readonly customer: PhoneCustomer
  readonly stop: () => Promise<void>
}

const FUNDS = 200

/** One server has its database embedded. Of two on one PostgreSQL, the first one that serves receives all calls. */
export const startCallRig = async (servers: 1 | 2): Promise<CallRig> => {
  const cleanup: Array<() => Promise<unknown>> = []
  const stop = async () => {
    for (let end = cleanup.pop(); end !== undefined; end = cleanup.pop()) await end()
  }
  try {
    const directory = await mkdtemp(join(tmpdir(), "agentos-calls-"))
    cleanup.push(() => rm(directory, { recursive: true, force: true }))
    const balancer = await startLoadBalancer()
    cleanup.push(balancer.stop)
    const agent = await startSlowAgent(directory)
    cleanup.push(agent.stop)
    const testbed = await Testbed.start({
      database: servers === 1 ? "pglite" : "postgres",
      servers,
      environment: {
        AGENTOS_PUBLIC_URL: balancer.url,
        AGENTOS_AGENT_WEBHOOK_ALLOW: JSON.stringify([{ host: "127.0.0.1", port: agent.port, caFile: agent.caFile }])
      }
    })
    cleanup.push(testbed.stop)
    balancer.forwardTo(testbed.cluster.servers.map(({ baseUrl }) => Number(new URL(baseUrl).port)))
    const wallet = new Wallet([{ baseUrl: balancer.url }])
    await testbed.treasury.fund([wallet.address], FUNDS)
    return { testbed, agent, customer: new PhoneCustomer(wallet.on(), agent.url), stop }
  } catch (error) {
    await stop()
    throw error
  }
}
