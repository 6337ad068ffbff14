import type { SandboxDescription } from "@agentos/sandbox"
import { startPostgres } from "@agentos/postgres/testing"
import { createTransport } from "nodemailer"
import { randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { buyMailbox, freePort } from "./Client.ts"
import { type Installation, NODE_VERSIONS } from "./Installation.ts"
import { startForTest } from "./Running.ts"

const PROGRAM = "node_modules/.bin/agentos-server"

const DATABASES = ["PostgreSQL", "an embedded database"] as const

/** Tests the command agentos-server with the chain, facilitator and relay of a sandbox. */
export const serverSuite = (installed: () => Installation, sandbox: () => SandboxDescription): void => {
  it.each(NODE_VERSIONS.flatMap((version) => DATABASES.map((database) => [database, version] as const)))(
    "sells a mailbox on %s, receives mail and keeps both over a restart on Node %i",
    async (database, version) => {
      const { emailDomain, mail, networks, wallets } = sandbox()
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const variables = {
        AGENTOS_ENVIRONMENT: "sandbox",
        AGENTOS_PUBLIC_URL: url,
        AGENTOS_PORT: String(port),
        AGENTOS_KEYS: `1:${randomBytes(32).toString("base64")}`,
        AGENTOS_OPERATOR_TOKEN: randomBytes(32).toString("hex"),
        AGENTOS_OPERATOR_LISTEN: "127.0.0.1:0",
        AGENTOS_NETWORKS: JSON.stringify(networks),
        AGENTOS_EMAIL_DOMAIN: emailDomain,
        AGENTOS_SMTP_PORT: "0",
        AGENTOS_SMTP_RELAY_HOST: mail.host,
        AGENTOS_SMTP_RELAY_PORT: String(mail.relayPort),
        AGENTOS_SMTP_RELAY_TLS: "none",
        ...(await databaseOf(database, `server-${version}`))
      }
      const first = startForTest(installed(), version, PROGRAM, ["start"], variables)
      expect(await first.find(/"http":\{"host":"127.0.0.1","port":(\d+)\}/)).toBe(String(port))
      const operatorPort = await first.find(/"operator":\{"host":"127.0.0.1","port":(\d+)\}/)
      const script = await fetch(`http://127.0.0.1:${operatorPort}/internal/console/main.js`)
      expect([script.status, script.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"])
      const localPart = `server-${version}-${database === "PostgreSQL" ? "pg" : "embedded"}`
      const { address, token } = await buyMailbox(url, wallets[0]!.privateKey, localPart)
      const read = async (path: string) => {
        const answer = await fetch(`${url}/api/v1/email/${path}`, { headers: { authorization: `Bearer ${token}` } })
        return ((await answer.json()) as { data: { items: ReadonlyArray<Record<string, unknown>> } }).data.items
      }
      const smtp = createTransport({
        host: "127.0.0.1",
        port: Number(await first.find(/"smtp":\{"host":"[^"]*","port":(\d+)\}/)),
        tls: { rejectUnauthorized: false }
      })
      await smtp.sendMail({ from: "friend@outside.example", to: address, subject: "Hello", text: "Hello." })
      const mailboxId = String((await read("mailboxes/query"))[0]?.["mailboxId"])
      const subjects = async () =>
        (await read(`messages/query?mailboxId=${mailboxId}`)).map((message) => message["subject"])
      await expect.poll(subjects).toEqual(["Hello"])
      expect(await first.stop()).toBe(0)

      const second = startForTest(installed(), version, PROGRAM, ["start"], variables)
      await second.find(/"http":\{"host":"127.0.0.1","port":(\d+)\}/)
      expect((await read("mailboxes/query")).map((mailbox) => mailbox["address"])).toEqual([address])
      expect(await subjects()).toEqual(["Hello"])
      expect(await second.stop()).toBe(0)
    }
  )

  it.each(NODE_VERSIONS)("compares SPF with the addresses of the relay on Node %i", async (version) => {
    const { folder } = installed()
    const domain = "agents.example.com"
    const zone = [{ name: domain, type: "TXT", value: "v=spf1 ip4:192.0.2.25 -all" }]
    writeFileSync(join(folder, "zone.json"), JSON.stringify(zone))
    const variables = {
      AGENTOS_PUBLIC_URL: "https://example.com",
      AGENTOS_EMAIL_DOMAIN: domain,
      AGENTOS_SMTP_RELAY_HOST: "relay.example.net",
      AGENTOS_DNS_ZONE_FILE: "zone.json"
    }
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(join(folder, "dns.env"), lines.join(""))
    const senders = ["--sends-from", "192.0.2.25", "--sends-from", "192.0.2.26"]
    // The zone lacks most records, so the command fails after its report.
    const failure: unknown = await installed()
      .run(version, PROGRAM, "check-dns", "--json", "--env-file", "dns.env", ...senders)
      .catch((error: unknown) => error)
    const { checks } = JSON.parse((failure as { readonly stdout: string }).stdout) as {
      readonly checks: ReadonlyArray<{ readonly name: string; readonly status: string }>
    }
    expect(checks.filter(({ name }) => name.startsWith("SPF of"))).toMatchObject([
      { name: `SPF of ${domain} for 192.0.2.25`, status: "ok" },
      { name: `SPF of ${domain} for 192.0.2.26`, status: "failed" }
    ])
  })

  it("contains the licenses of the libraries in its bundle", () => {
    const bundle = join(installed().folder, "node_modules/@agentos/server/dist/bundle")
    const licenses = readFileSync(join(bundle, "THIRD_PARTY_LICENSES"), "utf8")
    for (const library of ["effect", "viem", "nodemailer", "mailauth", "@peculiar/asn1-x509"])
      expect(licenses).toMatch(new RegExp(`^---- ${library} [\\d.]+ \\([\\w.-]+\\)\n\n\\S`, "m"))
  })

  const databaseOf = async (
    database: (typeof DATABASES)[number],
    name: string
  ): Promise<Readonly<Record<string, string>>> => {
    if (database !== "PostgreSQL") return { AGENTOS_DATA_DIR: join(installed().folder, name) }
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    return { DATABASE_URL: postgres.url }
  }
}
