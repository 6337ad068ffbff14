import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { inspect } from "node:util"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import { unknownVariables } from "../../src/variable/Variables.ts"

const SECRET = "c2VjcmV0IG9mIHRoZSBzZXJ2ZXIsIDQ0IGxldHRlcnMu"

const NETWORK = {
  network: "eip155:196",
  rpcUrl: "https://rpc.example/hunter2",
  asset: "0x779ded0c9e1022225f8e0630b35a9b54be713736",
  name: "USD₮0",
  version: "1",
  decimals: 6,
  payTo: "0x00000000000000000000000000000000000000b2",
  maxTimeoutSeconds: 120,
  confirmations: 1,
  facilitator: { url: "https://facilitator.example", headers: { "x-api-key": "hunter2" } }
}

const COMPLETE = {
  AGENTOS_PUBLIC_URL: "https://agentos.example/",
  AGENTOS_KEYS: `1:${SECRET},7:${SECRET}7`,
  DATABASE_URL: "postgres://agentos:hunter2@db.example/agentos",
  AGENTOS_NETWORKS: JSON.stringify([NETWORK])
}

const read = (environment: Record<string, string | undefined>) => Effect.runSync(ServerConfig.read(environment))
const flawsOf = (environment: Record<string, string | undefined>) =>
  Effect.runSync(Effect.flip(ServerConfig.read(environment))).issues

