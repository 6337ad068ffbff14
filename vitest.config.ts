import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { LongestFirst } from "./test/support/LongestFirst.ts"

const exclude = ["**/node_modules/**", "**/dist/**"]

/** Packages that leave nothing behind in their process once a test has closed what it opened: their files need none each. */
const PURE =
  "packages/{api,core,http-server,keyring-node,memory,numbering-libphonenumber,provider-twilio,x402}/test/**/*.test.ts"

const ofPackages = {
  environment: "node",
  // Suites that start a database of their own do it in a hook, and on a cold machine that takes a while.
  testTimeout: 20_000,
  hookTimeout: 120_000,
  maxWorkers: Math.max(1, Math.min(4, availableParallelism())),
  sequence: { groupOrder: 0 }
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
          name: "e2e",
          include: ["test/**/*.test.ts"],
          exclude: [...exclude, "test/toolchain/**"],
          environment: "node",
          // Each file starts the whole service (chain, mail exchange, server), after the unit tests; and waits for
          // leases and expiry much of the time, so three at a time do not disturb each other on two cores.
          testTimeout: 120_000,
          hookTimeout: 180_000,
          maxWorkers: 3,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
