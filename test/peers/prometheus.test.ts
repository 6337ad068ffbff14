import { readFileSync } from "node:fs"
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { generatePrivateKey } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { startPostgres } from "@agentos/postgres/testing"
import { parse, stringify } from "yaml"
import { dashboardExpressions } from "../../lint/Monitoring.ts"
import { namesIn } from "../../lint/Metrics.ts"
import { Agent, freshName } from "../support/Agent.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { Treasury } from "../support/Treasury.ts"
import { freePort } from "./support/MailRig.ts"
import { installPeer } from "./support/PeerRoot.ts"

const { root, title } = await installPeer("prometheus")

const deploy = fileURLToPath(new URL("../../deploy", import.meta.url))

const deployed = (file: string): string => readFileSync(join(deploy, "prometheus", file), "utf8")

/** An alert has to fire within two minutes of its fault. */
const PATIENT = { timeout: 120_000, interval: 1_000 }
const TEST_MILLIS = 300_000

/** Series that exist only while there is something to report; the servers of a test have no limits. */
const CONDITIONAL = new Set([
  "agentos_ledger_unclaimed_transfers",
  "agentos_numbers_unrecorded",
  "agentos_certificate_expiry_timestamp_seconds",
  "agentos_operations_open",
  "agentos_operations_open_oldest_seconds",
  "agentos_rate_limit_refusals_total",
  "agentos_quota_refusals_total",
  "agentos_mail_received_total",
  "agentos_mail_refused_total",
  "agentos_mail_sender_policy_total",
  "agentos_realtime_deliveries_total",
  "agentos_realtime_acknowledgements_total",
  "agentos_webhook_attempts_total",
  "agentos_webhooks_paused_total"
])

interface Rule {
  readonly name: string
  readonly query: string
  readonly health: string
  readonly lastError?: string
  readonly state: "inactive" | "pending" | "firing"
}

describe.skipIf(root === undefined)(title, () => {
  let cluster: Cluster
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let url: string
  let agent: Agent

  const ask = async <A>(path: string): Promise<A> => {
    const response = await fetch(`${url}${path}`)
    const { data } = (await response.json()) as { readonly data: A }
    return data
  }
  const rules = async (): Promise<ReadonlyArray<Rule>> => {
    const { groups } = await ask<{ readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }> }>(
      "/api/v1/rules?type=alert"
    )
    return groups.flatMap((group) => group.rules)
  }
  const stateOf = async (alert: string) => (await rules()).find(({ name }) => name === alert)?.state

  beforeAll(async () => {
    postgres = await startPostgres()
    const token = randomUUID().repeat(2)
    cluster = await startCluster({
      servers: 1,
      databaseServer: { url: postgres.url, servedUrl: postgres.url },
      environment: { AGENTOS_OPERATOR_TOKEN: token }
    })
    agent = new Agent(cluster.servers[0]!, generatePrivateKey())
    await new Treasury(cluster.chain).fund([agent.account.address], 10)

    const configuration = parse(deployed("prometheus.yaml"))
    configuration.global = { scrape_interval: "1s", evaluation_interval: "1s" }
    const operator = cluster.servers[0]!.environment()["AGENTOS_OPERATOR_LISTEN"]
    configuration.scrape_configs[0].static_configs[0].targets = [operator]
    await root!.write("alerts.yaml", deployed("alerts.yaml"))
    await root!.write("operator-token", token)
    const file = await root!.write("prometheus.yaml", stringify(configuration))
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const options = [
      `--config.file=${file}`,
      "--storage.tsdb.path=/peer/data",
      `--web.listen-address=127.0.0.1:${port}`
    ]
    root!.start(["prometheus", ...options])
    await vi.waitFor(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), 60_000)
  })
  afterAll(async () => {
    await cluster?.stop()
    await postgres?.stop()
    await root?.close()
  })

  it("evaluates each rule, over series that the server has, and none fires while all is well", async () => {
    await agent.createMailbox(freshName())
    const seen = async () => new Set(await ask<ReadonlyArray<string>>("/api/v1/label/__name__/values"))
    await vi.waitFor(async () => {
      expect(await seen()).toContain("agentos_database_up")
      for (const { health, name } of await rules()) expect([name, health]).toEqual([name, "ok"])
    }, PATIENT)
    const names = await seen()
    const used = (await rules()).flatMap(({ query }) => query.match(/\b(?:agentos|nodejs|process)_\w+/g) ?? [])
    expect(used.length).toBeGreaterThan(20)
    expect(used.filter((name) => !names.has(name) && !CONDITIONAL.has(name))).toEqual([])
    expect((await rules()).filter(({ state }) => state !== "inactive")).toEqual([])
  })

  it("evaluates each query of the dashboard, over series and labels that the server has", async () => {
    const names = new Set(await ask<ReadonlyArray<string>>("/api/v1/label/__name__/values"))
    const exprs = dashboardExpressions(deploy).map((expr) => expr.replaceAll("$__rate_interval", "5m"))
    expect(exprs.length).toBeGreaterThan(40)
    for (const expr of exprs) {
      const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`)
      expect(await answer.json()).toMatchObject({ status: "success" })
      const { labels, metrics } = namesIn(expr)
      const missing = metrics.filter((metric) => !names.has(metric))
      expect(missing.filter((metric) => !CONDITIONAL.has(metric))).toEqual([])
      if (missing.length > 0) continue
      const matched = metrics.map((metric) => `match[]=${metric}`).join("&")
      expect(await ask(`/api/v1/labels?${matched}`)).toEqual(expect.arrayContaining(labels))
    }
  })

  it("keeps the names of jobs apart from the job of the scrape", async () => {
    expect(await ask("/api/v1/label/job/values")).toEqual(expect.arrayContaining(["agentos", "ledger-audit"]))
  })

  const plan = async (origin: string, fault: object) => {
    const headers = { "content-type": "application/json" }
    const planned = await fetch(`${origin}/sandbox/faults`, { method: "POST", headers, body: JSON.stringify(fault) })
    expect(planned.status).toBe(200)
  }

  it("fires for a relay that fails", async () => {
    const { mailboxId } = await agent.createMailbox(freshName())
    const mail = { mailboxId, to: ["bob@example.com"], subject: "x", text: "x" }
    const isFiring = async () => {
      await agent.pay({ path: "/api/v1/email/messages/send", body: mail })
      expect(await stateOf("AgentOSProviderFails")).toBe("firing")
    }
    await plan(cluster.relayFaultsUrl, { operation: "send", mode: "before", times: 1_000 })
    await vi.waitFor(isFiring, PATIENT)
    await fetch(`${cluster.relayFaultsUrl}/sandbox/faults`, { method: "DELETE" })
  })

  it(
    "fires for a database that ends, and for a server that does",
    async () => {
      await postgres.stop()
      await vi.waitFor(async () => expect(await stateOf("AgentOSDatabaseDown")).toBe("firing"), PATIENT)
      await cluster.servers[0]!.kill()
      await vi.waitFor(async () => expect(await stateOf("AgentOSDown")).toBe("firing"), PATIENT)
    },
    TEST_MILLIS
  )
})
