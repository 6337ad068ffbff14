import { defineConfig } from "vitest/config"
import { LongestFirst } from "./test/support/LongestFirst.ts"

const exclude = ["**/node_modules/**", "**/dist/**"]

/** Suites that measure the memory of their process, which no other file may share. */
const ISOLATED = "packages/provider-smtp/test/**/*.test.ts"

/** Suites that kill servers, race requests, break providers or attack: `test:faults`. */
const FAULTS = ["test/{chaos,crash,fuzz,race}/*.test.ts", "test/cli/tail.test.ts"]

/** Suites whose servers must restart before a carrier gives up, which it does after 15 s of real time. */
const TIMED = "test/calls/**/*.test.ts"

/** Much of the time, the longest files wait for leases, blocks and processes. */
const MAX_WORKERS = 4

const ofPackages = {
  environment: "node",
  // A test takes seconds at most, and ten times as long on a machine that is busy with other work.
  testTimeout: 60_000,
  // Some suites start a database in a hook, which takes long on a busy machine.
  hookTimeout: 120_000,
  maxWorkers: MAX_WORKERS
} as const

const ofService = {
  environment: "node",
  testTimeout: 120_000,
  hookTimeout: 180_000
} as const

export default defineConfig({
  test: {
    globalSetup: "test/support/setup.ts",
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...ofPackages,
          name: "unit",
          include: ["packages/*/test/**/*.test.ts", "examples/*/test/**/*.test.ts", "test/toolchain/**/*.test.ts"],
          exclude: [...exclude, ISOLATED],
          // A process and its modules take half a second of processor time, more than most files.
          isolate: false
        }
      },
      { test: { ...ofPackages, name: "isolated", include: [ISOLATED], exclude } },
      {
        test: {
          ...ofService,
          name: "e2e",
          include: ["test/**/*.test.ts"],
          exclude: [...exclude, "test/toolchain/**", ...FAULTS, TIMED],
          maxWorkers: MAX_WORKERS,
          isolate: false
        }
      },
      {
        test: {
          ...ofService,
          name: "faults",
          include: FAULTS,
          exclude,
          maxWorkers: 3,
          sequence: { groupOrder: 1 }
        }
      },
      { test: { ...ofService, name: "timed", include: [TIMED], exclude, maxWorkers: 1, sequence: { groupOrder: 2 } } }
    ]
  }
})
