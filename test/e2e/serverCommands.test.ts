import type {
  AuditReport,
  InboundMailReport,
  OperationReport,
  OutboundMessageReport,
  Page,
  RedeliveryReport,
  WebhookReport
} from "@agentos/core"
import { generateCertificate } from "@agentos/provider-smtp"
import { startPostgres } from "@agentos/postgres/testing"
import { Effect, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createTransport } from "nodemailer"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { Webhook } from "standardwebhooks"
import { type Address, createWalletClient, http, parseEther } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { sandboxClient, type SandboxDescription, sandboxUsdtAbi } from "@agentos/sandbox"
import { Agent, freshName } from "../support/Agent.ts"
import { CarrierAccount } from "../support/CarrierAccount.ts"
import { databaseUrl, execute } from "../support/ClusterDatabase.ts"
import {
  runServerCommand,
  runServerCommandHere,
  type ServerEnvironment,
  serverEnvironment,
  startServer,
  unfinishedRequest,
  untilRefused
} from "../support/ServerCommand.ts"
import { type Forwarder, startForwarder } from "../support/Forwarder.ts"
import { BUY_US } from "../support/PhoneCustomer.ts"
import { RelayLog } from "../support/RelayLog.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"

interface Check {
  readonly name: string
  readonly status: string
  readonly detail: string
  readonly fix: string | null
}

/** Without risks that `check-config` warns of. */
const DURABLE = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" }

/** PostgreSQL asks one of its roles for a password. */
const startLockedPostgres = async () => {
  const folder = await mkdtemp(join(tmpdir(), "agentos-hba-"))
  await chmod(folder, 0o755)
  const file = join(folder, "pg_hba.conf")
  await writeFile(file, "host all locked 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n", {
    mode: 0o644
  })
  const postgres = await startPostgres({ settings: { ...DURABLE, hba_file: file } })
  return { url: postgres.url, stop: () => postgres.stop().then(() => rm(folder, { recursive: true })) }
}

const OPERATOR_TOKEN = "o".repeat(32)

let postgres: Awaited<ReturnType<typeof startLockedPostgres>>
let running: Sandbox
let sandbox: SandboxDescription
let environment: ServerEnvironment["environment"] & { readonly AGENTOS_POSTMASTER: string }
let payment: ServerEnvironment["payment"]
beforeAll(async () => {
  postgres = await startLockedPostgres()
  running = await startSandbox({ environment: { DATABASE_URL: postgres.url, AGENTOS_OPERATOR_TOKEN: OPERATOR_TOKEN } })
  sandbox = await running.describe()
  const given = await serverEnvironment(running, postgres.url)
  payment = given.payment
  environment = { ...given.environment, AGENTOS_POSTMASTER: `operator@${sandbox.emailDomain}` }
})
afterAll(async () => {
  await running?.stop()
  await postgres?.stop()
})

/** Sends the token, from a wallet that is not the refund wallet unless a key is given, and returns the transaction. */
const sendBack = async (to: Address, amount: bigint, key = sandbox.wallets[4]!.privateKey): Promise<string> => {
  const { asset, rpcUrl } = sandbox.chain
  const client = sandboxClient(rpcUrl)
  const account = privateKeyToAccount(key)
  await client.setBalance({ address: account.address, value: parseEther("1") })
  const wallet = createWalletClient({ account, chain: client.chain, transport: http(rpcUrl) })
  const hash = await wallet.writeContract({
    address: asset,
    abi: sandboxUsdtAbi,
    functionName: "transfer",
    args: [to, amount]
  })
  await client.waitForTransactionReceipt({ hash })
  return hash
}

const mineUntilFinal = () => sandboxClient(sandbox.chain.rpcUrl).mine({ blocks: 100 })

/** Returns the URL of a database of the test's PostgreSQL. */
const urlOf = (name: string): string => databaseUrl(postgres.url, name)

/** Returns the same for the role that needs a password. */
const lockedUrl = (password: string): string => {
  const url = new URL(postgres.url)
  url.username = "locked"
  url.password = password
  return url.href
}

/** Stores a self-signed certificate and its key. */
const certificateFiles = async (hostName: string) => {
  const { certificate, privateKey } = await Effect.runPromise(generateCertificate(hostName))
  const files = {
    certificate: join(running.directory, `${hostName}.crt`),
    key: join(running.directory, `${hostName}.key`)
  }
  await writeFile(files.certificate, certificate)
  await writeFile(files.key, Redacted.value(privateKey))
  return files
}

const failed = (name: string, detail: RegExp, fix: RegExp) => ({
  name,
  status: "failed",
  detail: expect.stringMatching(detail),
  fix: expect.stringMatching(fix)
})

/** Checks the configuration, and returns the report. */
const checkConfig = async (changed: Readonly<Record<string, string>>, ...flags: ReadonlyArray<string>) => {
  const { errors, output, status } = await runServerCommandHere(["check-config", "--json", ...flags], {
    ...environment,
    ...changed
  })
  const { checks, healthy } = JSON.parse(output) as { readonly healthy: boolean; readonly checks: ReadonlyArray<Check> }
  return { status, healthy, checks, text: `${output}${errors}` }
}

