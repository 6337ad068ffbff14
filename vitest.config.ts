import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { LongestFirst } from "./test/support/LongestFirst.ts"

const exclude = ["**/node_modules/**", "**/dist/**"]

/** Packages that leave nothing behind in their process once a test has closed what it opened: their files need none each. */
const PURE =
  "packages/{api,core,http-server,keyring-node,memory,numbering-libphonenumber,provider-twilio,x402}/test/**/*.test.ts"

/** Suites that kill servers, race, break what is outside, or attack: `test:faults`. */
const FAULTS = "test/{chaos,crash,fuzz,race}/**/*.test.ts"

/** Files whose servers must be back before a carrier gives up, which it does after 15 s of real time. */
const TIMED = "test/calls/**/*.test.ts"

const ofPackages = {
  environment: "node",
  // Suites that start a database of their own do it in a hook, and on a cold machine that takes a while.
  testTimeout: 20_000,
  hookTimeout: 120_000,
  maxWorkers: Math.max(1, Math.min(4, availableParallelism())),
  sequence: { groupOrder: 0 }
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
      { test: { ...ofPackages, name: "pure", include: [PURE], exclude, isolate: false } },
      {
        test: {
          ...ofPackages,
          name: "unit",
          include: ["packages/*/test/**/*.test.ts", "examples/*/test/**/*.test.ts", "test/toolchain/**/*.test.ts"],
          exclude: [...exclude, PURE]
        }
      },
      {
        test: {
          ...ofService,
          name: "e2e",
          include: ["test/**/*.test.ts"],
          exclude: [...exclude, "test/toolchain/**", FAULTS, TIMED],
          // Each file starts the whole service (chain, mail exchange, server), after the unit tests; and waits for
          // leases and expiry much of the time, so three at a time do not disturb each other on two cores.
          maxWorkers: 3,
          sequence: { groupOrder: 1 }
        }
      },
      {
        test: { ...ofService, name: "faults", include: [FAULTS], exclude, maxWorkers: 3, sequence: { groupOrder: 2 } }
      },
      {
        test: { ...ofService, name: "timed", include: [TIMED], exclude, maxWorkers: 1, sequence: { groupOrder: 3 } }
      }
    ]
  }
})
