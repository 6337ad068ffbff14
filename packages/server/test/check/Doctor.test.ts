import type { DatabaseDiagnosis } from "@agentos/agentos"
import { type JobRecord, LATE_SECONDS, type OpenOperations, type StoreFigures, Timestamp } from "@agentos/core"
import type { Check } from "@agentos/node/command-line"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { refundFinding } from "../../src/check/ConnectionCheck.ts"
import { databaseChecks } from "../../src/check/DatabaseChecks.ts"
import { workChecks } from "../../src/check/WorkChecks.ts"

const NOW = Timestamp.fromMillis(1_800_000_000_000)
const ago = (seconds: number): Timestamp.Timestamp => Timestamp.fromMillis(NOW - seconds * 1_000)

const job = (name: string, changes: Partial<JobRecord> = {}): JobRecord => ({
  name,
  dueAt: ago(0),
  leasedUntil: null,
  startedAt: ago(60),
  succeededAt: ago(60),
  failedAt: null,
  failure: null,
  runs: 1,
  failures: 0,
  done: 0,
  ...changes
})

const open = (state: OpenOperations["state"], seconds: number): OpenOperations => ({
  state,
  network: "eip155:1",
  asset: "0xa",
  count: 2,
  amount: 5n,
  oldestAt: ago(seconds)
})

const AT_REST: StoreFigures = {
  jobs: [job("event-expiry"), job("ledger-audit")],
  open: [],
  waiting: { scheduled: 0, deferred: 0, firstDueAt: null },
  mails: { count: 0, since: null },
  failingMails: { count: 0, failure: null },
  webhooks: { count: 0, since: null }
}

const HEALTHY: DatabaseDiagnosis = {
  version: "18.1",
  pending: [],
  newer: [],
  risks: [],
  sizeBytes: 5 * 1024 ** 2,
  disk: { path: "/data", freeBytes: 60 * 1024 ** 3, totalBytes: 100 * 1024 ** 3 },
  waiting: [],
  idle: [],
  bloated: [],
  slow: [],
  servers: [{ version: "1.0.0", address: "10.0.0.1", since: "2027-01-15T00:00:00Z" }]
}

const disk = (free: number) => ({ path: "/data", freeBytes: free, totalBytes: 100 })
const session = (seconds: number) => ({ processId: 7, application: "psql", seconds })

/** Returns the checks that are not as expected of a deployment without problems. */
const findings = (checks: ReadonlyArray<Check>) =>
  checks
    .filter(({ status }) => status !== "ok")
    .map(({ detail, fix, name, status }) => {
      assert.isNotEmpty(fix)
      return [name, status, detail]
    })

const ofWork = (changes: Partial<StoreFigures>, stops: Parameters<typeof workChecks>[1] = []) =>
  findings(workChecks({ ...AT_REST, ...changes }, stops, NOW))
const ofDatabase = (changes: Partial<DatabaseDiagnosis>) => findings(databaseChecks({ ...HEALTHY, ...changes }, false))

