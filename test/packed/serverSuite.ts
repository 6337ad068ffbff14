import type { SandboxDescription } from "@agentos/sandbox"
import { startPostgres } from "@agentos/postgres/testing"
import { randomBytes } from "node:crypto"
import { expect, it, onTestFinished } from "vitest"
import { buyMailbox, freePort } from "./Client.ts"
import { type Installation, NODE_VERSIONS } from "./Installation.ts"
import { startForTest } from "./Running.ts"

/** Tests the command agentos-server with a PostgreSQL, and the chain, facilitator and relay of a sandbox. */
export const serverSuite = (installed: () => Installation, sandbox: () => SandboxDescription): void => {
  it.each(NODE_VERSIONS)("sells a mailbox and keeps it over a restart on Node %i", async (version) => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const { emailDomain, mail, networks, wallets } = sandbox()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const variables = {
      AGENTOS_ENVIRONMENT: "sandbox",
      AGENTOS_PUBLIC_URL: url,
      AGENTOS_PORT: String(port),
      AGENTOS_KEYS: `1:${randomBytes(32).toString("base64")}`,
      AGENTOS_NETWORKS: JSON.stringify(networks),
      AGENTOS_EMAIL_DOMAIN: emailDomain,
      AGENTOS_SMTP_PORT: "0",
      AGENTOS_SMTP_RELAY_HOST: mail.host,
      AGENTOS_SMTP_RELAY_PORT: String(mail.relayPort),
      AGENTOS_SMTP_RELAY_TLS: "none",
      DATABASE_URL: postgres.url
    }
    const program = "node_modules/.bin/agentos-server"
    const first = startForTest(installed(), version, program, ["start"], variables)
    expect(await first.find(/"http":\{"host":"127.0.0.1","port":(\d+)\}/)).toBe(String(port))
    const { address, token } = await buyMailbox(url, wallets[0]!.privateKey, `server-${version}`)
    expect(await first.stop()).toBe(0)

    const second = startForTest(installed(), version, program, ["start"], variables)
    await second.find(/"http":\{"host":"127.0.0.1","port":(\d+)\}/)
    const headers = { authorization: `Bearer ${token}` }
    const listed = await fetch(`${url}/api/v1/email/mailboxes/query`, { headers })
    const { data } = (await listed.json()) as { data: { items: ReadonlyArray<{ address: string }> } }
    expect(data.items.map((mailbox) => mailbox.address)).toEqual([address])
    expect(await second.stop()).toBe(0)
  })
}
