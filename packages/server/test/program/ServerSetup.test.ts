import { EmailProvider, type OutgoingMail, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkConfiguration } from "../../src/check/ConfigurationCheck.ts"
import * as ServerConfig from "../../src/config/ServerConfig.ts"
import { setupOf } from "../../src/program/ServerSetup.ts"

/** The required variables, with arbitrary values. */
const REQUIRED = {
  AGENTOS_ENVIRONMENT: "sandbox",
  AGENTOS_PUBLIC_URL: "https://agentos.example",
  AGENTOS_KEYS: `1:${"k".repeat(44)}`,
  AGENTOS_DATA_DIR: "/nowhere",
  AGENTOS_NETWORKS: JSON.stringify([
    {
      network: "eip155:196",
      rpcUrl: "https://rpc.example",
      asset: "0x779ded0c9e1022225f8e0630b35a9b54be713736",
      name: "USDT",
      version: "1",
      decimals: 6,
      payTo: "0x00000000000000000000000000000000000000b2",
      maxTimeoutSeconds: 120,
      confirmations: 1,
      facilitator: { url: "https://facilitator.example" }
    }
  ])
}

/** Makes the setup that the variables select. */
const setupFrom = (environment: Record<string, string>) =>
  ServerConfig.read({ ...REQUIRED, ...environment }).pipe(Effect.flatMap(setupOf))

/** Returns the variables of mail with a second key, and writes these keys to the files that they name. */
const withKeys = (first: string, second: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "agentos-dkim-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    ),
    (folder) => {
      writeFileSync(join(folder, "1.pem"), first)
      writeFileSync(join(folder, "2.pem"), second)
      return {
        AGENTOS_EMAIL_DOMAIN: "agents.example",
        AGENTOS_SMTP_RELAY_HOST: "relay.example",
        AGENTOS_DKIM_SELECTOR: "s1",
        AGENTOS_DKIM_KEY_FILE: join(folder, "1.pem"),
        AGENTOS_DKIM_NEXT_SELECTOR: "s2",
        AGENTOS_DKIM_NEXT_KEY_FILE: join(folder, "2.pem"),
        AGENTOS_DKIM_NEXT_FROM: "2026-12-01T00:00:00Z"
      }
    }
  )

const INSTANT = Date.UTC(2026, 11, 1)

const MAIL: OutgoingMail = {
  messageIdHeader: "<1@agents.example>",
  returnPath: "b@agents.example",
  returnPaths: ["b+1@agents.example"],
  inReplyTo: null,
  references: [],
  from: { address: "ada@agents.example", name: null },
  recipients: ["one@else.example"],
  to: ["one@else.example"],
  cc: [],
  bcc: [],
  replyTo: [],
  autoSubmitted: null,
  subject: "Hello",
  text: "Hello",
  html: null,
  attachments: [],
  date: Timestamp.fromMillis(INSTANT)
}

const PKCS8 = { type: "pkcs8", format: "pem" } as const
const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export(PKCS8).toString()
const EC = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(PKCS8).toString()