describe("the doctor", () => {
  it("finds nothing in a deployment at rest", () => {
    assert.deepStrictEqual(ofWork({}), [])
    assert.deepStrictEqual(ofDatabase({}), [])
  })

  it.each<readonly [string, Partial<StoreFigures>, ReadonlyArray<ReadonlyArray<string>>]>([
    ["a refund that is due", { open: [open("refund_due", 600)] }, []],
    [
      "a refund that is late",
      { open: [open("refund_due", 601)] },
      [["refunds due", "failed", "2, the oldest since 10 min"]]
    ],
    [
      "payments that are stuck",
      { open: [open("settling", 100), open("claimed", 7_300)] },
      [["payments under way", "failed", "4, the oldest since 2 h"]]
    ],
    [
      "a purchase that is not performed",
      { open: [open("fulfilling", 61)] },
      [["purchases under way", "warning", "2, the oldest since 61 s"]]
    ],
    [
      "late mail and webhooks",
      {
        waiting: { scheduled: 1, deferred: 2, firstDueAt: ago(700) },
        mails: { count: 4, since: ago(700) },
        webhooks: { count: 5, since: ago(700) }
      },
      [
        ["outbound mail", "warning", "3, the oldest since 11 min"],
        ["inbound mail", "warning", "4, the oldest since 11 min"],
        ["event webhooks", "warning", "5, the oldest since 11 min"]
      ]
    ],
    [
      "mail that can't be delivered",
      { mails: { count: 4, since: ago(1) }, failingMails: { count: 3, failure: "the database refused: x" } },
      [["inbound mail", "failed", "3 can't be delivered. The oldest: the database refused: x"]]
    ],
    ["scheduled mail before its time", { waiting: { scheduled: 1, deferred: 0, firstDueAt: ago(-700) } }, []],
    [
      "a ledger that differs",
      { jobs: [job("ledger-audit", { failure: "LedgerWrong: eip155:1: 5 more" })] },
      [["ledger", "failed", "LedgerWrong: eip155:1: 5 more"]]
    ],
    [
      "a ledger that was not compared",
      { jobs: [job("event-expiry")] },
      [["ledger", "warning", "was not compared yet"]]
    ],
    [
      "a job that is late",
      { jobs: [...AT_REST.jobs, job("number-expiry", { dueAt: ago(301) })] },
      [["jobs", "failed", "due without a run: number-expiry since 5 min"]]
    ],
    ["a job that runs", { jobs: [...AT_REST.jobs, job("x", { dueAt: ago(999), leasedUntil: ago(-1) })] }, []],
    [
      "a job that failed",
      { jobs: [...AT_REST.jobs, job("number-expiry", { failure: "the carrier is down" })] },
      [["jobs", "warning", "failed last: number-expiry: the carrier is down"]]
    ]
  ])("judges %s", (_, changes, expected) => assert.deepStrictEqual(ofWork(changes), expected))

  it("names stopped sales with their reasons", () => {
    assert.deepStrictEqual(ofWork({}, [{ scope: "all", at: NOW, reason: "Maintenance" }]), [
      ["sales", "warning", "stopped: all (Maintenance)"]
    ])
  })

  it.each<readonly [string, Partial<DatabaseDiagnosis>, ReadonlyArray<ReadonlyArray<string>>]>([
    ["a short wait for a lock", { waiting: [{ ...session(0.9), blockedBy: [8] }] }, []],
    [
      "a wait for a lock",
      { waiting: [{ ...session(2), blockedBy: [8, 9] }] },
      [["database locks", "warning", "sessions that wait: 7 (psql) for 2 s, held by 8, 9"]]
    ],
    [
      "a long wait for a lock",
      { waiting: [{ ...session(31), blockedBy: [8] }] },
      [["database locks", "failed", "sessions that wait: 7 (psql) for 31 s, held by 8"]]
    ],
    ["a transaction between statements", { idle: [session(29)] }, []],
    [
      "a transaction without statements",
      { idle: [session(90), session(5)] },
      [
        [
          "idle transactions",
          "warning",
          "transactions without a statement: 7 (psql) for 90 s. They keep locks, and dead rows from being removed"
        ]
      ]
    ],
    [
      "dead rows",
      { bloated: [{ table: "events", dead: 30_000, live: 10_000 }] },
      [["dead rows", "warning", "tables with many dead rows: events (30000 of 40000)"]]
    ],
    [
      "statements that it can't see",
      { slow: undefined },
      [["slow statements", "skipped", "pg_stat_statements is not installed"]]
    ],
    [
      "slow statements",
      { slow: [{ statement: "select 1", calls: 3, meanMillis: 812.4 }] },
      [["slow statements", "warning", "812 ms on average in 3 calls: select 1"]]
    ],
    ["a disk on another machine", { disk: undefined }, []],
    ["a disk with some room", { disk: disk(10) }, []],
    [
      "a disk with little room",
      { disk: disk(9) },
      [["disk", "warning", "the database has 5 MiB; 1 MiB of 1 MiB are free at /data"]]
    ],
    [
      "a full disk",
      { disk: disk(1) },
      [["disk", "failed", "the database has 5 MiB; 1 MiB of 1 MiB are free at /data"]]
    ],
    ["a database without servers", { servers: [] }, [["servers", "warning", "no server is connected"]]],
    [
      "servers of different versions",
      { servers: [...HEALTHY.servers, { version: "1.1.0", address: "10.0.0.2", since: "2027-01-15T00:00:01Z" }] },
      [
        [
          "servers",
          "warning",
          "different versions: 1.0.0 at 10.0.0.1 since 2027-01-15T00:00:00Z; 1.1.0 at 10.0.0.2 since 2027-01-15T00:00:01Z"
        ]
      ]
    ],
    [
      "pending migrations",
      { pending: ["0012_x"] },
      [["database", "warning", "PostgreSQL 18.1, with 1 pending migrations"]]
    ],
    [
      "a risk",
      { risks: [{ problem: "fsync is off", fix: "Turn it on." }] },
      [["database", "warning", "PostgreSQL 18.1, up to date; fsync is off"]]
    ]
  ])("judges %s of the database", (_, changes, expected) => assert.deepStrictEqual(ofDatabase(changes), expected))

  it("calls work late when the alerts do", () => {
    const alerts = readFileSync(
      fileURLToPath(new URL("../../../../deploy/prometheus/alerts.yaml", import.meta.url)),
      "utf8"
    )
    const thresholdOf = (alert: string) =>
      Number(new RegExp(`alert: ${alert}\\n *expr: .*> (\\d+)\\n`).exec(alerts)?.[1])
    assert.deepStrictEqual(LATE_SECONDS, {
      refund: thresholdOf("AgentOSRefundsDue"),
      payment: thresholdOf("AgentOSPaymentsStuck"),
      delivery: thresholdOf("AgentOSDeliveriesStuck"),
      message: thresholdOf("AgentOSMessagesOverdue"),
      job: thresholdOf("AgentOSJobOverdue")
    })
  })

  it.each<readonly [string, bigint | undefined, number, string, RegExp, RegExp]>([
    ["holds enough", 7_000_000n, 0, "ok", /^0xw holds 7\.00 USDT$/, /^$/],
    [
      "is low",
      4_500_000n,
      0,
      "warning",
      /holds 4\.50 USDT; a refund takes up to 5\.00$/,
      /^Send at least 0\.50 USDT on/
    ],
    [
      "pays what is due",
      9_000_000n,
      2,
      "ok",
      /holds 9\.00 USDT, and owes 3\.25 USDT for 2 refunds that are due$/,
      /^$/
    ],
    [
      "is low after it",
      4_000_000n,
      1,
      "warning",
      /owes 3\.25 USDT for the refund that is due; /,
      /at least 4\.25 USDT on/
    ],
    [
      "owes more",
      3_000_000n,
      2,
      "failed",
      /holds 3\.00 USDT, and owes 3\.25/,
      /at least 5\.25 USDT on eip155:1 to 0xw\./
    ],
    ["is missing", undefined, 0, "warning", /^none, so refunds are recorded/, /^Add "refund"/],
    [
      "is missing while refunds are due",
      undefined,
      2,
      "failed",
      /payers wait for 3\.25 USDT for 2/,
      /by hand: agentos-s/
    ]
  ])("judges a refund wallet that %s", (_, priceUnits, count, status, detail, fix) => {
    const found = priceUnits === undefined ? undefined : { wallet: "0xw", priceUnits }
    const due = { count, priceUnits: count === 0 ? 0n : 3_250_000n, isLate: true }
    const finding = refundFinding({ name: "USDT", network: "eip155:1" }, found, due)
    assert.strictEqual(finding.status, status)
    assert.match(finding.detail, detail)
    assert.match(finding.fix ?? "", fix)
  })

  it("fails no wallet that owes more than it holds while the refunds are on their way", () => {
    const due = { count: 1, priceUnits: 3_250_000n, isLate: false }
    const finding = refundFinding({ name: "USDT", network: "eip155:1" }, { wallet: "0xw", priceUnits: 1_750_000n }, due)
    assert.strictEqual(finding.status, "warning")
  })
})
