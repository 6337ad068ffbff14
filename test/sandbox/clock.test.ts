import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, it, onTestFinished } from "vitest"
import { type SandboxDescription, sandboxClient } from "@agentos/sandbox"
import { startSandbox } from "../support/Sandbox.ts"

const MAIN = fileURLToPath(import.meta.resolve("@agentos/sandbox/main"))
const DAY_SECONDS = 86_400
const directory = mkdtempSync(join(tmpdir(), "agentos-clock-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Clock {
  readonly now: string
  readonly offsetSeconds: number
}

const daysAhead = ({ now }: Clock): number => (Date.parse(now) - Date.now()) / DAY_SECONDS / 1_000

/** Returns how many days the time of a chain is ahead. */
const daysAheadOf = async ({ rpcUrl }: SandboxDescription["chains"][number]): Promise<number> => {
  const { timestamp } = await sandboxClient(rpcUrl).getBlock()
  return Number(timestamp) / DAY_SECONDS - Date.now() / DAY_SECONDS / 1_000
}

it("moves the time of the server, the chains and the stand-ins, which outlasts a restart", async () => {
  const start = async () => {
    const sandbox = await startSandbox({ directory, networks: 2 })
    onTestFinished(async () => void (await sandbox.stop()))
    return sandbox
  }
  const sandbox = await start()
  const { baseUrl, chains, clock } = await sandbox.describe()
  const url = clock?.url ?? ""
  const post = (body: unknown) =>
    fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
  expect(await (await fetch(url)).json()).toMatchObject({ offsetSeconds: 0 })
  for (const advanceSeconds of [0, -1, 366 * DAY_SECONDS]) expect((await post({ advanceSeconds })).status).toBe(400)

  const moved = (await (await post({ advanceSeconds: 31 * DAY_SECONDS })).json()) as Clock
  expect(moved.offsetSeconds).toBe(31 * DAY_SECONDS)
  expect(daysAhead(moved)).toBeCloseTo(31, 2)
  expect((await fetch(`${baseUrl}/health/ready`)).status).toBe(200)
  expect(await Promise.all(chains.map(daysAheadOf))).toEqual([expect.closeTo(31, 2), expect.closeTo(31, 2)])
  // Its payments are valid for seconds: for the server, the facilitator and the chain alike.
  const tour = () => spawnSync(process.execPath, [MAIN, "tour", "--data", directory], { encoding: "utf8" })
  expect(tour().stdout).toMatch(/The tour took/)

  await sandbox.stop()
  const again = await start()
  const { chains: continued, clock: resumed } = await again.describe()
  expect(await Promise.all(continued.map(daysAheadOf))).toEqual([expect.closeTo(31, 2), expect.closeTo(31, 2)])
  expect(daysAhead((await (await fetch(resumed?.url ?? "")).json()) as Clock)).toBeCloseTo(31, 2)
  expect(tour().stdout).toMatch(/The tour took/)
})