describe("agentos-server check-config", () => {
  const names = () => {
    const { network } = sandbox.chain
    return [
      "variables",
      "database",
      `chain ${network}`,
      `facilitator ${network}`,
      `refund wallet ${network}`,
      "mail relay",
      "carrier"
    ]
  }

  it("finds a complete deployment healthy", async () => {
    const { checks, healthy, status } = await checkConfig({})
    expect({ status, healthy }).toEqual({ status: 0, healthy: true })
    expect(checks.map((check) => `${check.name}: ${check.status}`)).toEqual(names().map((name) => `${name}: ok`))
  })

  it("connects to nothing with --offline", async () => {
    const { checks, status } = await checkConfig({ DATABASE_URL: "postgres://nowhere.invalid/x" }, "--offline")
    expect({ status, checks }).toEqual({
      status: 0,
      checks: [{ name: "variables", status: "ok", detail: "valid", fix: null }]
    })
  })

  it("warns of mail without a mailbox for postmaster and abuse", async () => {
    const { checks, healthy, status } = await checkConfig({ AGENTOS_POSTMASTER: "" }, "--offline")
    expect({ status, healthy }).toEqual({ status: 0, healthy: true })
    expect(checks.slice(1)).toEqual([
      {
        name: "postmaster",
        status: "warning",
        detail: "mail to postmaster and abuse reaches no mailbox: it is only recorded",
        fix: "Create a mailbox, and set AGENTOS_POSTMASTER to its address."
      }
    ])
  })

  it("names the problem and the fix of every connection that fails, and no secret", async () => {
    const secrets = { password: "wrong-password-of-the-database", token: "wrong-token-of-the-carrier" }
    const { checks, healthy, status, text } = await checkConfig({
      DATABASE_URL: lockedUrl(secrets.password),
      AGENTOS_NETWORKS: JSON.stringify([{ ...payment, network: "eip155:1" }]),
      AGENTOS_SMTP_RELAY_TLS: "starttls",
      AGENTOS_TWILIO_AUTH_TOKEN: secrets.token
    })
    expect({ status, healthy }).toEqual({ status: 1, healthy: false })
    expect(checks).toEqual([
      { name: "variables", status: "ok", detail: "valid", fix: null },
      failed("database", /28P01/, /password in DATABASE_URL/),
      failed("chain eip155:1", /leads to chain \d+/, /rpcUrl/),
      failed("facilitator eip155:1", /does not support scheme exact/, /facilitator/),
      { name: "refund wallet eip155:1", status: "ok", detail: expect.stringMatching(/ holds /), fix: null },
      failed("mail relay", /STARTTLS/, /AGENTOS_SMTP_RELAY_TLS/),
      failed("carrier", /status 401/, /AGENTOS_TWILIO_AUTH_TOKEN/)
    ])
    for (const secret of [...Object.values(secrets), payment.refund.privateKey]) expect(text).not.toContain(secret)
  })

  it("names the unknown role of a database, and the TLS that a relay or a database does not offer", async () => {
    const unknown = new URL(postgres.url)
    unknown.username = "nobody"
    unknown.password = "e"
    const first = await checkConfig({ DATABASE_URL: unknown.href, AGENTOS_SMTP_RELAY_TLS: "tls" })
    expect(first.checks).toEqual(
      expect.arrayContaining([
        failed("database", /role "nobody" does not exist/, /create this role/),
        failed("mail relay", /wrong version number/, /AGENTOS_SMTP_RELAY_TLS/)
      ])
    )
    const withTls = new URL(postgres.url)
    withTls.searchParams.set("sslmode", "require")
    const second = await checkConfig({ DATABASE_URL: withTls.href })
    expect(second.checks).toContainEqual(failed("database", /does not support TLS/, /sslmode in DATABASE_URL/))
  })

  it("reports a database that does not exist, and services that do not answer or refuse the credentials", async () => {
    const nowhere = "http://127.0.0.1:2"
    const { checks, status, text } = await checkConfig({
      DATABASE_URL: urlOf("absent"),
      AGENTOS_NETWORKS: JSON.stringify([
        {
          ...payment,
          rpcUrl: `${nowhere}/the-access-key-of-the-node`,
          facilitator: { url: nowhere },
          refund: undefined
        }
      ]),
      AGENTOS_SMTP_RELAY_USER: "agentos",
      AGENTOS_SMTP_RELAY_PASSWORD: "wrong-password-of-the-relay",
      AGENTOS_TWILIO_API_URL: nowhere
    })
    const { network } = sandbox.chain
    expect(status).toBe(1)
    expect(checks).toEqual([
      { name: "variables", status: "ok", detail: "valid", fix: null },
      failed("database", /3D000/, /Create the database/),
      failed(`chain ${network}`, /could not be read/, /rpcUrl/),
      failed(`facilitator ${network}`, /could not be reached.*ECONNREFUSED/, /facilitator/),
      { ...failed(`refund wallet ${network}`, /none/, /Add "refund"/), status: "warning" },
      failed("mail relay", /does not let this service send/, /AGENTOS_SMTP_RELAY_PASSWORD/),
      failed("carrier", /could not be reached.*ECONNREFUSED/, /AGENTOS_TWILIO_API_URL/)
    ])
    for (const secret of ["the-access-key-of-the-node", "wrong-password-of-the-relay"])
      expect(text).not.toContain(secret)
  })

  it("checks the gas wallet of a self-hosted facilitator, and does not create an embedded database", async () => {
    const facilitator = { kind: "self", privateKey: `0x${"5".repeat(64)}` }
    const directory = join(running.directory, "unused")
    const { checks, status } = await checkConfig({
      DATABASE_URL: "",
      AGENTOS_DATA_DIR: directory,
      AGENTOS_NETWORKS: JSON.stringify([{ ...payment, facilitator }])
    })
    expect(status).toBe(1)
    expect(checks.filter(({ status: state }) => state !== "ok")).toEqual([
      { ...failed("database", /does not exist yet/, /agentos-server migrate/), status: "warning" },
      failed(`gas wallet ${sandbox.chain.network}`, /Its balance is 0\./, /native coin to the gas wallet/)
    ])
    expect(existsSync(directory)).toBe(false)
  })

  it("warns of a database that may lose committed data", async () => {
    const { checks, status } = await checkConfig({
      DATABASE_URL: `${urlOf("postgres")}?options=-c%20synchronous_commit=off`
    })
    expect(status).toBe(0)
    expect(checks[1]).toEqual({
      ...failed("database", /up to date; the database runs with synchronous_commit off: /, /Turn these settings on/),
      status: "warning"
    })
  })

  it("warns of a database that needs migrate, and fails for a refund wallet that is empty", async () => {
    const empty = privateKeyToAccount(`0x${"5".repeat(64)}`).address
    const { checks, healthy, status } = await checkConfig({
      DATABASE_URL: urlOf("template1"),
      AGENTOS_NETWORKS: JSON.stringify([{ ...payment, refund: { privateKey: `0x${"5".repeat(64)}` } }])
    })
    expect({ status, healthy }).toEqual({ status: 1, healthy: false })
    const { network } = sandbox.chain
    expect(checks.filter(({ status: state }) => state !== "ok")).toEqual([
      { ...failed("database", /\d+ pending migrations/, /agentos-server migrate/), status: "warning" },
      failed(
        `refund wallet ${network}`,
        /holds 0\.00 .* up to 5\.00/,
        new RegExp(`at least 5\\.00 .* to ${empty}`, "i")
      )
    ])
  })
})

