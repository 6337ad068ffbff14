import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Resolver } from "node:dns/promises"
import { vi } from "vitest"
import type { HostAddress, ResolveHost } from "../../src/webhook/index.ts"
import { agentServer } from "./support/AgentServer.ts"
import { authority } from "./support/MadeUpAuthority.ts"
import { answerOf, say, withCallback } from "./support/Question.ts"
import { resettingPeer } from "./support/ResettingPeer.ts"

const v4 = (address: string): HostAddress => ({ address, family: 4 })
const to =
  (...addresses: ReadonlyArray<HostAddress>): ResolveHost =>
  () =>
    Promise.resolve(addresses)
const unasked: ResolveHost = () => Promise.reject(new Error("the DNS was asked"))
const answering = agentServer((response) => response.end('{"text":"a"}'))

const ask = (url: string, options: Parameters<typeof withCallback>[0]) =>
  withCallback(options, (callback) => answerOf(callback, url))
const refusal = (url: string, resolve: ResolveHost) =>
  withCallback({ resolve, refusalMillis: REFUSAL_MILLIS }, (callback) => callback.refusal(url))

const notPublic = "must have a host with a public internet address"
/** A short duration for tests: a refusal that needed DNS takes as long as this. */
const REFUSAL_MILLIS = 400
const refused: ReadonlyArray<readonly [url: string, why: string]> = [
  ["http://agent.example/", "must begin with https://"],
  ["wss://agent.example/", "must begin with https://"],
  ["agent.example", "is not a valid URL"],
  ["https://me:pass@agent.example/", "must not contain a user name or password"],
  ["https://me@agent.example/", "must not contain a user name or password"],
  ["https://agent.example:0/", "has a port that can't be connected to"],
  [`https://agent.example/${"a".repeat(2_048)}`, "must have at most 2048 characters"],
  ["https://agent/", notPublic],
  ["https://agent.example../", notPublic],
  ["https://localhost/", notPublic],
  ["https://localhost./", notPublic],
  ["https://LOCALHOST/", notPublic],
  ["https://ｌｏｃａｌｈｏｓｔ/", notPublic],
  ["https://loc\u00adalhost/", notPublic],
  ["https://l%6fcalhost/", notPublic],
  ["https://localhost.localdomain/", notPublic],
  ["https://a.localhost/", notPublic],
  ["https://metadata.google.internal./", notPublic],
  ["https://metadata.google.internal/", notPublic],
  ["https://printer.local/", notPublic],
  ["https://127.0.0.1/", notPublic],
  ["https://127.0.0.1./", notPublic],
  ["https://127。0。0。1/", notPublic],
  ["https://127.1/", notPublic],
  ["https://0/", notPublic],
  ["https://0x7f.1/", notPublic],
  ["https://017700000001/", notPublic],
  ["https://2130706433/", notPublic],
  ["https://0x7f000001/", notPublic],
  ["https://0177.0.0.1/", notPublic],
  ["https://１２７.0.0.1/", notPublic],
  ["https://169.254.169.254/latest/meta-data", notPublic],
  ["https://10.0.0.1:8443/", notPublic],
  ["https://[::1]/", notPublic],
  ["https://[::]/", notPublic],
  ["https://[0:0:0:0:0:0:0:1]/", notPublic],
  ["https://[::127.0.0.1]/", notPublic],
  ["https://[::ffff:127.0.0.1]/", notPublic],
  ["https://[::ffff:7f00:1]/", notPublic],
  ["https://[::ffff:8.8.8.8]/", notPublic],
  ["https://[64:ff9b::7f00:1]/", notPublic],
  ["https://[2002:7f00:1::]/", notPublic],
  ["https://[fe80::1]/", notPublic]
]

