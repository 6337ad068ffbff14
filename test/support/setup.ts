import { BUILT_VARIABLE } from "@agentos/cli/testing"
import { PREPARED_VARIABLE } from "@agentos/postgres/testing"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SOURCES_CACHE } from "./ProgramBundle.ts"
import { testSeed } from "./Random.ts"

/**
 * Runs before all test files: selects and prints the seed of their random choices, creates the folder of the data that
 * they share, and deletes it after the last.
 */
export const setup = async (): Promise<() => Promise<void>> => {
  process.env["TEST_SEED"] = String(testSeed())
  process.stderr.write(`TEST_SEED=${process.env["TEST_SEED"]} (TEST_SEED=random selects another seed)\n`)
  const folder = await mkdtemp(join(tmpdir(), "agentos-prepared-"))
  process.env[PREPARED_VARIABLE] = folder
  process.env[BUILT_VARIABLE] = join(folder, "agentctl")
  await mkdir(join(folder, "agentctl"))
  // Most files run in a process of their own and load much the same modules.
  process.env["NODE_COMPILE_CACHE"] ??= SOURCES_CACHE
  return () => rm(folder, { recursive: true, force: true })
}
