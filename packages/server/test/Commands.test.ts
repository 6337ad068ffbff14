import {
  type AuditReport,
  type ErasureReport,
  type RetentionPreview,
  type RetentionReport,
  MessageStore,
  type OperationReport,
  OperationStore,
  type OperatorRecord,
  type Page,
  type SalesStopReport,
  type TenantRecord,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { OperationSample, StoreClock } from "@agentos/core/contract-tests"
import type { Check } from "@agentos/node/command-line"
import { assert, describe, it } from "@effect/vitest"
import { type RunningPostgres, startPostgres } from "@agentos/postgres/testing"
import { generateDkimKey } from "@agentos/provider-smtp"
import { Effect, Option, Redacted } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { COMMANDS } from "../src/command/Commands.ts"
import * as ServerConfig from "../src/config/ServerConfig.ts"
import { currentStorage } from "../src/program/Maintenance.ts"
import { runHere } from "./support/RunHere.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "agentos-server-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Starts PostgreSQL for the tests of a group: an embedded database would be opened for each command. */
const useDatabase = (): { readonly DATABASE_URL: string } => {
  let postgres: RunningPostgres | undefined
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.stop())
  return {
    get DATABASE_URL() {
      return postgres!.url
    }
  }
}

/** Runs a command without a terminal, or with an output of so many columns. */
const run = (argv: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}, columns?: number) =>
  runHere(argv, { env, columns, cwd: folder })

