import { Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { EnvironmentReader } from "../../src/config/EnvironmentReader.ts"
import type { Environment } from "../../src/variable/Variables.ts"
import { readMail } from "../../src/config/MailConfig.ts"

const MAIL = { AGENTOS_EMAIL_DOMAIN: "agents.example", AGENTOS_SMTP_RELAY_HOST: "relay.example" }

const read = (environment: Environment) => {
  const reader = new EnvironmentReader(environment)
  return { config: readMail(reader), issues: reader.issues }
}

describe("readMail", () => {
  it("requires both the relay's user and password, or neither", () => {
    assert.strictEqual(read(MAIL).config?.relay.credentials, undefined)
    const names = ["AGENTOS_SMTP_RELAY_USER", "AGENTOS_SMTP_RELAY_PASSWORD"] as const
    for (const [half, missing] of [names, names.toReversed()] as const) {
      assert.deepStrictEqual(read({ ...MAIL, [half!]: "hunter2" }).issues, [
        `AGENTOS_SMTP_RELAY_USER and AGENTOS_SMTP_RELAY_PASSWORD must be set together; ${missing} is missing`
      ])
    }
  })

  const KEY = { AGENTOS_DKIM_SELECTOR: "s1", AGENTOS_DKIM_KEY_FILE: "/1.pem" }
  const NEXT = {
    AGENTOS_DKIM_NEXT_SELECTOR: "s2",
    AGENTOS_DKIM_NEXT_KEY_FILE: "/2.pem",
    AGENTOS_DKIM_NEXT_FROM: "2026-12-01T02:00:00+02:00"
  }

  it("has a next DKIM key with its time in UTC", () => {
    assert.deepStrictEqual(read({ ...MAIL, ...KEY }).config?.dkim?.next, undefined)
    const { config, issues } = read({ ...MAIL, ...KEY, ...NEXT })
    assert.deepStrictEqual(issues, [])
    const from = Timestamp.fromMillis(Date.UTC(2026, 11, 1))
    assert.deepStrictEqual(config?.dkim?.next, { selector: "s2", keyFile: "/2.pem", from })
  })

  const { AGENTOS_DKIM_NEXT_FROM: _, ...UNTIMED } = NEXT
  const TOGETHER =
    "AGENTOS_DKIM_NEXT_SELECTOR, AGENTOS_DKIM_NEXT_KEY_FILE and AGENTOS_DKIM_NEXT_FROM must be set together"
  it.each<[string, Environment, RegExp]>([
    ["the selector of the first", { ...KEY, ...NEXT, AGENTOS_DKIM_NEXT_SELECTOR: "S1" }, /_NEXT_SELECTOR must differ/],
    [
      "a time without an offset",
      { ...KEY, ...NEXT, AGENTOS_DKIM_NEXT_FROM: "2026-12-01T00:00:00" },
      /_NEXT_FROM must be/
    ],
    [
      "a date that does not exist",
      { ...KEY, ...NEXT, AGENTOS_DKIM_NEXT_FROM: "2026-02-30T00:00:00Z" },
      /_NEXT_FROM must be/
    ],
    ["no time", { ...KEY, ...UNTIMED }, new RegExp(`^${TOGETHER}; AGENTOS_DKIM_NEXT_FROM is missing$`)],
    [
      "only a selector",
      { ...KEY, AGENTOS_DKIM_NEXT_SELECTOR: "s2" },
      new RegExp(`^${TOGETHER}; AGENTOS_DKIM_NEXT_KEY_FILE and AGENTOS_DKIM_NEXT_FROM are missing$`)
    ],
    ["no key before it", NEXT, /^AGENTOS_DKIM_NEXT_SELECTOR follows AGENTOS_DKIM_SELECTOR.* Set AGENTOS_DKIM_SELECTOR/]
  ])("rejects a next DKIM key with %s", (_name, environment, issue) => {
    const { issues } = read({ ...MAIL, ...environment })
    assert.lengthOf(issues, 1)
    assert.match(issues[0]!, issue)
  })

  it("accepts only IP addresses as DNS servers", () => {
    const { config } = read({ ...MAIL, AGENTOS_DNS_SERVERS: "192.0.2.1, [2001:db8::1]:53" })
    assert.deepStrictEqual(config?.dns.servers, ["192.0.2.1", "[2001:db8::1]:53"])
    for (const servers of ["dns.example", "192.0.2.1,"]) {
      assert.match(
        read({ ...MAIL, AGENTOS_DNS_SERVERS: servers }).issues[0] ?? "",
        /^AGENTOS_DNS_SERVERS must be comma-separated IP addresses/
      )
    }
  })

  it("limits SMTP sessions and messages, and rejects limits that contradict each other", () => {
    const limitsOf = (environment: Environment) => {
      const { messagesPerHour, sessions, sessionsPerAddress } = read({ ...MAIL, ...environment }).config!.listener
      return [sessions, sessionsPerAddress, messagesPerHour]
    }
    assert.deepStrictEqual(limitsOf({}), [256, 80, 6_000])
    assert.deepStrictEqual(limitsOf({ AGENTOS_SMTP_MAX_SESSIONS: "20" }), [20, 20, 6_000])
    assert.deepStrictEqual(
      limitsOf({ AGENTOS_SMTP_MAX_SESSIONS_PER_ADDRESS: "200", AGENTOS_SMTP_MESSAGES_PER_HOUR: "50" }),
      [256, 200, 50]
    )
    assert.deepStrictEqual(read({ ...MAIL, AGENTOS_SMTP_MAX_SESSIONS_PER_ADDRESS: "300" }).issues, [
      "AGENTOS_SMTP_MAX_SESSIONS_PER_ADDRESS must be at most AGENTOS_SMTP_MAX_SESSIONS (256)"
    ])
    assert.lengthOf(read({ ...MAIL, AGENTOS_SMTP_MESSAGES_PER_HOUR: "0" }).issues, 1)
  })
})