describe("agentos-server doctor", () => {
  /** Runs the command, and returns its report. */
  const doctor = async (changed: Readonly<Record<string, string>>, ...flags: ReadonlyArray<string>) => {
    const { output, status } = await runServerCommandHere(["doctor", "--json", ...flags], {
      ...environment,
      ...changed
    })
    const report = JSON.parse(output) as { readonly healthy: boolean; readonly checks: ReadonlyArray<Check> }
    return { ...report, status, amiss: report.checks.filter((check) => !["ok", "skipped"].includes(check.status)) }
  }

  it("reports on a deployment as its server does, names what is wrong, and bundles it without secrets", async () => {
    await execute(postgres.url, "create database doctor")
    const zone = join(running.directory, "doctor-zone.json")
    const domain = sandbox.emailDomain
    const records = [
      { name: domain, type: "A", value: "127.0.0.1" },
      { name: domain, type: "MX", value: `10 ${domain}` },
      { name: domain, type: "TXT", value: "v=spf1 ip4:127.0.0.1 -all" },
      { name: `_dmarc.${domain}`, type: "TXT", value: "v=DMARC1; p=reject" }
    ]
    await writeFile(zone, JSON.stringify(records))
    const secrets = {
      AGENTOS_KEYS: "1:the-doctor-tells-no-one-about-this-key",
      AGENTOS_OPERATOR_TOKEN: "the-doctor-tells-no-one-about-this-token"
    }
    const own = { ...secrets, DATABASE_URL: urlOf("doctor"), AGENTOS_DNS_ZONE_FILE: zone, AGENTOS_SMTP_PORT: "0" }
    const server = await startServer({ ...environment, ...own, AGENTOS_PORT: "0" })
    try {
      const headers = { authorization: `Bearer ${secrets.AGENTOS_OPERATOR_TOKEN}` }
      const [byCommand, byServer] = await vi.waitFor(async () => {
        const answer = await fetch(`${server.operatorUrl}/internal/doctor`, { headers })
        const { data } = (await answer.json()) as { readonly data: Awaited<ReturnType<typeof doctor>> }
        // Each job has run once.
        expect(data.checks.filter(({ status }) => status === "warning" || status === "failed")).toEqual([])
        return [await doctor(own), data]
      }, 30_000)
      expect(byCommand).toMatchObject({ status: 0, healthy: true, amiss: [] })
      expect(byServer.healthy).toBe(true)
      const nameAndStatus = ({ name, status }: Check) => `${name}: ${status}`
      expect(byServer.checks.map(nameAndStatus)).toEqual(byCommand.checks.map(nameAndStatus))
      const servers = byCommand.checks.find(({ name }) => name === "servers")
      expect(servers?.detail).toMatch(/^\d+\.\d+\.\d+ at 127\.0\.0\.1 since [^;]*$/)

      const stop = ["sell", "stop", "--reason", "Maintenance", "--yes"]
      expect((await runServerCommandHere(stop, { ...environment, ...own })).status).toBe(0)
      const path = join(running.directory, "doctor.zip")
      const { amiss, status } = await doctor(
        {
          ...own,
          AGENTOS_SMTP_RELAY_TLS: "starttls",
          AGENTOS_OPERATOR_LISTEN: new URL(server.operatorUrl ?? "").host
        },
        "--bundle",
        path
      )
      expect(status).toBe(1)
      expect(amiss).toEqual([
        { ...failed("sales", /^stopped: all \(Maintenance\)$/, /sell start/), status: "warning" },
        failed("mail relay", /STARTTLS/, /AGENTOS_SMTP_RELAY_TLS/)
      ])
      const unpack = "import json, sys, zipfile; z = zipfile.ZipFile(sys.argv[1])"
      const show = "print(json.dumps({name: z.read(name).decode() for name in z.namelist()}))"
      const unpacked = execFileSync("python3", ["-c", `${unpack}; ${show}`, path]).toString()
      for (const secret of [
        ...Object.values(secrets),
        payment.refund.privateKey,
        environment.AGENTOS_TWILIO_AUTH_TOKEN
      ]) {
        expect(unpacked).not.toContain(secret.replace(/^\d:|^0x/, ""))
      }
      const files = JSON.parse(unpacked) as Readonly<Record<string, string>>
      expect(files["metrics.txt"]).toMatch(/^agentos_sales_stopped \d+$/m)
      expect(JSON.parse(files["audit.json"]!)).toMatchObject({ items: [{ action: "sales.stop" }] })
      expect(JSON.parse(files["report.json"]!)).toMatchObject({ healthy: false })
    } finally {
      await server.stop()
    }
    const gone = await doctor({ ...own, DATABASE_URL: urlOf("no_such_database") })
    expect(gone.amiss).toEqual([failed("database", /3D000/, /Create the database/)])
  })
})

