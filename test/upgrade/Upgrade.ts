import { plainSql, startPostgres } from "@agentos/postgres/testing"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { privateKeyToAddress } from "viem/accounts"
import { until } from "../support/AttackRig.ts"
import { startCluster } from "../support/Cluster.ts"
import { databaseUrl } from "../support/ClusterDatabase.ts"
import { runServerCommand } from "../support/ServerCommand.ts"
import { TokenLog } from "../support/TokenLog.ts"
import { readEverything } from "./Doors.ts"
import { Load, PRICE } from "./Load.ts"
import { openRelease } from "./Release.ts"

const CURRENT = fileURLToPath(import.meta.resolve("@agentos/server/main"))

/** The programs that the two servers have, one step after the other. */
export type Step = readonly [first: "released" | "current", second: "released" | "current"]

/** Every pair that an upgrade of two servers and its way back go through. */
export const WHOLE: ReadonlyArray<Step> = [
  ["current", "released"],
  ["current", "current"],
  ["released", "current"],
  ["released", "released"],
  ["current", "released"],
  ["current", "current"]
]

export interface UpgradeOptions {
  readonly steps: ReadonlyArray<Step>
  /** The purchases, and the mails, during each step. */
  readonly work: number
  readonly say?: (line: string) => void
}

export interface UpgradeResult {
  readonly problems: ReadonlyArray<string>
  readonly counts: Load["counts"]
  /** The last states of the operations that the release had left open, by the state that it left. */
  readonly continued: Readonly<Record<string, string>>
}

const OPEN =
  "select operation_id as id, state from operations where state in ('claimed', 'settling', 'settled', 'fulfilling', 'refused', 'refund_due')"

/** Starts two servers of a release on what it left, migrates beside them, and replaces them under load. */
export const upgrade = async (
  version: string,
  { say = () => undefined, steps, work }: UpgradeOptions
): Promise<UpgradeResult> => {
  const folder = await mkdtemp(join(tmpdir(), "agentos-upgrade-"))
  const postgres = await startPostgres({ settings: { max_connections: "200" } })
  try {
    const release = await openRelease(version, folder)
    let open: ReadonlyArray<Record<string, unknown>> = []
    const cluster = await startCluster({
      servers: 2,
      telephones: true,
      data: release.writeData,
      serverModule: release.program,
      databaseServer: {
        url: postgres.url,
        servedUrl: postgres.url,
        create: async () => {
          await plainSql(postgres.url, "create database agentos")
          const url = databaseUrl(postgres.url, "agentos")
          await release.restore(url)
          open = await plainSql(url, OPEN)
        }
      }
    })
    try {
      const startedAt = performance.now()
      const note = (line: string) => say(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s: ${line}`)
      const load = await Load.start(cluster, release.customers)
      await load.progress(work)
      note("two released servers")
      const { errors, output, status } = await runServerCommand(["migrate"], cluster.servers[0]!.environment())
      if (status !== 0) load.failures.push(`migrate: ${errors}`)
      await load.progress(work)
      note(`migrated beside them\n${output}`)
      let now: Step = ["released", "released"]
      for (const step of steps) {
        for (const index of [0, 1]) {
          if (step[index] !== now[index])
            await load.replace(index, step[index] === "current" ? CURRENT : release.program)
        }
        now = step
        await load.progress(work)
        note(step.join(" beside "))
        if (load.failures.length > 0) break
      }

      const read = (statement: string) => plainSql(cluster.database.url, statement)
      /** Waits until no row is left, or patience ends. */
      const left = async (what: string): Promise<ReadonlyArray<string>> => {
        const count = () => read(`select count(*)::integer as left from ${what}`)
        const [row] = await until(count, ([found]) => found?.["left"] === 0)
        return row?.["left"] === 0 ? [] : [`${String(row?.["left"])} rows are left of ${what}`]
      }
      const followed = release.customers.map(({ privateKey }) => `'${privateKeyToAddress(privateKey).toLowerCase()}'`)
      const problems = [
        ...(await left(`events join tenants using (tenant_id)
          where status in ('pending', 'delivered') and wallet in (${followed.join(", ")})`))
      ]
      await load.stop()
      problems.push(...load.failures, ...(await left("operations where due_at is not null")))
      const { deferred, mails, purchases, refused } = load.counts
      note(`${purchases} purchases, ${mails} mails of which ${deferred} were repeated, ${refused} refused connections`)

      const ended = new Map(
        (await read("select operation_id as id, state from operations")).map(({ id, state }) => [id, state])
      )
      const payers = new Set(load.buyers.map(({ address }) => address.toLowerCase()))
      const charges = (await new TokenLog(cluster.chain).read()).filter(({ from }) => payers.has(from.toLowerCase()))
      if (charges.length !== purchases) problems.push(`${charges.length} charges for ${purchases} purchases`)
      if (charges.some(({ value }) => value !== PRICE)) problems.push("a purchase was charged another amount")
      const server = cluster.servers[now.indexOf("current")]!
      problems.push(...(await readEverything(server, cluster.database.url, release)))
      note("every row was read")
      if (problems.length > 0) say(cluster.servers.map(({ log }) => log()).join("\n"))
      return {
        problems,
        counts: load.counts,
        continued: Object.fromEntries(open.map(({ id, state }) => [String(state), String(ended.get(id))]))
      }
    } finally {
      await cluster.stop()
    }
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