describe("agentos-server", () => {
  it("has help with an example for every command", async () => {
    for (const { examples, name } of COMMANDS) {
      const { exit, stdout } = await run([...name.split(" "), "--help"])
      assert.strictEqual(exit, 0)
      assert.include(stdout, `agentos-server ${name}`)
      assert.isAbove(examples.length, 0)
      for (const line of stdout.split("\n")) assert.isAtMost(line.length, 100, line)
    }
    const { exit, stderr } = await run(["strat"])
    assert.strictEqual(exit, 3)
    assert.include(stderr, "Did you mean start?")
  })

  it("writes an environment file that only its owner can read, and replaces one only with --force", async () => {
    const path = join(folder, "agentos.env")
    assert.strictEqual((await run(["init"])).exit, 0)
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
    const first = readFileSync(path, "utf8")
    assert.match(first, /^AGENTOS_KEYS=1:[A-Za-z0-9+/]{43}=$/m)
    const { exit, stderr } = await run(["init"])
    assert.strictEqual(exit, 6)
    assert.include(stderr, "exists already")
    assert.strictEqual(readFileSync(path, "utf8"), first)
    assert.strictEqual((await run(["init", "--force"])).exit, 0)
    assert.notStrictEqual(readFileSync(path, "utf8"), first)
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
  })

  it("reports all problems of the configuration at once, and unknown variables", async () => {
    const { exit, stderr } = await run(["check-config"], { AGENTOS_EMIAL_DOMAIN: "a.example" })
    assert.strictEqual(exit, 1)
    assert.include(stderr, "Did you mean AGENTOS_EMAIL_DOMAIN?")
    for (const name of ["AGENTOS_PUBLIC_URL", "AGENTOS_KEYS", "DATABASE_URL", "AGENTOS_NETWORKS"])
      assert.include(stderr, `${name} is missing`)
  })

  it("says which migrations are pending, applies them, and lists jobs only afterwards", async () => {
    const env = { AGENTOS_DATA_DIR: join(folder, "data") }
    const before = await run(["migrate", "--check", "--json"], env)
    assert.strictEqual(before.exit, 2)
    const { pending } = JSON.parse(before.stdout) as { pending: ReadonlyArray<string> }
    assert.include(pending, "0001_baseline")
    assert.include((await run(["jobs", "list"], env)).stderr, "Run agentos-server migrate")
    assert.isFalse(existsSync(env.AGENTOS_DATA_DIR), "a check created the database")
    const printed = await run(["migrate", "--sql"], env)
    assert.include(printed.stdout, "insert into agentos_migrations (migration_id, name) values (1, 'baseline');")
    assert.isFalse(existsSync(env.AGENTOS_DATA_DIR), "the SQL was run")
    const applied = JSON.parse((await run(["migrate", "--json"], env)).stdout) as {
      applied: ReadonlyArray<string>
      pending: ReadonlyArray<string>
      steps: ReadonlyArray<{ name: string; millis: number; locks: object }>
    }
    assert.deepInclude(applied, { applied: pending, pending: [] })
    const [baseline, threads] = applied.steps
    assert.deepStrictEqual(baseline, { name: "0001_baseline", millis: baseline!.millis, locks: {} })
    assert.deepStrictEqual(threads?.locks, { mailboxes: "AccessExclusiveLock", messages: "AccessExclusiveLock" })
    assert.isAbove(baseline!.millis, 0)
    assert.strictEqual((await run(["migrate", "--check"], env)).exit, 0)
    assert.deepStrictEqual(JSON.parse((await run(["jobs", "list", "--json"], env)).stdout), { items: [] })
  })

  it("refuses flags of mail and webhooks before it opens the database", async () => {
    const id = "019ab1c0-5f3e-7b01-9d52-0c6f1f4e7a90"
    for (const [argv, message] of [
      [["mail", "inbound", "list", "--cursor", "x"], "cursor"],
      [["mail", "inbound", "drop", id, "--yes"], "--reason is missing"],
      [["mail", "inbound", "replay", id], "Add --yes"],
      [["mail", "outbound", "cancel", id], "Add --yes"],
      [["webhooks", "redeliver", "--yes"], "--since is missing"],
      [["webhooks", "redeliver", "--yes", "--since", "yesterday"], "2026-01-31T12:00:00Z"]
    ] as const) {
      const { exit, stderr } = await run(argv)
      assert.strictEqual(exit, 3, argv.join(" "))
      assert.include(stderr, message)
    }
  })

  describe("operations", () => {
    const NO_WALLET = "No refund wallet is configured"
    const env = useDatabase()

    const onDatabase = <A, E>(effect: Effect.Effect<A, E, OperationStore | TenantStore | Transactor | StoreClock>) =>
      Effect.flatMap(ServerConfig.readStorage(env), (config) => Effect.provide(effect, currentStorage(config))).pipe(
        Effect.provideService(StoreClock, {
          now: Timestamp.now,
          advance: () => Effect.die(new Error("the clock of the database is real"))
        }),
        Effect.runPromise
      )

    /** An operation whose worker was killed, one that a worker holds, one that waits for its refund, and a final one. */
    const planted = Effect.gen(function* () {
      const store = yield* OperationStore
      const expired = yield* OperationSample.claimed(undefined, 0)
      const leased = yield* OperationSample.claimed(undefined, Timestamp.DAY)
      const owed = Option.getOrThrow(
        yield* store.advance(yield* OperationSample.claimed(), {
          to: "refund_due",
          change: { transaction: "0x01", failure: { kind: "gone", message: "The mailbox no longer existed." } },
          next: { kind: "leased", millis: Timestamp.DAY }
        })
      )
      const { fence, operationId } = owed
      yield* store.setNextAttempt(operationId, fence, { kind: "scheduled", millis: Timestamp.DAY }, NO_WALLET)
      const final = yield* OperationSample.movedAlong(yield* OperationSample.claimed(), OperationSample.FINAL_PATHS[0]!)
      return { expired, leased, owed, final }
    })

    it("are listed on 80 columns, shown without a secret, and retried after a confirmation", async () => {
      assert.strictEqual((await run(["migrate"], env)).exit, 0)
      assert.strictEqual((await run(["operations", "list"], env)).stderr, "No operations.\n")
      assert.strictEqual((await run(["mail", "inbound", "list"], env)).stderr, "No mail waits.\n")
      assert.strictEqual((await run(["mail", "outbound", "list"], env)).stderr, "No messages wait.\n")
      assert.strictEqual((await run(["webhooks", "deliveries"], env)).stderr, "No webhooks.\n")
      const { expired, final, leased, owed } = await onDatabase(planted)
      const newestFirst = [final.operationId, owed.operationId, leased.operationId, expired.operationId]

      const { stdout: table } = await run(["operations", "list"], { ...env, NO_COLOR: "1" }, 80)
      const [heading, ...lines] = table.trimEnd().split("\n")
      assert.match(heading ?? "", /^OPERATION +STATE +UPDATED +NEXT$/)
      for (const line of lines) assert.isAtMost(line.length, 80, line)
      assert.deepStrictEqual(
        lines.map((line) => line.split(/ {2,}/)).map(([id, state, , next]) => [id, state, next]),
        [
          [final.operationId, "fulfilled", "-"],
          [owed.operationId, "refund_due", "scheduled"],
          [leased.operationId, "claimed", "leased"],
          [expired.operationId, "claimed", "due"]
        ]
      )

      const { stdout: wide } = await run(["operations", "list", "--state", "open"], { ...env, NO_COLOR: "1" }, 160)
      assert.include(wide, `refund_due  `)
      assert.include(wide, NO_WALLET)
      const { stdout: piped } = await run(["operations", "list", "--state", "refund_due"], env)
      assert.strictEqual(piped.trimEnd().split("\t").at(-1), NO_WALLET)

      const list = async (...flags: ReadonlyArray<string>) => {
        const { exit, stderr, stdout } = await run(["operations", "list", "--json", ...flags], env)
        assert.strictEqual(exit, 0, stderr)
        const { items, nextCursor } = JSON.parse(stdout) as Page<OperationReport>
        return { ids: items.map(({ operationId }) => operationId), nextCursor }
      }
      assert.deepStrictEqual(await list("--state", "open"), { ids: newestFirst.slice(1), nextCursor: null })
      const first = { ids: [leased.operationId], nextCursor: leased.operationId }
      assert.deepStrictEqual(await list("--state", "claimed", "--limit", "1"), first)
      const rest = { ids: [expired.operationId], nextCursor: null }
      assert.deepStrictEqual(await list("--cursor", leased.operationId.toUpperCase()), rest)
      assert.deepStrictEqual(await list("--payer", final.proof.payer), { ids: [final.operationId], nextCursor: null })
      for (const wrong of ["--payer=0x1", "--cursor=x", "--limit=101", "--state=fulfilled"]) {
        assert.strictEqual((await run(["operations", "list", wrong], env)).exit, 3, wrong)
      }
      for (const list of ["tenants", "audit"])
        assert.strictEqual((await run([list, "list", "--cursor=x"], env)).exit, 3, list)
      assert.strictEqual((await run(["tenants", "show", "0x12"], env)).exit, 5)

      const show = async (id: string) => {
        const { exit, stderr, stdout } = await run(["operations", "show", id, "--json"], env)
        assert.strictEqual(exit, 0, stderr)
        return JSON.parse(stdout) as OperationReport
      }
      const { failedAttempt } = await show(owed.operationId)
      assert.deepInclude(failedAttempt, { attempts: 1, reason: NO_WALLET })
      assert.deepInclude(await show(owed.operationId), {
        state: "refund_due",
        paymentState: "refund_due",
        reason: owed.failure
      })
      const { stdout: text } = await run(["operations", "show", owed.operationId], env)
      assert.include(text, "Failure\tgone: The mailbox no longer existed.")
      assert.include(text, "Next attempt\tscheduled for ")
      assert.match(text, new RegExp(`^Failed attempts\\t1\\nLast failed attempt\\t2.*Z ${NO_WALLET}$`, "m"))
      for (const secret of ["signature", owed.proof.nonce, owed.input]) assert.notInclude(text, secret)
      assert.strictEqual((await run(["operations", "show", expired.requestId], env)).exit, 5)

      const retry = (...argv: ReadonlyArray<string>) => run(["operations", "retry", "--json", ...argv], env)
      assert.strictEqual((await retry(owed.operationId)).exit, 3)
      assert.strictEqual((await show(owed.operationId)).nextAttempt?.kind, "scheduled")
      const retried = await retry(owed.operationId, "--yes")
      assert.strictEqual(retried.exit, 0, retried.stderr)
      assert.strictEqual((JSON.parse(retried.stdout) as OperationReport).nextAttempt?.kind, "due")
      for (const [{ operationId }, reason] of [
        [final, "is fulfilled, which is final"],
        [leased, "A worker holds the lease"]
      ] as const) {
        const refused = await retry(operationId, "--yes")
        assert.strictEqual(refused.exit, 6)
        assert.include(refused.stderr, reason)
      }
      assert.strictEqual((await retry(expired.requestId, "--yes")).exit, 5)

      const { items } = JSON.parse((await run(["audit", "list", "--json"], env)).stdout) as Page<AuditReport>
      const failed = ["command", "operation.retry", "failed"]
      assert.deepStrictEqual(
        items.map(({ action, actor, outcome }) => [actor.replace(/:.+/, ""), action, outcome]),
        [failed, failed, failed, ["command", "operation.retry", "succeeded"]]
      )
      assert.deepInclude(items[3], { target: owed.operationId, reason: null })
      assert.deepInclude(items[3]?.after, { state: "refund_due" })
      assert.include(items[1]?.failure, "A worker holds the lease")
    })
  })

  describe("operators", () => {
    const env = useDatabase()
    const operators = (...argv: ReadonlyArray<string>) => run(["operators", ...argv], env)
    const json = async <A>(...argv: ReadonlyArray<string>) => {
      const { exit, stderr, stdout } = await run([...argv, "--json"], env)
      assert.strictEqual(exit, 0, stderr)
      return JSON.parse(stdout) as A
    }

    it("are added with a token that is shown once, rotated, and removed after a confirmation", async () => {
      assert.strictEqual((await run(["migrate"], env)).exit, 0)
      assert.include((await operators("list")).stderr, "No operators but default.")
      for (const wrong of [
        ["add", "ada"],
        ["add", "ada", "--role", "admin"],
        ["add", "default", "--role", "read"],
        ["add", "Ada", "--role", "read"],
        ["add", "ada", "--role", "read", "--expires-in-days", "0"],
        ["add", "ada", "--role", "read", "--reason", "x".repeat(501)],
        ["remove", "ada"]
      ]) {
        assert.strictEqual((await operators(...wrong)).exit, 3, wrong.join(" "))
      }
      type Added = OperatorRecord & { readonly token: string }
      const added = await json<Added>("operators", "add", "ada", "--role", "support", "--expires-in-days", "30")
      const { token, ...record } = added
      assert.match(token, /^[0-9a-f]{64}$/)
      assert.strictEqual((await operators("add", "ada", "--role", "read")).exit, 6)
      assert.deepStrictEqual(await json("operators", "list"), { items: [record] })
      const rotated = await json<Added>("operators", "rotate", "ada", "--reason", "It leaked")
      assert.notStrictEqual(rotated.token, token)
      assert.isNull(rotated.expiresAt)
      assert.strictEqual((await operators("rotate", "eve")).exit, 5)
      assert.strictEqual((await operators("remove", "ada", "--yes")).exit, 0)
      assert.deepStrictEqual(await json("operators", "list"), { items: [] })

      const { items } = await json<Page<AuditReport>>("audit", "list")
      assert.deepStrictEqual(
        items.map(({ action, outcome, reason, target }) => [action, target, outcome, reason]),
        [
          ["operator.remove", "ada", "succeeded", null],
          ["operator.rotate", "eve", "failed", null],
          ["operator.rotate", "ada", "succeeded", "It leaked"],
          ["operator.add", "ada", "failed", null],
          ["operator.add", "ada", "succeeded", null]
        ]
      )
      assert.notInclude(JSON.stringify(items), token)
      const page = await json<Page<AuditReport>>("audit", "list", "--target", "ada", "--limit", "1")
      assert.strictEqual(page.nextCursor, items[0]?.auditId)
      const older = await json<Page<AuditReport>>("audit", "list", "--limit", "9", "--cursor", page.nextCursor ?? "")
      assert.deepStrictEqual(older.items, items.slice(1))
    })
  })

  describe("tenants", () => {
    const env = useDatabase()
    const json = async <A>(...argv: ReadonlyArray<string>) => {
      const { exit, stderr, stdout } = await run([...argv, "--json"], env)
      assert.strictEqual(exit, 0, stderr)
      return JSON.parse(stdout) as A
    }
    const planted = Effect.gen(function* () {
      const tenants = yield* TenantStore
      const messages = yield* MessageStore
      const { transact } = yield* Transactor
      const createdAt = Timestamp.fromMillis(1_700_000_000_000)
      const wallet = walletAddress(`0x${"a1".repeat(20)}`)
      const tenant = { tenantId: yield* Uuid.next, wallet, tokenVersion: 1, createdAt }
      yield* transact(tenants.ensure(tenant))
      yield* tenants.setSuspension(tenant.tenantId, { at: createdAt, reason: "Spam" })
      yield* messages.suppress(tenant.tenantId, ["bob@example.com"], "bounced")
      return tenant
    })

    it("are found, shown and erased after a confirmation, and their suppressions are removed", async () => {
      assert.strictEqual((await run(["migrate"], env)).exit, 0)
      const { tenantId, wallet } = await Effect.runPromise(
        Effect.flatMap(ServerConfig.readStorage(env), (config) => Effect.provide(planted, currentStorage(config)))
      )
      const found = await json<Page<TenantRecord>>("tenants", "search", wallet.toUpperCase().replace("X", "x"))
      assert.deepInclude(found.items[0], { tenantId, wallet })
      assert.deepStrictEqual(await json("tenants", "list"), found)
      assert.deepInclude(await json<TenantRecord>("tenants", "show", wallet), found.items[0]!)
      assert.strictEqual((await run(["tenants", "show", "unknown"], env)).exit, 5)

      const { items } = await json<Page<{ readonly address: string }>>("suppressions", "list", tenantId)
      assert.deepStrictEqual(
        items.map(({ address }) => address),
        ["bob@example.com"]
      )
      const path = join(folder, "ada.zip")
      const exported = { tenantId, path, files: 9 }
      assert.deepStrictEqual(await json("tenants", "export", wallet, "--output", "ada.zip"), exported)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.strictEqual(readFileSync(path).subarray(0, 4).toString("latin1"), "PK\u0003\u0004")
      assert.strictEqual((await run(["tenants", "export", wallet, "--output", "ada.zip"], env)).exit, 6)
      assert.strictEqual((await run(["tenants", "export", wallet], env)).exit, 3)

      const removed = { address: "Bob@example.com", removed: true }
      assert.deepStrictEqual(await json("suppressions", "remove", wallet, "Bob@example.com"), removed)
      assert.strictEqual((await run(["suppressions", "remove", wallet, "bob"], env)).exit, 3)

      type Retention = Pick<RetentionReport, "items">
      const keptOf = ({ items }: Retention) => items.filter(({ keep }) => keep !== "default")
      const set = ["tenants", "retention", wallet, "--data", "answers", "--keep"]
      assert.deepStrictEqual(keptOf(await json<Retention>("tenants", "retention", wallet)), [])
      assert.deepInclude(await run([...set, "29", "--yes"], env), { exit: 3 })
      assert.strictEqual((await run([...set, "30"], env)).exit, 3)
      assert.deepInclude(await json<RetentionPreview>(...set, "30", "--dry-run"), { tenantId, rows: 0, hasMore: false })
      assert.strictEqual((await run([...set, "default", "--dry-run"], env)).exit, 3)
      const kept = keptOf(await json<Retention>(...set, "30", "--yes", "--reason", "Contract"))
      assert.deepStrictEqual(kept, [{ data: "answers", keep: 30 }])
      assert.strictEqual((await run(["tenants", "retention", wallet, "--keep", "30"], env)).exit, 3)

      assert.strictEqual((await run(["tenants", "erase", wallet], env)).exit, 3)
      const dry = await json<ErasureReport>("tenants", "erase", wallet, "--dry-run")
      assert.deepInclude(dry, { tenantId, erased: false })
      assert.isNotNull((await json<TenantRecord>("tenants", "show", wallet)).suspension)
      const erased = await json<ErasureReport>("tenants", "erase", wallet, "--yes", "--reason", "Asked for")
      assert.isTrue(erased.erased)
      const after = await json<TenantRecord>("tenants", "show", wallet)
      assert.deepInclude(after.suspension, { reason: "Erased." })

      const audit = await json<Page<AuditReport>>("audit", "list")
      assert.deepStrictEqual(
        audit.items.map(({ action, outcome, reason, target }) => [action, target, outcome, reason]),
        [
          ["tenant.begin-erasure", wallet, "succeeded", "Asked for"],
          ["tenant.erase", wallet, "succeeded", "Asked for"],
          ["tenant.set-retention", wallet, "succeeded", "Contract"],
          ["suppression.lift", wallet, "succeeded", null],
          ["tenant.export", wallet, "succeeded", null]
        ]
      )
      assert.notInclude(JSON.stringify(audit).toLowerCase(), "bob@example.com")
    })
  })

  describe("sell", () => {
    const env = useDatabase()
    const sell = (...argv: ReadonlyArray<string>) => run(["sell", ...argv], env)
    const json = async (...argv: ReadonlyArray<string>) => {
      const { exit, stderr, stdout } = await sell(...argv, "--json")
      assert.strictEqual(exit, 0, stderr)
      return JSON.parse(stdout) as { readonly started?: boolean; readonly stops: ReadonlyArray<SalesStopReport> }
    }

    it("stops sales after a confirmation, shows the stops with their reasons, and starts sales", async () => {
      assert.strictEqual((await run(["migrate"], env)).exit, 0)
      const none = await sell("status")
      assert.deepInclude(none, { exit: 0, stderr: "Everything is on sale.\n" })
      const [service, reason] = ["phone.number.us.30d", "Our carrier has an outage."] as const
      for (const wrong of [
        ["stop", service, "--yes"],
        ["stop", service, "--yes", "--reason", " "],
        ["stop", service, "--yes", "--reason", "x".repeat(201)],
        ["stop", "events.list", "--yes", "--reason", reason],
        ["stop", service, "--reason", reason],
        ["stop", "--network", "x", "--yes", "--reason", reason],
        ["stop", "--country", "MX", "--yes", "--reason", reason],
        ["stop", service, "--network", "eip155:56", "--yes", "--reason", reason],
        ["start", "x"]
      ]) {
        assert.strictEqual((await sell(...wrong)).exit, 3, wrong.join(" "))
      }
      assert.isEmpty((await json("status")).stops)

      const [stop] = (await json("stop", service, "--yes", "--reason", "x")).stops
      assert.deepInclude(stop, { service, reason: "x" })
      const changed = { ...stop!, reason }
      assert.deepStrictEqual(await json("stop", service, "--yes", "--reason", reason), { stops: [changed] })
      assert.lengthOf((await json("stop", "--yes", "--reason", "Maintenance.")).stops, 2)
      const { stdout } = await run(["sell", "status"], { ...env, NO_COLOR: "1" }, 80)
      const [heading, ...lines] = stdout.trimEnd().split("\n")
      assert.match(heading ?? "", /^STOPPED +SINCE +REASON$/)
      assert.match(lines[0] ?? "", /^all +\S+ \S+Z +Maintenance\.$/)
      assert.match(lines[1] ?? "", /^phone\.number\.us\.30d +\S+ \S+Z +Our carrier has an outage\.$/)

      assert.deepStrictEqual(await json("start"), { started: true, stops: [changed] })
      assert.deepStrictEqual(await json("start", service), { started: true, stops: [] })
      const celo = { preset: "celo", rpcUrl: "https://rpc.test", payTo: `0x${"7".repeat(40)}`, maxTimeoutSeconds: 120 }
      const networks = [{ ...celo, confirmations: 1, facilitator: { url: "https://facilitator.test" } }]
      const stopBsc = ["sell", "stop", "--network", "eip155:56", "--yes", "--reason", reason]
      const unknown = await run(stopBsc, { ...env, AGENTOS_NETWORKS: JSON.stringify(networks) })
      assert.strictEqual(unknown.exit, 3)
      assert.include(unknown.stderr, "--network is not in AGENTOS_NETWORKS: eip155:56. Use one of eip155:42220.")
      const network = await json("stop", "--network", "eip155:56", "--yes", "--reason", reason)
      assert.deepInclude(network.stops[0], { network: "eip155:56", reason })
      const { stops } = await json("stop", "--country", "ca", "--yes", "--reason", reason)
      assert.deepInclude(stops[1], { service: "phone.number.ca.30d" })
      const shown = await run(["sell", "status"], { ...env, NO_COLOR: "1" }, 80)
      assert.match(shown.stdout, /\neip155:56 +\S+ \S+Z +Our carrier has an outage\.\n/)
      assert.deepStrictEqual(await json("start", "--network", "eip155:56"), { started: true, stops: stops.slice(1) })
      const again = await sell("start", service)
      assert.strictEqual(again.exit, 0)
      assert.include(again.stderr, `The sale of ${service} was not stopped.\n`)
      assert.notInclude(again.stderr, "by the operator")
      const { items } = JSON.parse((await run(["audit", "list", "--json"], env)).stdout) as Page<AuditReport>
      assert.deepStrictEqual(
        items.map(({ action, reason, target }) => [action, target, reason]),
        [
          ["sales.start", service, null],
          ["sales.start", "eip155:56", null],
          ["sales.stop", "phone.number.ca.30d", reason],
          ["sales.stop", "eip155:56", reason],
          ["sales.start", service, null],
          ["sales.start", "all", null],
          ["sales.stop", "all", "Maintenance."],
          ["sales.stop", service, reason],
          ["sales.stop", service, "x"]
        ]
      )
    })
  })

  it("reports an environment file that cannot be read", async () => {
    const { exit, stderr } = await run(["check-config", "--env-file", "absent.env"])
    assert.strictEqual(exit, 3)
    assert.include(stderr, "--env-file cannot be read")
  })

  it("prints keys and tokens that a server accepts", async () => {
    assert.match((await run(["token", "key"])).stdout, /^1:[A-Za-z0-9+/]{43}=\n$/)
    assert.match((await run(["token", "key"], { AGENTOS_KEYS: "1:x,7:y" })).stdout, /^8:/)
    assert.strictEqual((await run(["token", "key"], { AGENTOS_KEYS: "255:x" })).exit, 3)
    assert.match((await run(["token", "operator"])).stdout, /^[0-9a-f]{64}\n$/)
  })

  describe("check-dns", () => {
    const DOMAIN = "agents.example.com"
    const SENDER = "2001:db8::25"
    type Records = ReadonlyArray<{ readonly name: string; readonly type: string; readonly value: string }>

    /** Runs the command on a zone with these records. */
    const check = async (
      change: (records: Records) => Records = (records) => records,
      more: Readonly<Record<string, string>> = {}
    ) => {
      const { privateKey, record } = await Effect.runPromise(generateDkimKey(DOMAIN, "s1"))
      const keyFile = join(folder, "dkim.pem")
      writeFileSync(keyFile, Redacted.value(privateKey))
      const reverse = `5.2.0.0.${"0.".repeat(20)}8.b.d.0.1.0.0.2.ip6.arpa`
      const zone = change([
        { name: "example.com", type: "A", value: "192.0.2.1" },
        { name: "mx.example.com", type: "A", value: "192.0.2.2" },
        { name: DOMAIN, type: "MX", value: "10 MX.example.com." },
        { name: DOMAIN, type: "TXT", value: "v=spf1 ip6:2001:db8::/32 -all" },
        record,
        { name: `_dmarc.${DOMAIN}`, type: "TXT", value: "v=DMARC1; p=quarantine" },
        { name: reverse, type: "PTR", value: "out.relay.example" },
        { name: "out.relay.example", type: "AAAA", value: "2001:DB8:0::25" }
      ])
      const zoneFile = join(folder, "zone.json")
      writeFileSync(zoneFile, JSON.stringify(zone))
      const { exit, stderr, stdout } = await run(["check-dns", "--json", "--sends-from", SENDER], {
        AGENTOS_PUBLIC_URL: "https://example.com",
        AGENTOS_EMAIL_DOMAIN: DOMAIN,
        AGENTOS_SMTP_RELAY_HOST: "relay.example.com",
        AGENTOS_SMTP_NAME: "mx.example.com",
        AGENTOS_DKIM_SELECTOR: "s1",
        AGENTOS_DKIM_KEY_FILE: keyFile,
        AGENTOS_DNS_ZONE_FILE: zoneFile,
        ...more
      })
      const { checks, healthy } = JSON.parse(stdout) as {
        readonly healthy: boolean
        readonly checks: ReadonlyArray<Check>
      }
      assert.strictEqual(healthy, exit === 0, stderr)
      return { exit, checks, wrong: checks.filter(({ status }) => status !== "ok") }
    }

    it("finds nothing to change in complete records", async () => {
      const { checks, exit, wrong } = await check()
      assert.deepStrictEqual(wrong, [])
      assert.strictEqual(checks.length, 8)
      assert.strictEqual(exit, 0)
    })

    it("says what to publish for every missing record", async () => {
      const { exit, wrong } = await check(() => [])
      assert.strictEqual(exit, 1)
      assert.deepStrictEqual(
        wrong.map(({ detail, name, status }) => `${name}: ${status}, ${detail}`),
        [
          "A, AAAA example.com (API): failed, not published",
          "A, AAAA mx.example.com (SMTP listener): failed, not published",
          `MX ${DOMAIN}: failed, not published`,
          `TXT ${DOMAIN} (SPF): failed, not published`,
          `TXT s1._domainkey.${DOMAIN} (DKIM): failed, not published`,
          `TXT _dmarc.${DOMAIN} (DMARC): failed, not published`,
          `SPF of ${DOMAIN} for ${SENDER}: failed, none`,
          `PTR ${SENDER}: failed, not published`
        ]
      )
      for (const { fix } of wrong) assert.isNotNull(fix)
    })

    it.each([
      ["MX", "MX", "20 other.example.com", /Add: 10 mx\.example\.com/],
      ["SPF", "TXT", "v=spf1 +all", /lets everyone send/],
      ["DKIM", "TXT", "v=DKIM1; k=rsa; p=AAAA", /not the public half/],
      ["DMARC", "TXT", "v=DMARC1; p=all", /Set p to/],
      ["PTR", "AAAA", "2001:db8::26", /points back/]
    ])("refuses a wrong %s record", async (name, type, value, advice) => {
      const isChanged: Readonly<Record<string, (record: Records[number]) => boolean>> = {
        MX: (record) => record.type === "MX",
        SPF: (record) => record.value.startsWith("v=spf1"),
        DKIM: (record) => record.value.startsWith("v=DKIM1"),
        DMARC: (record) => record.value.startsWith("v=DMARC1"),
        PTR: (record) => record.type === "AAAA"
      }
      const { exit, wrong } = await check((records) =>
        records.map((record) => (isChanged[name]?.(record) === true ? { ...record, type, value } : record))
      )
      assert.strictEqual(exit, 1)
      assert.deepStrictEqual(
        wrong.map(({ status }) => status),
        ["failed"]
      )
      assert.match(wrong[0]?.fix ?? "", advice)
    })

    it("requires the record of the next DKIM key beside that of the first", async () => {
      const { privateKey, record } = await Effect.runPromise(generateDkimKey(DOMAIN, "s2"))
      const next = {
        AGENTOS_DKIM_NEXT_SELECTOR: "s2",
        AGENTOS_DKIM_NEXT_KEY_FILE: join(folder, "next.pem"),
        AGENTOS_DKIM_NEXT_FROM: "2099-01-01T00:00:00Z"
      }
      writeFileSync(next.AGENTOS_DKIM_NEXT_KEY_FILE, Redacted.value(privateKey))
      const published = await check((records) => [...records, record], next)
      assert.deepStrictEqual(published.wrong, [])
      assert.strictEqual(published.checks.length, 9)
      const name = `TXT s2._domainkey.${DOMAIN} (next DKIM)`
      const missing: Check = { name, status: "failed", detail: "not published", fix: `Add: ${record.value}` }
      assert.deepStrictEqual((await check(undefined, next)).wrong, [missing])
      const other = await check((records) => [...records, { ...record, value: "v=DKIM1; k=rsa; p=AAAA" }], next)
      assert.match(other.wrong[0]?.fix ?? "", /not the public half of AGENTOS_DKIM_NEXT_KEY_FILE/)
    })

    it("rejects an address that is not an IP address", async () => {
      assert.strictEqual((await run(["check-dns", "--sends-from", "relay"])).exit, 3)
    })
  })
})