describe("ServerConfig", () => {
  it("requires a URL, keys, a database and a network, and has defaults for the rest", () => {
    const config = read(COMPLETE)
    assert.deepInclude(config, {
      environment: "production",
      host: "127.0.0.1",
      port: 8080,
      publicUrl: "https://agentos.example",
      mail: undefined,
      rateLimit: { burst: 1200, perSecond: 20 }
    })
    assert.strictEqual(config.keys.activeKeyId, 7)
    assert.strictEqual(read({ ...COMPLETE, AGENTOS_ACTIVE_KEY: "1" }).keys.activeKeyId, 1)
    assert.strictEqual(config.networks[0]?.network, "eip155:196")
  })

  it("names the scheme of a database that it does not support", () => {
    const schemes = { "mysql://db/agentos": "; mysql:// is not supported", "db.example/agentos": "" }
    for (const [url, given] of Object.entries(schemes)) {
      assert.deepStrictEqual(flawsOf({ ...COMPLETE, DATABASE_URL: url }), [
        `DATABASE_URL must begin with postgres:// or postgresql://${given}`
      ])
    }
    assert.isTrue("url" in read({ ...COMPLETE, DATABASE_URL: "postgresql://db/agentos" }).database)
  })

  it("reports unknown variables, with the nearest known one", () => {
    const unknown = {
      AGENTOS_EMIAL_DOMAIN: "a.example",
      AGENTOS_COLOR: "red",
      AGENTOS_SANDBOX_RELAY: "x",
      PATH: "/bin"
    }
    assert.deepStrictEqual(unknownVariables({ ...COMPLETE, ...unknown }), [
      "AGENTOS_EMIAL_DOMAIN is not a setting of the server and has no effect. Did you mean AGENTOS_EMAIL_DOMAIN?",
      "AGENTOS_COLOR is not a setting of the server and has no effect."
    ])
  })

  it("allows calls to the US and Canada by default, and reports unknown country codes", () => {
    assert.deepStrictEqual(read(COMPLETE).quotas.calls.countries, new Set(["US", "CA"]))
    assert.deepStrictEqual(
      read({ ...COMPLETE, AGENTOS_CALL_COUNTRIES: "us, CA,gb" }).quotas.calls.countries,
      new Set(["US", "CA", "GB"])
    )
    assert.deepStrictEqual(flawsOf({ ...COMPLETE, AGENTOS_CALL_COUNTRIES: "US,UK,Canada" }), [
      "AGENTOS_CALL_COUNTRIES must be comma-separated ISO 3166-1 alpha-2 codes such as US,CA,GB; unknown: UK, CANADA"
    ])
  })

  it("limits stored mail by default or as configured, and not at all with 0", () => {
    const MEBIBYTE = 1024 * 1024
    assert.deepStrictEqual(read(COMPLETE).quotas.mail.mailboxLimit, { messages: 50_000, bytes: 1024 * MEBIBYTE })
    const told = {
      AGENTOS_MAILBOX_LIMIT_MESSAGES: "7",
      AGENTOS_MAILBOX_LIMIT_MB: "8",
      AGENTOS_TENANT_MAIL_LIMIT_MB: "0"
    }
    assert.deepInclude(read({ ...COMPLETE, ...told }).quotas.mail, {
      mailboxLimit: { messages: 7, bytes: 8 * MEBIBYTE },
      tenantLimit: { messages: 200_000, bytes: Number.POSITIVE_INFINITY }
    })
    assert.deepStrictEqual(flawsOf({ ...COMPLETE, AGENTOS_TENANT_MAIL_LIMIT_MESSAGES: "many" }), [
      "AGENTOS_TENANT_MAIL_LIMIT_MESSAGES must be a whole number from 0 to 1000000000"
    ])
  })

  it("limits sent mail by default or as configured, and not at all with 0", () => {
    assert.deepInclude(read(COMPLETE).quotas.mail.sending, { recipientsPerDayAtFirst: 200, recipientsPerDay: 10_000 })
    const told = {
      AGENTOS_MAIL_RECIPIENTS_PER_DAY_AT_FIRST: "5",
      AGENTOS_MAIL_RECIPIENTS_PER_DAY: "0",
      AGENTOS_MAIL_PAUSE_BOUNCES_COUNT: "3",
      AGENTOS_MAIL_PAUSE_BOUNCES_PER_1000: "250",
      AGENTOS_MAIL_PAUSE_HOURS: "2"
    }
    assert.deepStrictEqual(read({ ...COMPLETE, ...told }).quotas.mail.sending, {
      recipientsPerDayAtFirst: 5,
      recipientsPerDay: Number.POSITIVE_INFINITY,
      bounces: { count: 3, rate: 0.25 },
      complaints: { count: 5, rate: 0.003 },
      pause: 2 * 3_600_000
    })
  })

  it("trusts no feedback reporter by default, or the configured domains", () => {
    assert.deepStrictEqual(read(COMPLETE).quotas.mail.feedbackReporters, [])
    const given = { ...COMPLETE, AGENTOS_FEEDBACK_REPORTERS: "FBL.example.com, bücher.example" }
    const { feedbackReporters } = read(given).quotas.mail
    assert.deepStrictEqual(feedbackReporters, ["fbl.example.com", "xn--bcher-kva.example"])
    assert.deepStrictEqual(flawsOf({ ...COMPLETE, AGENTOS_FEEDBACK_REPORTERS: "com,a b.example,@c.example" }), [
      "AGENTOS_FEEDBACK_REPORTERS must be comma-separated domain names such as fbl.example.com; invalid: com, a b.example, @c.example"
    ])
  })

  it("limits inbound mail per hour, less in a sandbox, and keeps raw mail as long as its message by default", () => {
    const { mail } = read(COMPLETE).quotas
    assert.deepStrictEqual(mail.inboundPerHour, { sender: 1_000, network: 5_000, mailbox: 2_000 })
    assert.isNull(mail.rawRetention)
    const told = { AGENTOS_MAIL_INBOUND_PER_HOUR_SENDER: "7", AGENTOS_RAW_MAIL_RETENTION_DAYS: "30" }
    const { quotas } = read({ ...COMPLETE, ...told, AGENTOS_ENVIRONMENT: "sandbox" })
    assert.deepStrictEqual(quotas.mail.inboundPerHour, { sender: 7, network: 10_000, mailbox: 10_000 })
    assert.strictEqual(quotas.mail.rawRetention, 30 * 86_400_000)
  })

  it("limits calls by default or as configured, and removes hourly limits if rate limits are disabled", () => {
    const { atOnce, perHour } = read(COMPLETE).quotas.calls
    assert.deepStrictEqual(atOnce, { perNumber: 5, perTenant: 20 })
    assert.deepStrictEqual(perHour, { calls: 60, toOneNumber: 10, short: 20 })
    const told = { AGENTOS_CALLS_AT_ONCE_PER_NUMBER: "0", AGENTOS_CALLS_PER_HOUR: "7" }
    assert.deepInclude(read({ ...COMPLETE, ...told }).quotas.calls, {
      atOnce: { perNumber: Number.POSITIVE_INFINITY, perTenant: 20 },
      perHour: { calls: 7, toOneNumber: 10, short: 20 }
    })
    const unlimited = read({ ...COMPLETE, ...told, AGENTOS_RATE_LIMIT_PER_MINUTE: "0" }).quotas.calls
    assert.isTrue(Object.values(unlimited.perHour).every((limit) => limit === Number.POSITIVE_INFINITY))
  })

  it("keeps messages as long as their mailbox by default, or as configured", () => {
    assert.isNull(read(COMPLETE).quotas.mail.messageRetention)
    const { mail } = read({ ...COMPLETE, AGENTOS_MESSAGE_RETENTION_DAYS: "365" }).quotas
    assert.strictEqual(mail.messageRetention, 365 * 86_400_000)
  })

  it("keeps calls and their transcripts permanently by default, or as configured", () => {
    assert.deepStrictEqual(read(COMPLETE).quotas.retention, { answers: null, audit: null })
    const longer = { AGENTOS_ANSWER_RETENTION_DAYS: "30", AGENTOS_AUDIT_RETENTION_DAYS: "365" }
    const expected = { answers: 30 * 86_400_000, audit: 365 * 86_400_000 }
    assert.deepStrictEqual(read({ ...COMPLETE, ...longer }).quotas.retention, expected)
    const shorter = { AGENTOS_ANSWER_RETENTION_DAYS: "29", AGENTOS_AUDIT_RETENTION_DAYS: "364" }
    assert.deepStrictEqual(flawsOf({ ...COMPLETE, ...shorter }), [
      "AGENTOS_ANSWER_RETENTION_DAYS must be at least 30, or 0 for no limit; it is 29",
      "AGENTOS_AUDIT_RETENTION_DAYS must be at least 365, or 0 for no limit; it is 364"
    ])
    assert.deepInclude(read(COMPLETE).quotas.calls, { retention: null, transcriptRetention: null })
    const given = { AGENTOS_CALL_RETENTION_DAYS: "90", AGENTOS_TRANSCRIPT_RETENTION_DAYS: "7" }
    const kept = { retention: 90 * 86_400_000, transcriptRetention: 7 * 86_400_000 }
    assert.deepInclude(read({ ...COMPLETE, ...given }).quotas.calls, kept)
  })

  it("reads the limits of the database, and rejects invalid ones", () => {
    const limits = {
      AGENTOS_DATABASE_POOL: "40",
      AGENTOS_DATABASE_STATEMENT_TIMEOUT_SECONDS: "5",
      AGENTOS_DATABASE_IDLE_TRANSACTION_TIMEOUT_SECONDS: "7"
    }
    assert.deepInclude(read({ ...COMPLETE, ...limits }).database, {
      maxConnections: 40,
      statementTimeout: 5,
      idleTransactionTimeout: 7
    })
    assert.deepInclude(read(COMPLETE).database, {
      maxConnections: 10,
      statementTimeout: 10,
      idleTransactionTimeout: 10
    })
    const flaws = flawsOf({
      ...COMPLETE,
      AGENTOS_DATABASE_POOL: "1",
      AGENTOS_DATABASE_STATEMENT_TIMEOUT_SECONDS: "0",
      AGENTOS_DATABASE_IDLE_TRANSACTION_TIMEOUT_SECONDS: "1.5"
    })
    assert.deepStrictEqual(
      flaws.map((issue) => issue.split(" ")[0]),
      Object.keys(limits)
    )
  })

  it("keeps events permanently by default, or as configured, but at least as long as they are replayable", () => {
    const DAY = 24 * 60 * 60 * 1_000
    const kept = (days: string | undefined) => read({ ...COMPLETE, AGENTOS_EVENT_RETENTION_DAYS: days }).eventRetention
    assert.deepStrictEqual([undefined, "", "30", "400", "0"].map(kept), [null, null, 30 * DAY, 400 * DAY, null])
    for (const days of ["1", "29"]) {
      assert.deepStrictEqual(flawsOf({ ...COMPLETE, AGENTOS_EVENT_RETENTION_DAYS: days }), [
        "AGENTOS_EVENT_RETENTION_DAYS must be at least 30, because events can be replayed for 30 days, or 0 to keep " +
          "events permanently"
      ])
    }
    assert.strictEqual(flawsOf({ ...COMPLETE, AGENTOS_EVENT_RETENTION_DAYS: "-1" }).length, 1)
  })

  it("limits a sandbox, too, and allows it a public URL without encryption", () => {
    const config = read({ ...COMPLETE, AGENTOS_ENVIRONMENT: "sandbox", AGENTOS_PUBLIC_URL: "http://127.0.0.1:8080" })
    assert.deepStrictEqual(config.rateLimit, { burst: 1200, perSecond: 20 })
  })

  it("lets pages of no other site sign in by default, or those of the configured origins", () => {
    assert.deepStrictEqual(read(COMPLETE).signInOrigins, [])
    const listed = { AGENTOS_SIGN_IN_ORIGINS: "https://app.example, http://localhost:5173" }
    assert.deepStrictEqual(read({ ...COMPLETE, ...listed }).signInOrigins, [
      "https://app.example",
      "http://localhost:5173"
    ])
    for (const invalid of ["*", "app.example", "null", "https://app.example/page", "https://APP.example"]) {
      assert.deepStrictEqual(flawsOf({ ...COMPLETE, AGENTOS_SIGN_IN_ORIGINS: invalid }), [
        `AGENTOS_SIGN_IN_ORIGINS must be comma-separated origins such as https://app.example; invalid: ${invalid}`
      ])
    }
  })

  it("sets the rate limit per minute, and disables it with 0", () => {
    const rateLimitOf = (perMinute: string) => read({ ...COMPLETE, AGENTOS_RATE_LIMIT_PER_MINUTE: perMinute }).rateLimit
    assert.deepStrictEqual(rateLimitOf("60"), { burst: 60, perSecond: 1 })
    assert.isNull(rateLimitOf("0"))
  })

  it("reports all problems at once", () => {
    assert.deepStrictEqual(
      flawsOf({}).map((issue) => issue.split(" ")[0]),
      ["AGENTOS_PUBLIC_URL", "AGENTOS_KEYS", "DATABASE_URL", "AGENTOS_NETWORKS"]
    )
    const flaws = flawsOf({
      ...COMPLETE,
      AGENTOS_ENVIRONMENT: "staging",
      AGENTOS_PORT: "80800",
      AGENTOS_PUBLIC_URL: "http://agentos.example",
      AGENTOS_KEYS: SECRET,
      AGENTOS_DATA_DIR: "/var/lib/agentos",
      AGENTOS_TRUSTED_PROXIES: "the-proxy",
      AGENTOS_SIGN_IN_ORIGINS: "https://app.example/",
      AGENTOS_EMAIL_DOMAIN: "not a domain",
      AGENTOS_DKIM_SELECTOR: "s1",
      AGENTOS_SMTP_KEY_FILE: "/etc/key.pem"
    })
    assert.sameMembers(
      flaws.map((issue) => issue.split(" ")[0]),
      [
        "AGENTOS_ENVIRONMENT",
        "AGENTOS_PORT",
        "AGENTOS_PUBLIC_URL",
        "AGENTOS_KEYS",
        "DATABASE_URL",
        "AGENTOS_TRUSTED_PROXIES",
        "AGENTOS_SIGN_IN_ORIGINS",
        "AGENTOS_EMAIL_DOMAIN",
        "AGENTOS_DKIM_SELECTOR",
        "AGENTOS_SMTP_KEY_FILE",
        "AGENTOS_SMTP_RELAY_HOST"
      ]
    )
    for (const text of ["{", "[]", "7"]) {
      assert.match(flawsOf({ ...COMPLETE, AGENTOS_NETWORKS: text })[0] ?? "", /^AGENTOS_NETWORKS/)
    }
    const { decimals: _, ...incomplete } = NETWORK
    assert.deepStrictEqual(
      flawsOf({ ...COMPLETE, AGENTOS_NETWORKS: JSON.stringify([NETWORK, { ...incomplete, payTo: "me" }]) }).map(
        (issue) => issue.split(" ")[0]
      ),
      ["AGENTOS_NETWORKS.1.decimals", "AGENTOS_NETWORKS.1.payTo"]
    )
  })

  it("reports invalid keys together with all other problems", () => {
    for (const [keys, active, flaw] of [
      ["1:short", undefined, "the secret of key 1 must have at least 32 bytes. Generate one: openssl rand -base64 32"],
      [`0:${SECRET}`, undefined, "key id 0 must be a whole number from 1 to 255"],
      [`1:${SECRET},1:${SECRET}7`, undefined, "two keys have the id 1"],
      [`1:${SECRET}`, "3", "the active key 3 is not in the list"]
    ] as const) {
      assert.deepStrictEqual(
        flawsOf({ ...COMPLETE, AGENTOS_PORT: "x", AGENTOS_KEYS: keys, AGENTOS_ACTIVE_KEY: active }),
        ["AGENTOS_PORT must be a whole number from 0 to 65535", `AGENTOS_KEYS are not valid: ${flaw}`]
      )
    }
  })

  it("enables telephony if the carrier's account is configured, and rejects a substitute carrier in production", () => {
    const account = {
      AGENTOS_TWILIO_ACCOUNT_SID: `AC${"0f".repeat(16)}`,
      AGENTOS_TWILIO_AUTH_TOKEN: "hunter2"
    }
    assert.deepStrictEqual(read(COMPLETE).phone, { carrier: undefined, allowedAgents: [] })
    const { carrier } = read({ ...COMPLETE, ...account }).phone
    assert.deepInclude(carrier, {
      accountSid: account.AGENTOS_TWILIO_ACCOUNT_SID,
      sharedKeys: [],
      label: "agentos",
      apiUrl: "https://api.twilio.com"
    })
    const keys = { AGENTOS_TWILIO_SHARED_KEYS: "new, old" }
    assert.deepStrictEqual(
      read({ ...COMPLETE, ...account, ...keys }).phone.carrier?.sharedKeys.map((key) => Redacted.value(key)),
      ["new", "old"]
    )
    assert.strictEqual(carrier === undefined ? "" : Redacted.value(carrier.authToken), "hunter2")
    const sandbox = { ...COMPLETE, ...account, AGENTOS_ENVIRONMENT: "sandbox" }
    const urlOf = (environment: Record<string, string>, url: string) =>
      read({ ...environment, AGENTOS_TWILIO_API_URL: url }).phone.carrier?.apiUrl
    assert.strictEqual(urlOf(sandbox, "http://127.0.0.1:4567/"), "http://127.0.0.1:4567")
    assert.strictEqual(
      urlOf({ ...COMPLETE, ...account }, "https://api.dublin.ie1.twilio.com"),
      "https://api.dublin.ie1.twilio.com"
    )
    for (const url of [
      "http://127.0.0.1:4567",
      "http://api.twilio.com",
      "https://twilio.com.evil.example",
      "https://nottwilio.com",
      "https://twilio.com@evil.example",
      "ftp://api.twilio.com",
      "api.twilio.com"
    ]) {
      const flaws = flawsOf({ ...COMPLETE, ...account, AGENTOS_TWILIO_API_URL: url })
      assert.deepStrictEqual(
        flaws.map((issue) => issue.split(" ")[0]),
        ["AGENTOS_TWILIO_API_URL"],
        url
      )
    }
    for (const [flaw, change] of [
      ["AGENTOS_TWILIO_ACCOUNT_SID", { AGENTOS_TWILIO_AUTH_TOKEN: undefined }],
      ["AGENTOS_TWILIO_ACCOUNT_SID", { AGENTOS_TWILIO_ACCOUNT_SID: undefined }],
      ["AGENTOS_TWILIO_ACCOUNT_SID", { AGENTOS_TWILIO_ACCOUNT_SID: "ACme" }],
      ["AGENTOS_TWILIO_SHARED_KEYS", { AGENTOS_TWILIO_SHARED_KEYS: "1,2,3,4,5,6" }],
      ["AGENTOS_TWILIO_LABEL", { AGENTOS_TWILIO_LABEL: "l".repeat(65) }]
    ] as const) {
      const flaws = flawsOf({ ...COMPLETE, ...account, ...change })
      assert.deepStrictEqual(
        flaws.map((issue) => issue.split(" ")[0]),
        [flaw]
      )
    }
  })

  it("allows agents at addresses that are not public only in a sandbox", () => {
    const allow = JSON.stringify([{ host: "127.0.0.1", port: 9443, caFile: "/ca.pem" }, { loopback: "http" }])
    const sandbox = { ...COMPLETE, AGENTOS_ENVIRONMENT: "sandbox" }
    assert.deepStrictEqual(read({ ...sandbox, AGENTOS_AGENT_WEBHOOK_ALLOW: allow }).phone.allowedAgents, [
      { host: "127.0.0.1", port: 9443, caFile: "/ca.pem" },
      { loopback: "http" }
    ])
    assert.deepStrictEqual(flawsOf({ ...COMPLETE, AGENTOS_AGENT_WEBHOOK_ALLOW: allow }), [
      "AGENTOS_AGENT_WEBHOOK_ALLOW is valid only in a sandbox. In production, agents must have public addresses"
    ])
    for (const wrong of [
      "127.0.0.1:9443",
      "{}",
      '[{"host":"h","port":0,"caFile":"f"}]',
      '[{"host":"h","port":1}]',
      '[{"loopback":"https"}]'
    ]) {
      assert.match(flawsOf({ ...sandbox, AGENTOS_AGENT_WEBHOOK_ALLOW: wrong })[0] ?? "", /^AGENTOS_AGENT_WEBHOOK_ALLOW/)
    }
  })

  it("serves the operator routes on loopback and the next port, or where it is told to", () => {
    const listenOf = (changed: Record<string, string | undefined>) =>
      read({ ...COMPLETE, AGENTOS_OPERATOR_TOKEN: "t".repeat(32), AGENTOS_PORT: "9000", ...changed }).operatorListen
    assert.deepStrictEqual(listenOf({}), { host: "127.0.0.1", port: 9001 })
    assert.deepStrictEqual(listenOf({ AGENTOS_PORT: "0" }), { host: "127.0.0.1", port: 0 })
    assert.deepStrictEqual(listenOf({ AGENTOS_OPERATOR_LISTEN: "10.0.0.5:8081" }), { host: "10.0.0.5", port: 8081 })
    assert.deepStrictEqual(listenOf({ AGENTOS_OPERATOR_LISTEN: "[::1]:8081" }), { host: "::1", port: 8081 })
    assert.isNull(listenOf({ AGENTOS_OPERATOR_TOKEN: undefined }))
    for (const [text, why] of [
      ["8081", "must be a host and a port"],
      ["127.0.0.1:70000", "must be a host and a port"],
      ["::1:8081", "must be a host and a port"],
      ["0.0.0.0:9000", "must have another port than AGENTOS_PORT"]
    ] as const) {
      const flaws = flawsOf({
        ...COMPLETE,
        AGENTOS_PORT: "9000",
        AGENTOS_OPERATOR_TOKEN: "t".repeat(32),
        AGENTOS_OPERATOR_LISTEN: text
      })
      assert.lengthOf(flaws, 1)
      assert.include(flaws[0], `AGENTOS_OPERATOR_LISTEN ${why}`)
    }
  })

  it("requires an operator token that is hard to guess, and no operator has access without one", () => {
    const tokenOf = (token: string | undefined) => read({ ...COMPLETE, AGENTOS_OPERATOR_TOKEN: token }).operatorToken
    for (const none of [undefined, "", " "]) assert.isNull(tokenOf(none))
    const token = tokenOf("0123456789abcdef0123456789abcdef")
    assert.strictEqual(token === null ? "" : Redacted.value(token), "0123456789abcdef0123456789abcdef")
    for (const wrong of ["hunter2", "h".repeat(31), `${"h".repeat(32)} h`, `${"h".repeat(32)}é`]) {
      const flaws = flawsOf({ ...COMPLETE, AGENTOS_OPERATOR_TOKEN: wrong })
      assert.deepStrictEqual(flaws, [
        "AGENTOS_OPERATOR_TOKEN must be at least 32 printable characters without spaces. Generate one: openssl rand -hex 32"
      ])
    }
  })

  it("informs operators of incidents by a signed webhook, by mail, or not at all", () => {
    const webhook = {
      AGENTOS_OPERATOR_WEBHOOK_URL: "http://10.0.0.7:9000/agentos",
      AGENTOS_OPERATOR_WEBHOOK_SECRET: `whsec_${SECRET}`
    }
    const mail = { AGENTOS_EMAIL_DOMAIN: "agents.example", AGENTOS_SMTP_RELAY_HOST: "relay.example" }
    assert.isUndefined(read(COMPLETE).operatorContact)
    const contact = read({ ...COMPLETE, ...webhook }).operatorContact
    assert.strictEqual(contact?.webhook?.url, webhook.AGENTOS_OPERATOR_WEBHOOK_URL)
    assert.notInclude(inspect(contact), SECRET)
    const mailTo = "ops@ops.example"
    assert.deepStrictEqual(read({ ...COMPLETE, ...mail, AGENTOS_OPERATOR_MAIL_TO: mailTo }).operatorContact, {
      webhook: undefined,
      mailTo
    })
    const flaws = flawsOf({
      ...COMPLETE,
      AGENTOS_OPERATOR_WEBHOOK_URL: "ops.example",
      AGENTOS_OPERATOR_WEBHOOK_SECRET: "hunter2",
      AGENTOS_OPERATOR_MAIL_TO: "ops"
    })
    assert.deepStrictEqual(
      flaws.map((issue) => issue.split(" ")[0]),
      [
        "AGENTOS_OPERATOR_WEBHOOK_URL",
        "AGENTOS_OPERATOR_WEBHOOK_SECRET",
        "AGENTOS_OPERATOR_MAIL_TO",
        "AGENTOS_OPERATOR_MAIL_TO"
      ]
    )
    assert.notInclude(flaws.join(), "hunter2")
    for (const name of ["AGENTOS_OPERATOR_WEBHOOK_URL", "AGENTOS_TRACES_URL"]) {
      const [flaw, ...others] = flawsOf({ ...COMPLETE, ...webhook, [name]: "https://ops:hunter2@ops.example/agentos" })
      assert.match(flaw ?? "", new RegExp(`^${name} must be an http or https URL without a user name`))
      assert.notInclude(flaw, "hunter2")
      assert.lengthOf(others, 0)
    }
    const { AGENTOS_OPERATOR_WEBHOOK_URL } = webhook
    assert.match(flawsOf({ ...COMPLETE, AGENTOS_OPERATOR_WEBHOOK_URL }).join(), /must be set together/)
  })

  it("contains no secret in its errors or its text form", () => {
    const config = read({
      ...COMPLETE,
      AGENTOS_OPERATOR_TOKEN: "hunter2".repeat(5),
      AGENTOS_EMAIL_DOMAIN: "agents.example",
      AGENTOS_SMTP_RELAY_HOST: "relay.example",
      AGENTOS_SMTP_RELAY_USER: "agentos",
      AGENTOS_SMTP_RELAY_PASSWORD: "hunter2",
      AGENTOS_TWILIO_ACCOUNT_SID: `AC${"0".repeat(32)}`,
      AGENTOS_TWILIO_AUTH_TOKEN: "hunter2"
    })
    const shown = [
      JSON.stringify(config),
      inspect(config, { depth: null }),
      ...flawsOf({ ...COMPLETE, AGENTOS_KEYS: SECRET })
    ]
    for (const text of shown) {
      assert.notInclude(text, SECRET)
      assert.notInclude(text, "hunter2")
    }
    assert.strictEqual(
      config.mail?.relay.credentials === undefined ? "" : Redacted.value(config.mail.relay.credentials.password),
      "hunter2"
    )
  })
})

describe("main", () => {
  // A new process that loads every module takes a while on a busy machine.
  it("prints why it cannot start on standard error, and nothing on standard output", { timeout: 120_000 }, () => {
    const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))
    const { status, stderr, stdout } = spawnSync(process.execPath, [main, "start"], {
      env: { PATH: "" },
      encoding: "utf8"
    })
    assert.strictEqual(status, 3)
    assert.strictEqual(stdout, "")
    assert.match(stderr, /^Error: Invalid configuration:\n {2}AGENTOS_PUBLIC_URL is missing\. Set it to /)
    assert.notInclude(stderr, "    at ")
  })
})
