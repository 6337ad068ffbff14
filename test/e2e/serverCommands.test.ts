import { startPostgres } from "@agentos/postgres/testing"
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { privateKeyToAccount } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { SandboxDescription } from "@agentos/sandbox"
import { Agent, freshName } from "../support/Agent.ts"
import { runServerCommand } from "../support/ServerCommand.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"

interface Check {
  readonly name: string
  readonly status: string
  readonly detail: string
  readonly fix: string | null
}

/** The variables of the sandbox's services, for a server of the test's own database. */
const environmentOf = async (running: Sandbox, sandbox: SandboxDescription, databaseUrl: string) => {
  const account = await readFile(join(running.directory, "carrier", "account"), "utf8")
  const [accountSid = "", authToken = ""] = account.trim().split(":")
  const { asset, assetName, assetVersion, decimals, network, payTo, rpcUrl } = sandbox.chain
  const payment = {
    network,
    rpcUrl,
    asset,
    name: assetName,
    version: assetVersion,
    decimals,
    payTo,
    facilitator: { url: sandbox.facilitatorUrl },
    refund: sandbox.networks[0]!.refund,
    confirmations: 0,
    maxTimeoutSeconds: 30
  }
  const environment = {
    AGENTOS_ENVIRONMENT: "sandbox",
    AGENTOS_PUBLIC_URL: sandbox.baseUrl,
    AGENTOS_KEYS: "1:the check makes no use of any key at all",
    DATABASE_URL: databaseUrl,
    AGENTOS_NETWORKS: JSON.stringify([payment]),
    AGENTOS_EMAIL_DOMAIN: sandbox.emailDomain,
    AGENTOS_SMTP_RELAY_HOST: sandbox.mail.host,
    AGENTOS_SMTP_RELAY_PORT: String(sandbox.mail.relayPort),
    AGENTOS_SMTP_RELAY_TLS: "none",
    AGENTOS_TWILIO_ACCOUNT_SID: accountSid,
    AGENTOS_TWILIO_AUTH_TOKEN: authToken,
    AGENTOS_TWILIO_API_URL: sandbox.carrier.url
  }
  return { environment, payment }
}

/** PostgreSQL asks one of its roles for a password. */
const startLockedPostgres = async () => {
  const folder = await mkdtemp(join(tmpdir(), "agentos-hba-"))
  await chmod(folder, 0o755)
  const file = join(folder, "pg_hba.conf")
  await writeFile(file, "host all locked 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n", {
    mode: 0o644
  })
  const postgres = await startPostgres({ settings: { hba_file: file } })
  return { url: postgres.url, stop: () => postgres.stop().then(() => rm(folder, { recursive: true })) }
}

let postgres: Awaited<ReturnType<typeof startLockedPostgres>>
let running: Sandbox
let sandbox: SandboxDescription
let environment: Awaited<ReturnType<typeof environmentOf>>["environment"]
let payment: Awaited<ReturnType<typeof environmentOf>>["payment"]
beforeAll(async () => {
  postgres = await startLockedPostgres()
  running = await startSandbox({ environment: { DATABASE_URL: postgres.url } })
  sandbox = await running.describe()
  ;({ environment, payment } = await environmentOf(running, sandbox, postgres.url))
})
afterAll(async () => {
  await running?.stop()
  await postgres?.stop()
})

/** Returns the URL of a database of the test's PostgreSQL. */
const databaseUrl = (name: string, user = "postgres"): string => {
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  url.username = user.split(":")[0] ?? ""
  url.password = user.split(":")[1] ?? ""
  return url.href
}

const failed = (name: string, detail: RegExp, fix: RegExp) => ({
  name,
  status: "failed",
  detail: expect.stringMatching(detail),
  fix: expect.stringMatching(fix)
})

/** Checks the configuration, and returns the report. */
const checkConfig = async (changed: Readonly<Record<string, string>>, ...flags: ReadonlyArray<string>) => {
  const { errors, output, status } = await runServerCommand(["check-config", "--json", ...flags], {
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

  it("names the problem and the fix of every connection that fails, and no secret", async () => {
    const secrets = { password: "wrong-password-of-the-database", token: "wrong-token-of-the-carrier" }
    const { checks, healthy, status, text } = await checkConfig({
      DATABASE_URL: databaseUrl("postgres", `locked:${secrets.password}`),
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

  it("reports a database that does not exist, and services that do not answer or refuse the credentials", async () => {
    const nowhere = "http://127.0.0.1:2"
    const { checks, status, text } = await checkConfig({
      DATABASE_URL: databaseUrl("absent"),
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

  it("warns of a database that needs migrate, and of a refund wallet that cannot pay the largest refund", async () => {
    const empty = privateKeyToAccount(`0x${"5".repeat(64)}`).address
    const { checks, healthy, status } = await checkConfig({
      DATABASE_URL: databaseUrl("template1"),
      AGENTOS_NETWORKS: JSON.stringify([{ ...payment, refund: { privateKey: `0x${"5".repeat(64)}` } }])
    })
    expect({ status, healthy }).toEqual({ status: 0, healthy: true })
    const { network } = sandbox.chain
    expect(checks.filter(({ status: state }) => state !== "ok")).toEqual([
      { ...failed("database", /\d+ pending migrations/, /agentos-server migrate/), status: "warning" },
      {
        ...failed(`refund wallet ${network}`, /holds 0\.00 .* up to 5\.00/, new RegExp(`to ${empty}`, "i")),
        status: "warning"
      }
    ])
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
  })

  it("exits with 1 and the reason if the check fails", async () => {
    const { errors, output, status } = await runServerCommand(["ledger"], {
      ...environment,
      AGENTOS_NETWORKS: "[]"
    })
    expect({ output, status }).toEqual({ output: "", status: 1 })
    expect(errors).toContain("AGENTOS_NETWORKS")
  })
})
