import { defineConfig } from "vitest/config"
import { LongestFirst } from "./test/support/LongestFirst.ts"

const exclude = ["**/node_modules/**", "**/dist/**"]

/** Suites that measure the memory, the processes or the delays of their process, which no other file may share. */
const ISOLATED = ["MailParserWorker", "SmtpListenerLimits"].map((name) => `packages/provider-smtp/test/${name}.test.ts`)

/**
 * Suites that kill servers, race requests, break providers or attack, that wait for real time or measure a whole sandbox,
 * and those that show with other clients, and more slowly, what `test` shows: `test:faults`.
 */
const FAULTS = [
  "test/{acme,backup,calls,chaos,crash,examples,fidelity,fuzz,growth,outage,proxies,race,sandbox,soak}/*.test.ts",
  "test/cli/{tail,terminal}.test.ts",
  "test/clients/*.test.ts",
  "test/e2e/{attacks,cluster,phoneFailures,restart,serverCommands,stagedMail,workers}.test.ts",
  "packages/api/test/generators/*.test.ts",
  "packages/postgres/test/{EventRaces,FullDisk,MailQuotaRace,MigrationsUnderLoad,PlansOnPGlite,Pooler,SilentConnections}.test.ts",
  "packages/provider-smtp/test/{LargeMail,SharedReader,SmtpAbuse}.test.ts",
  "test/site/*.test.ts",
  "test/x402/self/*.test.ts"
]

/** Packs all packages, installs them and runs them: `test:packages`. */
const PACKAGES = "test/packed/**/*.test.ts"

/** Runs the client in other runtimes, and the tools in the frameworks of agents, which they install: `test:clients`. */
const CLIENTS = "test/clients/{frameworks,runtimes}/*.test.ts"

/** Exchanges mail with the mail servers of Debian's packages, which it installs: `test:peers`. */
const PEERS = "test/peers/*.test.ts"

const SKIP_AFTER_TIMEOUT = "test/support/skipAfterTimeout.ts"

/** Of `test` and of `test:long`: much of the time, the longest files wait for leases, blocks and processes. */
const MAX_WORKERS = 4

/**
 * The limits bound hangs. A test takes seconds at most, but on a host where a page fault costs 20 µs and a fork 9 ms, with two
 * cores for all of them, suites that start servers and kill them took minutes.
 */
const common = {
  environment: "node",
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  // Failures show what differs and its surroundings: the whole values of a table or a document hide it.
  chaiConfig: { truncateThreshold: 2_000 },
  diff: { expand: false, contextLines: 10 }
} as const

export default defineConfig({
  test: {
    globalSetup: "test/support/setup.ts",
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...common,
          name: "shared",
          include: ["packages/*/test/**/*.test.ts", "examples/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...exclude, ...ISOLATED, ...FAULTS, PACKAGES, CLIENTS, PEERS],
          maxWorkers: MAX_WORKERS,
          // A process and its modules take seconds of processor time, more than most files.
          isolate: false
        }
      },
      { test: { ...common, name: "isolated", include: ISOLATED, exclude, maxWorkers: MAX_WORKERS } },
      {
        test: {
          ...common,
          name: "faults",
          include: FAULTS,
          exclude,
          maxWorkers: MAX_WORKERS,
          isolate: false,
          setupFiles: SKIP_AFTER_TIMEOUT
        }
      },
      { test: { ...common, name: "packages", include: [PACKAGES], exclude, maxWorkers: MAX_WORKERS } },
      { test: { ...common, name: "clients", include: [CLIENTS], exclude, sequence: { groupOrder: 1 } } },
      {
        test: {
          ...common,
          name: "peers",
          include: [PEERS],
          exclude,
          maxWorkers: 1,
          // Mail servers look at their queues only every few seconds.
          expect: { poll: { timeout: 30_000, interval: 100 } },
          sequence: { groupOrder: 2 }
        }
      }
    ]
  }
})
