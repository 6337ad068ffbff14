import { copyFileSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { type Installation, NODE_VERSIONS } from "./Installation.ts"

/** The tests of an adapter as its author writes them: a harness, and a suite that is given the harness. */
const TESTS = fileURLToPath(new URL("../../packages/memory/test", import.meta.url))
const FILES = ["MemoryHarness.ts", "EventStoreMemory.test.ts", "TenantStoreMemory.test.ts"]

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
}

/** Tests the contract suites in a project that has only the installed packages and their peers for tests. */
export const contractSuite = (installed: () => Installation): void => {
  it.each(NODE_VERSIONS)("run on an adapter on Node %i", async (version) => {
    const { folder, run } = installed()
    mkdirSync(join(folder, "adapter"), { recursive: true })
    for (const name of FILES) copyFileSync(join(TESTS, name), join(folder, "adapter", name))
    const file = join(folder, "adapter.json")
    await run(version, "npx", "vitest", "run", "--root", "adapter", "--reporter=json", `--outputFile=${file}`)
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(file, "utf8")) as Report
    expect(numFailedTests).toBe(0)
    expect(numPassedTests).toBeGreaterThan(50)
  })
}