describe("setupOf", () => {
  it.effect("has telephony only if a carrier is configured, and mail only if a domain is", () =>
    Effect.gen(function* () {
      const account = { AGENTOS_TWILIO_ACCOUNT_SID: `AC${"0".repeat(32)}`, AGENTOS_TWILIO_AUTH_TOKEN: "t" }
      const mail = { AGENTOS_EMAIL_DOMAIN: "agents.example", AGENTOS_SMTP_RELAY_HOST: "relay.example" }
      const selected = Effect.map(Effect.forEach([{}, account, mail], setupFrom), (setups) =>
        setups.map((setup) => [setup.telephony !== undefined, setup.mail !== undefined])
      )
      assert.deepStrictEqual(yield* selected, [
        [false, false],
        [true, false],
        [false, true]
      ])
    })
  )

  it.effect("names the variable of a file that cannot be read", () =>
    Effect.gen(function* () {
      const agents = JSON.stringify([{ host: "127.0.0.1", port: 9443, caFile: "/nowhere/ca.pem" }])
      const unread = yield* Effect.flip(setupFrom({ AGENTOS_AGENT_WEBHOOK_ALLOW: agents }))
      assert.include(unread.message, "AGENTOS_AGENT_WEBHOOK_ALLOW: cannot read /nowhere/ca.pem (ENOENT)")
      const keys = yield* withKeys(RSA, RSA)
      const unsigned = setupFrom({ ...keys, AGENTOS_DKIM_NEXT_KEY_FILE: "/nowhere/2.pem" })
      assert.include(
        (yield* Effect.flip(unsigned)).message,
        "AGENTOS_DKIM_NEXT_KEY_FILE: cannot read /nowhere/2.pem (ENOENT)"
      )
    })
  )

  it.effect("names the variable of a DKIM key that can't sign", () =>
    Effect.gen(function* () {
      yield* setupFrom(yield* withKeys(RSA, RSA))
      for (const [first, second, variable] of [
        [EC, RSA, "AGENTOS_DKIM_KEY_FILE"],
        [RSA, EC, "AGENTOS_DKIM_NEXT_KEY_FILE"],
        [RSA, "text", "AGENTOS_DKIM_NEXT_KEY_FILE"]
      ] as const) {
        const { issues } = yield* Effect.flip(setupFrom(yield* withKeys(first, second)))
        assert.lengthOf(issues, 1)
        assert.match(
          issues[0] ?? "",
          new RegExp(`^${variable} must name a PEM file with an RSA private key\\. Make one: `)
        )
      }
    })
  )
})

/** A relay that accepts every mail, and the selectors of the keys that signed them. */
const startRelay = Effect.gen(function* () {
  const selectors: Array<string> = []
  const server = createServer((socket) => {
    socket.write("220 relay\r\n")
    let raw: string | undefined
    socket.setEncoding("utf8").on("data", (text: string) => {
      if (raw === undefined) {
        const isContentNext = text.startsWith("DATA")
        if (isContentNext) raw = ""
        return void socket.write(isContentNext ? "354 go on\r\n" : "250 ok\r\n")
      }
      raw += text
      if (!raw.endsWith("\r\n.\r\n")) return
      selectors.push(/^DKIM-Signature:[^:]*\bs=(\w+);/.exec(raw)?.[1] ?? "none")
      raw = undefined
      socket.write("250 ok\r\n")
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () => Effect.sync(() => server.close())
  )
  return { port: String((server.address() as AddressInfo).port), selectors }
})

it.live("signs outbound mail with the key that the time selects", () =>
  Effect.gen(function* () {
    const { port, selectors } = yield* startRelay
    const keys = yield* withKeys(RSA, RSA)
    const relay = {
      AGENTOS_SMTP_RELAY_HOST: "127.0.0.1",
      AGENTOS_SMTP_RELAY_PORT: port,
      AGENTOS_SMTP_RELAY_TLS: "none"
    }
    for (const from of ["2999-01-01T00:00:00Z", "2001-01-01T00:00:00Z"]) {
      const { mail } = yield* setupFrom({ ...keys, ...relay, AGENTOS_DKIM_NEXT_FROM: from })
      yield* Effect.flatMap(EmailProvider, ({ send }) => send(MAIL)).pipe(Effect.provide(mail!.layer))
    }
    assert.deepStrictEqual(selectors, ["s1", "s2"])
  }).pipe(Effect.provide(Logger.layer([])))
)

it.effect("check-config says from when the next DKIM key signs, and then what to do before the next restart", () =>
  Effect.gen(function* () {
    const environment = { ...REQUIRED, ...(yield* withKeys(RSA, RSA)) }
    const found = Effect.map(checkConfiguration(environment), ({ checks }) =>
      checks.filter(({ name }) => name === "DKIM switch").map(({ detail, status }) => `${status}: ${detail}`)
    )
    yield* TestClock.setTime(INSTANT - 1)
    assert.deepStrictEqual(yield* found, ["ok: the key of the selector s2 signs from 2026-12-01T00:00:00.000Z on"])
    yield* TestClock.setTime(INSTANT)
    assert.deepStrictEqual(yield* found, [
      "warning: the key of the selector s2 has signed since 2026-12-01T00:00:00.000Z"
    ])
  })
)
