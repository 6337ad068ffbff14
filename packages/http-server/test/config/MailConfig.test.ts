import { assert, describe, it } from "@effect/vitest"
import { type Environment, EnvironmentReader } from "../../src/config/EnvironmentReader.ts"
import { readMail } from "../../src/config/MailConfig.ts"

const MAIL = { AGENTOS_EMAIL_DOMAIN: "agents.example", AGENTOS_SMTP_RELAY_HOST: "relay.example" }

const read = (environment: Environment) => {
  const reader = new EnvironmentReader(environment)
  return { config: readMail(reader), issues: reader.issues }
}

describe("readMail", () => {
  it("logs in to the relay with a user and a password, or not at all", () => {
    assert.strictEqual(read(MAIL).config?.relay.user, undefined)
    for (const half of ["AGENTOS_SMTP_RELAY_USER", "AGENTOS_SMTP_RELAY_PASSWORD"]) {
      assert.deepStrictEqual(read({ ...MAIL, [half]: "hunter2" }).issues, [
        "AGENTOS_SMTP_RELAY_USER and AGENTOS_SMTP_RELAY_PASSWORD go together"
      ])
    }
  })

  it("takes the addresses of DNS servers, and nothing else for one", () => {
    const { config } = read({ ...MAIL, AGENTOS_DNS_SERVERS: "192.0.2.1, [2001:db8::1]:53" })
    assert.deepStrictEqual(config?.dns.servers, ["192.0.2.1", "[2001:db8::1]:53"])
    for (const servers of ["dns.example", "192.0.2.1,"]) {
      assert.match(
        read({ ...MAIL, AGENTOS_DNS_SERVERS: servers }).issues[0] ?? "",
        /^AGENTOS_DNS_SERVERS must hold addresses/
      )
    }
  })
})