/** Reads the text format of Prometheus. Throws on a line that is malformed or a series that comes twice. */
const samplesIn = (text: string) => {
  const lines = text
    .split("\n")
    .filter((line) => line !== "" && !/^# (?:HELP [a-z]\w+ .|TYPE [a-z]\w+ (?:counter|gauge|histogram)$)/.test(line))
  const samples = lines.map((line) => {
    const [, name, labels = "", value] =
      /^([a-z]\w+)(?:\{((?:[a-z]\w*="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (-?\d[\d.e+-]*|[+-]Inf)$/.exec(line) ?? []
    if (name === undefined) throw new Error(`not a line of the format: ${line}`)
    const pairs = [...labels.matchAll(/([a-z]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text])
    return {
      series: `${name}{${labels}}`,
      name,
      labels: Object.fromEntries(pairs) as Record<string, string>,
      value: Number(value)
    }
  })
  expect(new Set(samples.map(({ series }) => series)).size).toBe(samples.length)
  return samples
}

describe("incidents", () => {
  it("reach the operators by a signed webhook and by mail, once over all processes", async () => {
    await execute(postgres.url, "create database incidents")
    const secret = `whsec_${Buffer.from("the secret of the operator").toString("base64")}`
    const received: Array<unknown> = []
    const receiver = createServer((request, response) => {
      void text(request).then((body) => {
        received.push(new Webhook(secret).verify(body, request.headers as Record<string, string>))
        response.writeHead(204).end()
      })
    })
    receiver.listen(0, "127.0.0.1")
    await once(receiver, "listening")
    const own = {
      ...environment,
      DATABASE_URL: urlOf("incidents"),
      AGENTOS_PORT: "0",
      AGENTOS_SMTP_PORT: "0",
      AGENTOS_OPERATOR_WEBHOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/agentos`,
      AGENTOS_OPERATOR_WEBHOOK_SECRET: secret,
      AGENTOS_OPERATOR_MAIL_TO: "ops@ops.example",
      AGENTOS_NETWORKS: JSON.stringify([{ ...payment, refund: { privateKey: `0x${"5".repeat(64)}` } }])
    }
    const server = await startServer(own)
    try {
      const relay = new RelayLog(sandbox.mail.outboxDir)
      const reached = async () => [received.length, (await relay.read()).get("ops@ops.example")?.length ?? 0]
      await vi.waitFor(async () => expect(await reached()).toEqual([1, 1]), { timeout: 30_000 })
      expect(received[0]).toMatchObject({
        type: "operator.incident.opened",
        data: {
          kind: "wallet_low",
          summary: expect.stringMatching(/holds 0\.00 .* up to 5\.00\.$/),
          resolvedAt: null
        }
      })
      // The server's own run may not have ended.
      await vi.waitFor(
        async () => {
          const { output, status } = await runServerCommandHere(["jobs", "run", "incident-watch", "--json"], own)
          expect({ status, output }).toEqual({ status: 0, output: expect.stringMatching(/"done":\s*0\b/) })
        },
        { timeout: 30_000 }
      )
      expect(await reached()).toEqual([1, 1])
    } finally {
      await server.stop()
      receiver.close()
    }
  })
})

describe("agentos-server ledger", () => {
  it("accounts for every base unit while a server runs, and matches the chain", async () => {
    const agent = new Agent(sandbox, sandbox.wallets[0]!.privateKey)
    const { mailboxId } = await agent.createMailbox(freshName())
    await agent.pay({ path: "/api/v1/email/mailboxes/update", body: { mailboxId, displayName: "Ada" } })
    const { output, status } = await runServerCommand(["ledger"], environment)
    expect(status).toBe(0)
    const report = JSON.parse(output) as { ok: boolean; ledger: ReadonlyArray<object>; chain: ReadonlyArray<object> }
    expect(report).toMatchObject({
      ok: true,
      ledger: [{ settled: "260000", fulfilled: "260000", inFlight: "0", refundDue: "0", refunded: "0", problems: [] }],
      chain: [{ received: { count: 2, amount: "260000" }, paidBack: { count: 0 }, unclaimed: [], problems: [] }]
    })
  })

  it("exits with 6 if the chain shows a transfer of no known operation", async () => {
    const agent = new Agent(sandbox, sandbox.wallets[1]!.privateKey)
    const request = { path: "/api/v1/email/mailboxes", body: { localPart: freshName() } }
    const payload = await agent.sign(await agent.challenge(request))
    const settled = await fetch(`${sandbox.facilitatorUrl}/settle`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ x402Version: 2, paymentPayload: payload, paymentRequirements: payload.accepted })
    })
    expect(await settled.json()).toMatchObject({ success: true })
    const { output, status } = await runServerCommand(["ledger"], environment)
    expect(status).toBe(6)
    expect(JSON.parse(output)).toMatchObject({
      ok: false,
      chain: [{ unclaimed: [{ wallet: agent.account.address.toLowerCase(), amount: "250000" }], problems: [] }]
    })

    const { transaction: received } = JSON.parse(output).chain[0].unclaimed[0] as { readonly transaction: string }
    const returning = (transaction: string) =>
      runServerCommandHere(["transfers", "return", received, "--tx", transaction, "--yes", "--json"], environment)
    const transaction = await sendBack(agent.account.address, 250_000n)
    await mineUntilFinal()
    for (let time = 0; time < 2; time++) {
      const { errors, output: returned, status: code } = await returning(transaction)
      expect({ code, errors }).toEqual({ code: 0, errors: "" })
      expect(JSON.parse(returned)).toMatchObject({ receivedTransaction: received, transaction, baseUnits: "250000" })
    }
    expect((await runServerCommandHere(["ledger"], environment)).status).toBe(0)
  })

  it("exits with 0 if money was moved between own wallets, and names the transfer", async () => {
    const transaction = await sendBack(payment.payTo, 5_000_000n, payment.refund.privateKey)
    const { output, status } = await runServerCommandHere(["ledger"], environment)
    expect(status).toBe(0)
    const from = privateKeyToAccount(payment.refund.privateKey).address.toLowerCase()
    expect(JSON.parse(output)).toMatchObject({
      ok: true,
      amounts: expect.stringContaining("1000000 are 1 token"),
      chain: [
        {
          decimals: 6,
          ownTransfers: [{ transaction, from, to: payment.payTo.toLowerCase(), amount: "5000000" }],
          unclaimed: [],
          problems: []
        }
      ]
    })
  })

  it("exits with 0 once a refund that is stuck was made and recorded by hand", async () => {
    const agent = new Agent(sandbox, sandbox.wallets[2]!.privateKey)
    await agent.createMailbox(freshName())
    const wallet = agent.account.address
    const listed = await runServerCommandHere(["operations", "list", "--tenant", wallet, "--json"], environment)
    const { operationId } = (JSON.parse(listed.output) as Page<OperationReport>).items[0]!
    // Its goods were withdrawn, and no server can pay the refund.
    await execute(
      postgres.url,
      `update operations set state = 'refund_due', due_at = 8000000000000, refund_nonce = '0x${"5e".repeat(32)}'
       where operation_id = '${operationId}'`
    )
    await execute(
      postgres.url,
      `insert into ledger_entries (operation_id, account, network, asset, amount, created_at)
       select operation_id, account, network, asset, sign * amount, updated_at from operations,
         (values ('fulfilled', -1), ('refundDue', 1)) as entry (account, sign) where operation_id = '${operationId}'`
    )
    const refund = (transaction: string) =>
      runServerCommandHere(
        ["operations", "refund", operationId, "--tx", transaction, "--reason", "Wallet lost", "--yes", "--json"],
        environment
      )
    const [partial, transaction] = [await sendBack(wallet, 249_999n), await sendBack(wallet, 250_000n)]
    await mineUntilFinal()
    expect(await refund(partial)).toMatchObject({ status: 6, errors: expect.stringContaining("has no transfer of") })
    for (let time = 0; time < 2; time++) {
      const { errors, output, status } = await refund(transaction)
      expect({ status, errors }).toEqual({ status: 0, errors: "" })
      expect(JSON.parse(output)).toMatchObject({ state: "refunded", refund: { transaction }, nextAttempt: null })
    }
    const report = await runServerCommandHere(["ledger"], environment)
    expect(report).toMatchObject({ status: 0, output: expect.stringContaining('"refunded": "250000"') })
    const shown = await runServerCommandHere(["operations", "show", operationId, "--json"], environment)
    expect(JSON.parse(shown.output).timeline).toEqual([
      expect.objectContaining({ event: "claimed" }),
      expect.objectContaining({ event: "fulfilled" }),
      expect.objectContaining({ event: "refund_due" }),
      expect.objectContaining({ event: "operation.refund", outcome: "failed", reason: "Wallet lost" }),
      expect.objectContaining({ event: "operation.refund", outcome: "succeeded" }),
      expect.objectContaining({ event: "refunded", transaction }),
      expect.objectContaining({ event: "operation.refund", outcome: "succeeded" })
    ])
  })

  it("refuses a database without tables, and creates none", async () => {
    await execute(postgres.url, "create database untouched")
    const { errors, output, status } = await runServerCommandHere(["ledger"], {
      ...environment,
      DATABASE_URL: urlOf("untouched")
    })
    expect({ output, status }).toEqual({ output: "", status: 1 })
    expect(errors).toMatch(/has \d+ pending migrations/)
    const check = await runServerCommandHere(["migrate", "--check", "--json"], { DATABASE_URL: urlOf("untouched") })
    expect(JSON.parse(check.output)).toMatchObject({ pending: expect.arrayContaining(["0001_baseline"]) })
  })

  it("exits with 1 and the reason if the check fails", async () => {
    const { errors, output, status } = await runServerCommandHere(["ledger"], {
      ...environment,
      AGENTOS_NETWORKS: "[]"
    })
    expect({ output, status }).toEqual({ output: "", status: 1 })
    expect(errors).toContain("AGENTOS_NETWORKS")
  })
})

describe("agentos-server migrate", () => {
  it("migrates an empty PostgreSQL once, and --check says whether it must", async () => {
    await execute(postgres.url, "create database migrated")
    const migrate = async (...flags: ReadonlyArray<string>) => {
      const run = await runServerCommandHere(["migrate", "--json", ...flags], { DATABASE_URL: urlOf("migrated") })
      return { status: run.status, ...(JSON.parse(run.output) as Record<"applied" | "pending", ReadonlyArray<string>>) }
    }
    const before = await migrate("--check")
    expect(before).toMatchObject({ status: 2, applied: [], pending: expect.arrayContaining(["0001_baseline"]) })
    expect(await migrate("--check")).toEqual(before)
    expect(await migrate()).toMatchObject({ status: 0, applied: before.pending, pending: [] })
    expect(await migrate()).toMatchObject({ status: 0, applied: [], pending: [] })
    expect(await migrate("--check")).toMatchObject({ status: 0, applied: [], pending: [] })
    await execute(urlOf("migrated"), "insert into agentos_migrations (migration_id, name) values (9001, 'later')")
    const { checks, status } = await checkConfig({ DATABASE_URL: urlOf("migrated") })
    expect(status).toBe(0)
    expect(checks[1]).toEqual({
      ...failed("database", /newer version: 9001_later/, /newer version/),
      status: "warning"
    })
  })
})

describe("agentos-server start", () => {
  it("leaves the jobs to other servers with --no-jobs, and ends at once on a second signal", async () => {
    await execute(postgres.url, "create database started")
    const settings = { ...environment, DATABASE_URL: urlOf("started"), AGENTOS_PORT: "0", AGENTOS_SMTP_PORT: "0" }
    const jobsRun = async () => {
      const { output } = await runServerCommandHere(["jobs", "list", "--json"], settings)
      return (JSON.parse(output) as { readonly items: ReadonlyArray<unknown> }).items.length
    }
    const quiet = await startServer(settings, "--no-jobs")
    expect((await fetch(`${quiet.baseUrl}/health/ready`)).status).toBe(200)
    expect(await quiet.stop()).toBe(0)
    expect(await jobsRun()).toBe(0)

    const server = await startServer(settings)
    await vi.waitFor(async () => expect(await jobsRun()).toBeGreaterThan(0), { timeout: 60_000, interval: 500 })
    // A request whose body does not arrive is in progress for as long as the server allows.
    const request = await unfinishedRequest(server.port)
    server.child.kill("SIGTERM")
    await untilRefused(server.port)
    expect(server.child.exitCode).toBeNull()
    // The first signal alone would end in 0, after the drain.
    expect(await server.stop()).toBe(130)
    request.destroy()
  })

  it("refuses in one line a database and a certificate that can't serve, as check-config does", async () => {
    await execute(
      postgres.url,
      "create database ascii encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0"
    )
    const database = { DATABASE_URL: urlOf("ascii") }
    const started = await runServerCommand(["start"], { ...environment, ...database })
    expect(started).toMatchObject({ status: 3, output: "" })
    expect(started.errors.trim()).toMatch(
      /^.*the database ascii has the encoding SQL_ASCII\. Create a database with: .*$/
    )
    expect((await checkConfig(database)).checks[1]).toEqual(failed("database", /encoding SQL_ASCII/, /encoding 'UTF8'/))

    const [own, other] = [await certificateFiles("other.example"), await certificateFiles("x.example")]
    const mixed = { AGENTOS_SMTP_CERT_FILE: own.certificate, AGENTOS_SMTP_KEY_FILE: other.key }
    for (const [command, code] of [
      [["start"], 3],
      [["check-config", "--offline"], 1]
    ] as const) {
      const { errors, status } = await runServerCommand(command, { ...environment, ...mixed })
      expect(status).toBe(code)
      expect(errors).toContain(
        "AGENTOS_SMTP_CERT_FILE and AGENTOS_SMTP_KEY_FILE: the certificate and the private key do not"
      )
    }
    const { checks } = await checkConfig(
      { AGENTOS_SMTP_CERT_FILE: own.certificate, AGENTOS_SMTP_KEY_FILE: own.key },
      "--offline"
    )
    expect(checks[1]).toEqual(failed("mail certificate", /does not name .*other\.example/, /AGENTOS_SMTP_NAME/))
  })

  it("names its variables, and not the options behind them, in its requests to the operator", async () => {
    const pool = await checkConfig({ AGENTOS_DATABASE_POOL: "500" })
    expect(pool.checks[1]).toEqual(failed("database", /needs 504 connections/, /, or lower AGENTOS_DATABASE_POOL\.$/))

    await execute(postgres.url, "create database named")
    const server = await startServer({
      ...environment,
      DATABASE_URL: urlOf("named"),
      AGENTOS_OPERATOR_TOKEN: "o".repeat(32),
      AGENTOS_PORT: "0",
      AGENTOS_OPERATOR_PORT: "0",
      AGENTOS_SMTP_PORT: "0"
    })
    const messageOf = async (response: Response): Promise<unknown> => {
      const { error } = (await response.json()) as { readonly error: { readonly message: string } }
      return error.message
    }
    try {
      expect(await messageOf(await fetch(`${server.operatorUrl}/internal/jobs`))).toBe(
        "Operator token required. Send Authorization: Bearer <AGENTOS_OPERATOR_TOKEN>."
      )
      const headers = { "sec-fetch-site": "cross-site", origin: "https://other.example" }
      const signIn = await fetch(`${server.baseUrl}/api/v1/auth/token`, { method: "POST", headers })
      expect(await messageOf(signIn)).toMatch(/to list the page's origin in AGENTOS_SIGN_IN_ORIGINS\.$/)
    } finally {
      await server.stop()
    }
  })

  it("refuses --no-jobs with an embedded database, whose jobs no other server could run", async () => {
    const { errors, status } = await runServerCommand(["start", "--no-jobs"], {
      ...environment,
      DATABASE_URL: "",
      AGENTOS_DATA_DIR: join(running.directory, "unused")
    })
    expect(status).toBe(3)
    expect(errors).toContain("--no-jobs needs PostgreSQL")
  })
})

describe("agentos-server jobs run", () => {
  it("runs a job that is not due, reports an unknown one with 5, and one that runs elsewhere with 6", async () => {
    const { output, status } = await runServerCommand(["jobs", "run", "ledger-audit", "--json"], environment)
    expect({ status, output: JSON.parse(output) as unknown }).toEqual({
      status: 0,
      output: { name: "ledger-audit", done: expect.any(Number) }
    })
    const unknown = await runServerCommandHere(["jobs", "run", "no-such-job"], environment)
    expect(unknown).toMatchObject({
      status: 5,
      output: "",
      errors: expect.stringContaining("agentos-server jobs list")
    })
    await execute(postgres.url, "update jobs set leased_until = 8000000000000 where name = 'event-retention'")
    const busy = await runServerCommandHere(["jobs", "run", "event-retention"], environment)
    expect(busy).toMatchObject({ status: 6, errors: expect.stringContaining("is running already") })
  })
})

describe("agentos-server numbers", () => {
  it("lists numbers at the carrier without a record, and releases one after a confirmation", async () => {
    const account = await CarrierAccount.open(running, sandbox)
    const [ours, others] = ["+19075550140", "+19075550141"]
    await account.buy(ours, "agentos")
    await account.buy(others, "another deployment")
    const list = async () => {
      const { output } = await runServerCommandHere(["numbers", "list", "--json"], environment)
      return (JSON.parse(output) as { readonly items: ReadonlyArray<{ readonly number: string }> }).items
    }
    const sid = await account.sidOf(ours)
    expect(await list()).toEqual([{ number: ours, providerNumberId: sid }])
    const release = (...argv: ReadonlyArray<string>) =>
      runServerCommandHere(["numbers", "release", ...argv], environment)
    expect((await release(ours)).status).toBe(3)
    expect((await release(others, "--yes")).status).toBe(5)
    expect(await account.sidOf(ours)).toBe(sid)
    const released = await release(ours, "--yes", "--json")
    expect({ status: released.status, output: JSON.parse(released.output) as unknown }).toEqual({
      status: 0,
      output: { number: ours }
    })
    expect(await account.sidOf(ours)).toBeUndefined()
    expect(await account.sidOf(others)).toMatch(/^PN/)
    expect(await list()).toEqual([])
  })
})

describe("agentos-server operations", () => {
  it("lists and shows the operations of a running server, which takes over one that is retried", async () => {
    const agent = new Agent(sandbox, sandbox.wallets[3]!.privateKey)
    await agent.createMailbox(freshName())
    const wallet = agent.account.address
    const json = async (...argv: ReadonlyArray<string>) => {
      const { errors, output, status } = await runServerCommandHere(["operations", ...argv, "--json"], environment)
      expect({ status, errors }).toEqual({ status: 0, errors: "" })
      return JSON.parse(output) as unknown
    }
    const { items, nextCursor } = (await json("list", "--payer", wallet)) as Page<OperationReport>
    expect(nextCursor).toBeNull()
    expect(items).toEqual([
      expect.objectContaining({
        serviceId: "email.mailbox.create",
        state: "fulfilled",
        paymentState: "settled",
        payer: wallet.toLowerCase(),
        baseUnits: "250000",
        nextAttempt: null
      })
    ])
    const { operationId } = items[0]!
    expect(await json("show", operationId)).toMatchObject({
      ...items[0],
      timeline: [{ event: "claimed" }, { event: "fulfilled", transaction: items[0]!.transaction }]
    })

    const retry = (id: string, ...flags: ReadonlyArray<string>) =>
      runServerCommandHere(["operations", "retry", id, ...flags], environment)
    expect((await retry(operationId)).status).toBe(3)
    const final = await retry(operationId, "--yes")
    expect(final).toMatchObject({
      status: 6,
      output: "",
      errors: expect.stringContaining("There is nothing to retry.")
    })
    expect((await retry(crypto.randomUUID(), "--yes")).status).toBe(5)

    // A copy of the operation whose authorization was refused and never used, which no worker takes over for years.
    const refused = crypto.randomUUID()
    const nonce = `0x${refused.replaceAll("-", "").repeat(2)}`
    const columns =
      "tenant_id, service_id, endpoint, fingerprint, request_id, network, asset, payer, amount, terms, input, plan, created_at, updated_at"
    await execute(
      postgres.url,
      `insert into operations (operation_id, idempotency_key, nonce, proof, state, fence, due_at, nonce_read_at_block, ${columns})
       select '${refused}', 'refused', '${nonce}', replace(proof, nonce, '${nonce}'), 'refused', 1, 8000000000000, nonce_read_at_block, ${columns}
       from operations where operation_id = '${operationId}'`
    )
    const open = (await json("list", "--state", "refused")) as Page<OperationReport>
    const nextAttempt = { kind: "scheduled", at: new Date(8_000_000_000_000).toISOString() }
    expect(open.items).toMatchObject([{ operationId: refused, paymentState: "unknown", nextAttempt }])
    expect((await retry(refused, "--yes")).status).toBe(0)
    const takenOver = `select 1 from operations where operation_id = '${refused}' and fence > 1`
    await vi.waitFor(async () => expect(await execute(postgres.url, takenOver)).toHaveLength(1), {
      timeout: 60_000,
      interval: 250
    })
  })
})

describe("agentos-server sell", () => {
  it("stops the sales of a running server within 5 s, and starts them again", async () => {
    const agent = new Agent(sandbox, sandbox.wallets[4]!.privateKey)
    const request = { path: "/api/v1/email/mailboxes", body: { localPart: freshName() } }
    const sell = async (...argv: ReadonlyArray<string>) => {
      const { errors, output, status } = await runServerCommandHere(["sell", ...argv, "--json"], environment)
      expect({ status, errors }).toEqual({ status: 0, errors: "" })
      return JSON.parse(output) as unknown
    }
    const untilStatus = (expected: number) =>
      vi.waitFor(async () => expect((await agent.send(request)).status).toBe(expected), {
        timeout: 5_000,
        interval: 100
      })
    expect((await agent.send(request)).status).toBe(402)
    const stop = { service: "email.mailbox.create", reason: "The domain is moving.", at: expect.any(String) }
    expect(await sell("stop", stop.service, "--reason", stop.reason, "--yes")).toEqual({ stops: [stop] })
    try {
      await untilStatus(503)
      expect((await agent.send({ path: "/api/v1/email/messages/send", body: {} })).status).toBe(428)
    } finally {
      expect(await sell("start", stop.service)).toEqual({ started: true, stops: [] })
    }
    await untilStatus(402)
  })
})

describe("agentos-server mail and webhooks", () => {
  const FAR = 8_000_000_000_000
  const PATIENCE = { timeout: 60_000, interval: 50 }

  /** Runs a statement until it changes or finds this many rows. */
  const until = (statement: string, count: number) =>
    vi.waitFor(async () => expect(await execute(postgres.url, statement)).toHaveLength(count), PATIENCE)

  const command = async (...argv: ReadonlyArray<string>) => {
    const { errors, output, status } = await runServerCommandHere([...argv, "--json"], environment)
    expect({ status, errors }).toEqual({ status: 0, errors: "" })
    return JSON.parse(output) as unknown
  }
  /** Returns the answer of a route of the private listener. */
  const route = async <A>(path: string, method = "GET", status = 200): Promise<A> => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    const response = await fetch(`${sandbox.operatorUrl}/internal/${path}`, { method, headers })
    expect(response.status).toBe(status)
    return ((await response.json()) as { readonly data: A }).data
  }
  const CONFIRMED = ["--reason", "Repaired", "--yes"]

  /** Starts an endpoint that answers 503 while it is down, and records the events that it accepts. */
  const startEndpoint = async () => {
    const state = { isUp: false, accepted: [] as Array<unknown> }
    const server = createServer((request, response) => {
      request.resume()
      if (state.isUp) state.accepted.push(request.headers["webhook-id"])
      response.writeHead(state.isUp ? 204 : 503).end()
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    return { state, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
  }

  it("end what was stuck, with one record in the audit for each attempt, and an exact ledger", async () => {
    const agent = new Agent(sandbox, sandbox.wallets[4]!.privateKey)
    const { address, mailboxId } = await agent.createMailbox(freshName())
    const wallet = agent.account.address
    const [tenant] = await execute(postgres.url, `select tenant_id from mailboxes where mailbox_id = '${mailboxId}'`)
    const tenantId = String(tenant?.["tenant_id"])

    // An endpoint that has been down for hours, so that its retries wait for hours.
    const endpoint = await startEndpoint()
    const since = new Date(Date.now() - 3_600_000).toISOString()
    expect((await agent.send({ path: "/api/v1/events/webhook", body: { url: endpoint.url } })).status).toBe(201)
    await until(
      `update event_webhooks set due_at = ${FAR}, resting = true,
         retries = regexp_replace(retries, '"nextAttemptAt":[0-9]+', '"nextAttemptAt":${FAR}', 'g')
       where tenant_id = '${tenantId}' and failures > 0 and leased_until is null returning 1`,
      1
    )

    // Two messages that the relay defers, in a long backoff.
    const schedule = async (recipient: string) => {
      const sendAt = new Date(Date.now() + 3_600_000).toISOString()
      const body = { mailboxId, to: [recipient], subject: "Hello", text: "Hi", sendAt }
      const { data } = (await agent.pay({ path: "/api/v1/email/messages/send", body })).body
      return (data["message"] as unknown as { readonly messageId: string }).messageId
    }
    const recipient = `${freshName()}@greylist.test`
    const [greylisted, refused] = [await schedule(recipient), await schedule("nobody@defer.test")]
    const isTheirs = `message_id in ('${greylisted}', '${refused}')`
    await execute(postgres.url, `update message_retries set due_at = 0 where ${isTheirs}`)
    await until(`select 1 from message_retries where ${isTheirs} and outcome = 'deferred'`, 2)
    await execute(postgres.url, `update message_retries set due_at = ${FAR} where ${isTheirs}`)

    // Two mails that the database refuses to deliver.
    await execute(
      postgres.url,
      `create function refuse_mail() returns trigger language plpgsql as $$
       begin raise exception 'planted fault'; end $$`,
      `create trigger refuse_mail before insert on messages for each row
       when (new.tenant_id = '${tenantId}') execute function refuse_mail()`
    )
    const { host, port } = sandbox.mail
    const transport = createTransport({ host, port, requireTLS: true, tls: { rejectUnauthorized: false } })
    for (const subject of ["first", "second"]) {
      await transport.sendMail({ from: "bob@letters.example", to: address, subject, text: `The ${subject} letter` })
    }
    await until(`select 1 from inbound_mails where failure is not null and not completed`, 2)
    await execute(postgres.url, "drop function refuse_mail cascade")

    const inbound = await route<Page<InboundMailReport>>(`mail/inbound?state=failed&mailbox=${address}`)
    expect(inbound).toEqual({
      nextCursor: null,
      items: Array.from({ length: 2 }, () =>
        expect.objectContaining({
          failure: expect.stringContaining("planted fault"),
          nextAttempt: { kind: "scheduled", at: expect.any(String) },
          mailboxIds: [mailboxId],
          envelope: expect.objectContaining({ mailFrom: "bob@letters.example", rcptTo: [address] })
        })
      )
    })
    const [first, second] = inbound.items.map(({ inboundMailId }) => inboundMailId) as [string, string]
    expect(await route(`mail/inbound/${first}/content`, "POST")).toEqual({
      inboundMailId: first,
      content: expect.stringContaining("The first letter"),
      isWhole: true
    })
    const { output: lines } = await runServerCommandHere(["mail", "inbound", "show", first, "--content"], environment)
    expect(lines).toMatch(/^Subject: first\r?$[^]*^\r?$[^]*^The first letter\r?$/m)
    await command("mail", "inbound", "replay", first, ...CONFIRMED)
    await until(`select 1 from messages where inbound_mail_id = '${first}' and mailbox_id = '${mailboxId}'`, 1)
    expect(await command("mail", "inbound", "drop", second, ...CONFIRMED)).toMatchObject({ inboundMailId: second })

    const outbound = await route<Page<OutboundMessageReport>>(`mail/outbound?tenant=${wallet}&state=deferred`)
    expect(outbound.items.map(({ messageId }) => messageId).toSorted()).toEqual([greylisted, refused].toSorted())
    expect(outbound.items[0]).toMatchObject({ dueAt: new Date(FAR).toISOString(), attempts: 1 })
    await command("mail", "outbound", "retry", greylisted, ...CONFIRMED)
    await until(`select 1 from message_retries where message_id = '${greylisted}'`, 0)
    const canceled = await command("mail", "outbound", "cancel", refused, ...CONFIRMED)
    const { operationId } = outbound.items.find(({ messageId }) => messageId === refused)!
    expect(canceled).toMatchObject({ messageId: refused, status: "failed", operationId, isRefunded: true })
    await route(`mail/outbound/${refused}/cancel`, "POST", 404)

    // Its event is the last one of this tenant.
    await until(`select 1 from operations where operation_id = '${operationId}' and state = 'refunded'`, 1)
    const [webhook] = (await route<Page<WebhookReport>>(`webhooks?state=failing&tenant=${wallet}`)).items
    expect(webhook).toMatchObject({ lastDelivery: { outcome: "failed", responseStatus: 503 }, state: "failing" })
    const { webhookId } = webhook!
    const open = `select event_id from events where open_tenant_id = '${tenantId}' order by created_at, event_id`
    const waiting = (await execute(postgres.url, open)).map(({ event_id }) => event_id)
    expect(waiting.length).toBeGreaterThan(2)
    const preview = await route<RedeliveryReport>(`webhooks/redelivery?since=${since}&webhookId=${webhookId}`)
    expect(preview).toMatchObject({ isWhole: true, items: [{ webhookId, failed: 0, waiting: waiting.length }] })
    endpoint.state.isUp = true
    const redelivered = await command("webhooks", "redeliver", "--since", since, "--webhook", webhookId, ...CONFIRMED)
    expect(redelivered).toEqual(preview)
    await until(open, 0)
    expect(endpoint.state.accepted.slice(0, waiting.length)).toEqual(waiting)
    expect(new Set(endpoint.state.accepted).size).toBe(endpoint.state.accepted.length)

    endpoint.server.close()
    endpoint.server.closeAllConnections()
    const mails = (await readdir(sandbox.mail.outboxDir)).filter((name) => name.endsWith(".eml"))
    const texts = await Promise.all(mails.map((name) => readFile(join(sandbox.mail.outboxDir, name), "utf8")))
    expect(texts.filter((text) => text.includes(recipient))).toHaveLength(1)
    await mineUntilFinal()
    // The refund came from the wallet of the sandbox, not from that of these commands.
    const refund = { ...payment.refund, formerWallets: [sandbox.chain.refundWallet] }
    const networks = { AGENTOS_NETWORKS: JSON.stringify([{ ...payment, refund }]) }
    const ledger = await runServerCommandHere(["ledger"], { ...environment, ...networks })
    expect({ status: ledger.status, report: JSON.parse(ledger.output) as unknown }).toMatchObject({
      status: 0,
      report: { ok: true, ledger: [{ refundDue: "0" }] }
    })
    const actionsOn = async (target: string) =>
      (await route<Page<AuditReport>>(`audit?target=${target}`)).items.map(
        ({ action, outcome, reason }) => `${action} ${outcome} ${reason}`
      )
    expect(await Promise.all([first, second, greylisted, refused, webhookId].map(actionsOn))).toEqual([
      [
        "inbound-mail.replay succeeded Repaired",
        "inbound-mail.read succeeded null",
        "inbound-mail.read succeeded null"
      ],
      ["inbound-mail.drop succeeded Repaired"],
      ["outbound-message.retry succeeded Repaired"],
      ["outbound-message.cancel failed null", "outbound-message.cancel succeeded Repaired"],
      ["webhooks.redeliver succeeded Repaired"]
    ])
  })
})

describe("agentos-server token revoke", () => {
  it("ends the access tokens of a wallet, and asks for a confirmation", async () => {
    const agent = new Agent(sandbox, sandbox.wallets[2]!.privateKey)
    await agent.createMailbox(freshName())
    const wallet = agent.account.address
    expect((await runServerCommandHere(["token", "revoke", wallet], environment)).status).toBe(3)
    expect((await agent.send({ path: "/api/v1/events" })).status).toBe(200)
    // Without its audit record, nothing is revoked: the two are one transaction.
    const unwritable = "constraint unwritable"
    await execute(
      postgres.url,
      `alter table audit_records add ${unwritable} check (action <> 'tenant.revoke-tokens') not valid`
    )
    expect((await runServerCommandHere(["token", "revoke", wallet, "--yes"], environment)).status).not.toBe(0)
    await execute(postgres.url, `alter table audit_records drop ${unwritable}`)
    const versions = `select token_version from tenants where wallet = '${wallet.toLowerCase()}'`
    expect(await execute(postgres.url, versions)).toEqual([{ token_version: 1 }])
    const revoked = await runServerCommandHere(["token", "revoke", wallet, "--yes", "--json"], environment)
    expect({ status: revoked.status, output: JSON.parse(revoked.output) as unknown }).toEqual({
      status: 0,
      output: { tenantId: expect.any(String), wallet: wallet.toLowerCase() }
    })
    await vi.waitFor(async () => expect((await agent.send({ path: "/api/v1/events" })).status).toBe(401), {
      timeout: 60_000,
      interval: 250
    })
    const unknown = await runServerCommandHere(["token", "revoke", `0x${"1".repeat(40)}`, "--yes"], environment)
    expect(unknown).toMatchObject({ status: 5, output: "" })
  })
})

describe("agentos-server --env-file", () => {
  it("reads variables from a file, below those that are set", async () => {
    const file = join(running.directory, "agentos.env")
    const lines = Object.entries({ ...environment, DATABASE_URL: urlOf("absent") }).map(
      ([name, value]) => `${name}=${value}`
    )
    await writeFile(file, lines.join("\n"))
    const databaseOf = async (variables: Readonly<Record<string, string>>) => {
      const { output } = await runServerCommand(["check-config", "--json", "--env-file", file], variables)
      return (JSON.parse(output) as { readonly checks: ReadonlyArray<Check> }).checks[1]
    }
    expect(await databaseOf({})).toMatchObject({ name: "database", status: "failed" })
    expect(await databaseOf({ DATABASE_URL: postgres.url })).toMatchObject({ name: "database", status: "ok" })
    // Node itself reads the flag first, and ends with a code of its own.
    const missing = await runServerCommand(["check-config", "--env-file", `${file}.missing`], {})
    expect(missing.status).not.toBe(0)
    expect(missing.errors).toContain(`${file}.missing`)
  })
})

// It buys from a server over another database, so the ledger of the others would miss what was paid.
describe("the metrics of a server", () => {
  it("move for the part of its surroundings that stops, and stay few", { timeout: 90_000 }, async () => {
    await execute(postgres.url, "create database surroundings")
    const stopped = new Set<string>()
    const forwarders = new Map<string, Forwarder>()
    /** Returns the port at which a part is reached until it is stopped. */
    const reached = async (part: string, url: string): Promise<string> => {
      const forwarder = await startForwarder(() => (stopped.has(part) ? undefined : Number(new URL(url).port)))
      forwarders.set(part, forwarder)
      return String(forwarder.port)
    }
    const database = new URL(urlOf("surroundings"))
    database.port = await reached("database", postgres.url)
    const token = "o".repeat(32)
    const callback = new URL(sandbox.agentWebhookUrl)
    const relay = `smtp://127.0.0.1:${sandbox.mail.relayPort}`
    const server = await startServer({
      ...environment,
      DATABASE_URL: database.href,
      AGENTOS_PORT: "0",
      AGENTOS_SMTP_PORT: "0",
      AGENTOS_OPERATOR_TOKEN: token,
      AGENTOS_SMTP_RELAY_PORT: await reached("relay", relay),
      AGENTOS_TWILIO_API_URL: `http://127.0.0.1:${await reached("carrier", sandbox.carrier.url)}`,
      AGENTOS_AGENT_WEBHOOK_ALLOW: JSON.stringify([
        { loopback: "http" },
        { host: callback.hostname, port: Number(callback.port), caFile: sandbox.agentWebhookCa }
      ]),
      AGENTOS_NETWORKS: JSON.stringify([
        {
          ...payment,
          rpcUrl: `http://127.0.0.1:${await reached("chain", payment.rpcUrl)}`,
          facilitator: { url: `http://127.0.0.1:${await reached("facilitator", payment.facilitator.url)}` }
        }
      ])
    })
    const scrape = async () => {
      const headers = { authorization: `Bearer ${token}` }
      return samplesIn(await (await fetch(`${server.operatorUrl}/internal/metrics`, { headers })).text())
    }
    const agent = new Agent(server, sandbox.wallets[3]!.privateKey)
    try {
      const { mailboxId } = await agent.createMailbox(freshName())
      const send = { mailboxId, to: ["bob@example.com"], subject: "x", text: "x" }
      const rename = { path: "/api/v1/email/mailboxes/update", body: { mailboxId, displayName: "Ada" } }
      const calls = (port: string, method: string) => ({
        name: "agentos_provider_calls_total",
        labels: { port, method, outcome: "temporary|unknown" }
      })
      /** Each part, the series that moves once it has stopped, and what uses it. */
      const parts = [
        [
          "carrier",
          calls("telephony", "search"),
          () =>
            agent.send({
              path: BUY_US,
              body: { agentName: "Ada", agentWebhookUrl: sandbox.agentWebhookUrl }
            })
        ],
        ["relay", calls("email", "send"), () => agent.pay({ path: "/api/v1/email/messages/send", body: send })],
        ["facilitator", calls("payment", "settle"), () => agent.pay(rename)],
        [
          "chain",
          calls("payment", "verify|readNonce"),
          () => agent.pay({ path: "/api/v1/email/messages/send", body: send })
        ],
        [
          "receiver",
          { name: "agentos_webhook_attempts_total", labels: { outcome: "failed" } },
          async () => {
            await agent.send({ path: "/api/v1/events/webhook", body: { url: "http://127.0.0.1:2/events" } })
            await agent.pay({ path: "/api/v1/email/messages/send", body: send })
          }
        ],
        ["database", { name: "agentos_database_up", labels: {} }, async () => undefined]
      ] as const
      const before = (await scrape()).length
      for (const [part, { labels, name }, use] of parts) {
        const value = async () =>
          (await scrape())
            .filter(
              (sample) =>
                sample.name === name &&
                Object.entries(labels).every(([label, wanted]) =>
                  new RegExp(`^(?:${wanted})$`).test(sample.labels[label] ?? "")
                )
            )
            .reduce((sum, sample) => sum + sample.value, 0)
        const earlier = await value()
        stopped.add(part)
        forwarders.get(part)?.cut()
        await use().catch(() => undefined)
        await vi.waitFor(async () => expect([part, await value()]).not.toEqual([part, earlier]), {
          timeout: 20_000,
          interval: 50
        })
        if (part !== "database") stopped.delete(part)
      }
      // Labels name routes, states and jobs: traffic adds few series, and no series of its own.
      stopped.clear()
      await vi.waitFor(async () => expect((await scrape()).length).toBeGreaterThan(before), 20_000)
      const samples = await scrape()
      expect(samples.length).toBeLessThan(2_000)
      expect(samples.find(({ name }) => name === "agentos_refund_wallet_usdt")?.value).toBeGreaterThan(0)
      const values = new Set(samples.flatMap((sample) => Object.values(sample.labels)))
      for (const own of [mailboxId, agent.account.address.toLowerCase(), "bob@example.com"]) {
        expect([...values].filter((value) => value.toLowerCase().includes(own))).toEqual([])
      }
    } finally {
      await server.stop()
      await Promise.all([...forwarders.values()].map(({ stop }) => stop()))
    }
  })
})