describe("AgentCallbackHttps addresses", () => {
  it.live.each(refused)("refuses %s, and connects to nothing", ([url, why]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* refusal(url, unasked), why)
      const { error } = yield* ask(url, { resolve: unasked })
      assert.deepStrictEqual([error?.reason, error?.message], ["address", `agentWebhookUrl ${why}.`])
    })
  )

  it.live("accepts public hosts", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* refusal("https://agent.example/a?b", to(v4("8.8.8.8"))))
      assert.isUndefined(yield* refusal("https://agent.example:443/", to(v4("8.8.8.8"))))
      assert.isUndefined(yield* refusal("https://agent.example./", to(v4("8.8.8.8"))))
      assert.isUndefined(yield* refusal("https://bücher.example/", to(v4("8.8.8.8"))))
      assert.isUndefined(yield* refusal("https://agent.example/", to(v4("10.0.0.1"), v4("8.8.8.8"))))
      assert.isUndefined(yield* refusal("https://8.8.8.8/", unasked))
      assert.isUndefined(yield* refusal("https://[2606:4700:4700::1111]/", unasked))
    })
  )

  it.live.each(["22", "25", "80", "444", "5432", "6379", "8443", "65535"])("refuses port %s, and uses no DNS", (port) =>
    Effect.gen(function* () {
      const wrongPort = "must use port 443, the default of https"
      assert.strictEqual(yield* refusal(`https://agent.example:${port}/`, unasked), wrongPort)
      assert.strictEqual(yield* refusal(`https://8.8.8.8:${port}/`, unasked), wrongPort)
      assert.strictEqual(yield* refusal(`https://10.0.0.1:${port}/`, unasked), notPublic)
    })
  )

  it.live("still asks an agent whose number was bought when any port was accepted", () =>
    Effect.gen(function* () {
      const { error } = yield* ask("https://agent.example:8443/", { resolve: to(v4("10.0.0.1")) })
      assert.strictEqual(error?.message, "The host agent.example has no address on the public internet.")
    })
  )

  const unusable: ReadonlyArray<readonly [what: string, resolve: ResolveHost]> = [
    ["has only private addresses", to(v4("10.0.0.1"), v4("127.0.0.1"))],
    ["has no address", to()],
    ["DNS fails to resolve", unasked],
    ["DNS resolves too late", () => new Promise(() => {})]
  ]
  it.live.each(unusable)("gives the same refusal after the same time for a name that %s", ([, resolve]) =>
    Effect.gen(function* () {
      const begun = performance.now()
      assert.strictEqual(yield* refusal("https://agent.example/", resolve), notPublic)
      assert.isAtLeast(performance.now() - begun, REFUSAL_MILLIS - 5)
    })
  )

  it.live("refuses to connect to a name that became private after it was checked", () =>
    Effect.gen(function* () {
      const server = yield* answering
      const answers = [[v4("8.8.8.8")], [v4("127.0.0.1")]]
      const resolve: ResolveHost = () => Promise.resolve(answers.shift() ?? [])
      const url = `https://agent.example:${server.port}/`
      yield* withCallback({ resolve }, (callback) =>
        Effect.gen(function* () {
          assert.isUndefined(yield* callback.refusal("https://agent.example/"))
          const { error } = yield* answerOf(callback, url)
          assert.strictEqual(error?.reason, "address")
          const message = "The host agent.example has no address on the public internet."
          assert.strictEqual(error?.message, message)
          assert.strictEqual((yield* answerOf(callback, url)).error?.message, message)
        })
      )
      assert.strictEqual(server.sockets.length, 0)
    }).pipe(Effect.scoped)
  )

  it.live("distinguishes a name that does not exist from a DNS failure, which may be retried", () =>
    Effect.gen(function* () {
      const url = "https://agent.example/"
      const failing = (code: string) => Object.assign(new Error(code), { code })
      const v4 = vi.spyOn(Resolver.prototype, "resolve4").mockRejectedValue(failing("ENOTFOUND"))
      const v6 = vi.spyOn(Resolver.prototype, "resolve6").mockRejectedValue(failing("ENODATA"))
      const absent = yield* ask(url, {})
      assert.deepStrictEqual(
        [absent.error?.reason, absent.error?.message],
        ["address", "The host agent.example has no address on the public internet."]
      )
      v6.mockRejectedValue(failing("ESERVFAIL"))
      const failed = yield* ask(url, {})
      assert.deepStrictEqual(
        [failed.error?.reason, failed.error?.message],
        ["connection", "The connection to agent.example failed (ESERVFAIL)."]
      )
      // Addresses of one family are sufficient.
      v4.mockResolvedValue(["127.0.0.1"])
      assert.strictEqual((yield* ask(url, {})).error?.reason, "address")
      assert.strictEqual(
        yield* withCallback({ refusalMillis: REFUSAL_MILLIS }, ({ refusal }) => refusal(url)),
        notPublic
      )
    }).pipe(Effect.ensuring(Effect.sync(() => vi.restoreAllMocks())))
  )

  it.live("checks the address of the connection, not only the result of the lookup", () =>
    Effect.gen(function* () {
      const server = yield* answering
      // Public on the first read, private when the connection is made.
      let reads = 0
      const turning = {
        family: 4 as const,
        get address() {
          return reads++ === 0 ? "8.8.8.8" : "127.0.0.1"
        }
      }
      const { error } = yield* ask(`https://agent.example:${server.port}/`, { resolve: to(turning) })
      assert.strictEqual(error?.reason, "address")
      assert.isAbove(reads, 1)
      yield* Effect.promise(() => vi.waitFor(() => assert.isTrue(server.sockets[0]?.destroyed), { timeout: 60_000 }))
      assert.strictEqual(server.asked.length, 0)
    }).pipe(Effect.scoped)
  )

  it.live("allows exactly the configured host, port and certificate authority", () =>
    Effect.gen(function* () {
      const server = yield* answering
      const { allow, port, url } = server
      assert.deepStrictEqual(yield* ask(url, { allow: [allow] }), { replies: [say("a")] })
      const byName = { ...allow, host: "localhost" }
      assert.deepStrictEqual(yield* ask(`https://localhost:${port}/`, { allow: [byName], resolve: unasked }), {
        replies: [say("a")]
      })
      assert.strictEqual((yield* ask(url, { allow: [{ ...allow, port: port + 1 }] })).error?.reason, "address")
      assert.strictEqual((yield* ask(url, { allow: [byName] })).error?.reason, "address")
      assert.strictEqual(server.asked.length, 2)
      const elsewhere = { ...allow, host: "8.8.8.8" }
      assert.strictEqual((yield* ask(`https://10.0.0.1:${port}/`, { allow: [elsewhere] })).error?.reason, "address")
    }).pipe(Effect.scoped)
  )

  it.live("trusts no certificate of another authority or name", () =>
    Effect.gen(function* () {
      const server = yield* answering
      const wellKnown = yield* ask(server.url, { allow: [{ ...server.allow, ca: "" }] })
      assert.strictEqual(wellKnown.error?.reason, "connection")
      const host = "other.example"
      const other = yield* ask(`https://${host}:${server.port}/`, { allow: [{ ...server.allow, host }] })
      assert.strictEqual(other.error?.reason, "connection")
      assert.strictEqual(other.error?.message, "The connection to other.example failed (ERR_TLS_CERT_ALTNAME_INVALID).")
      assert.strictEqual(server.asked.length, 0)
    }).pipe(Effect.scoped)
  )

  it.live("uses no proxy, and verifies certificates regardless of the environment", () =>
    Effect.gen(function* () {
      const server = yield* answering
      for (const name of ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"]) vi.stubEnv(name, "http://127.0.0.1:9")
      vi.stubEnv("NODE_USE_ENV_PROXY", "1")
      vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0")
      assert.deepStrictEqual(yield* ask(server.url, { allow: [server.allow] }), { replies: [say("a")] })
      const untrusted = yield* ask(server.url, { allow: [{ ...server.allow, ca: "" }] })
      assert.strictEqual(untrusted.error?.reason, "connection")
    }).pipe(Effect.scoped, Effect.ensuring(Effect.sync(() => vi.unstubAllEnvs())))
  )

  it.live("reports a host that resets connections as a connection failure, which may be retried", () =>
    Effect.gen(function* () {
      const port = yield* resettingPeer
      const allow = { host: "127.0.0.1", port, ca: authority }
      const said = new Set<string>()
      // It depends on timing how far a connection gets before it is reset.
      yield* withCallback({ allow: [allow] }, (callback) =>
        Effect.repeat(
          Effect.map(answerOf(callback, `https://127.0.0.1:${port}/`), ({ error }) => said.add(error?.message ?? "")),
          { times: 300 }
        )
      )
      for (const message of said) assert.match(message, /^The connection to 127\.0\.0\.1 failed \(E[A-Z]+\)\.$/)
    }).pipe(Effect.scoped)
  )

  it.live("reports only that a host refused the connection", () =>
    Effect.gen(function* () {
      const { allow, url } = yield* Effect.scoped(answering)
      const { error } = yield* ask(url, { allow: [allow] })
      assert.strictEqual(error?.message, "The connection to 127.0.0.1 failed (ECONNREFUSED).")
    })
  )
})
