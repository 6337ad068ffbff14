import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { readConnectionUrl } from "../src/ConnectionUrl.ts"
import { temporaryDirectory } from "./support/Program.ts"

const read = (url: string) => readConnectionUrl(Redacted.make(url))

const refusal = (url: string) => Effect.map(Effect.flip(read(url)), ({ fix, problem }) => `${problem}. ${fix}`)

describe("the URL of a database", () => {
  it.effect("is read as libpq does", () =>
    Effect.gen(function* () {
      const target = yield* read(
        "postgresql://ada:p%40s:s@[2001:db8::1]:6432,db.example,/agent%20os?application_name=a+b&connect_timeout=3&options=-c%20geqo%3Doff"
      )
      assert.deepStrictEqual(target.hosts, [
        { host: "2001:db8::1", port: 6432 },
        { host: "db.example", port: 5432 },
        { host: "localhost", port: 5432 }
      ])
      const { database, password, startupOptions, username } = target.driver
      assert.deepStrictEqual(
        [username, password && Redacted.value(password), database, startupOptions],
        ["ada", "p@s:s", "agent os", "-c geqo=off"]
      )
      assert.deepStrictEqual([target.applicationName, target.connectTimeout], ["a+b", 3_000])
      assert.isTrue(target.needsWrites, "of several hosts, the one that accepts writes")
    })
  )

  it.effect("names hosts by parameters, such as the directory of a socket", () =>
    Effect.gen(function* () {
      const target = yield* read(
        "postgres:///agentos?host=/run/postgresql,db.example&port=6000&target_session_attrs=any"
      )
      assert.deepStrictEqual(target.hosts, [
        { host: "/run/postgresql", port: 6000 },
        { host: "db.example", port: 6000 }
      ])
      assert.isFalse(target.needsWrites)
    })
  )

  it.effect("accepts a special character of the password that is not encoded", () =>
    Effect.map(read("postgres://ada:p@ss@db.example/x"), ({ driver, hosts }) => {
      assert.strictEqual(driver.password && Redacted.value(driver.password), "p@ss")
      assert.deepStrictEqual(hosts, [{ host: "db.example", port: 5432 }])
    })
  )

  it.effect("says how the certificate of the server is checked", () =>
    Effect.gen(function* () {
      const tls = (mode: string) =>
        Effect.map(read(`postgres://db.example/x?sslmode=${mode}`), ({ driver }) => driver.ssl)
      assert.strictEqual(yield* tls("disable"), false)
      assert.deepStrictEqual(yield* tls("require"), {})
      assert.deepStrictEqual(yield* tls("verify-full"), {})
      assert.property(yield* tls("verify-ca"), "checkServerIdentity")
      assert.isTrue((yield* read("postgres://db.example/x?sslmode=prefer")).prefersTls)
    })
  )

  it.effect("is refused if a part would have no effect, or can't be used, without a secret in the reason", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryDirectory, "ca.pem")
      writeFileSync(file, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
      const cases: ReadonlyArray<readonly [query: string, reason: RegExp]> = [
        ["?sslcompression=1&gssencmode=disable", /not supported: sslcompression, gssencmode\. Remove them/],
        ["?sslmode=verfy-full", /sslmode=verfy-full of DATABASE_URL is not known/],
        ["?sslrootcert=/nowhere/ca.pem&sslmode=verify-full", /sslrootcert .* \/nowhere\/ca\.pem \(ENOENT\)/],
        [`?sslrootcert=${file}&sslmode=verify-full`, /sslrootcert of DATABASE_URL can't be used/],
        ["?sslrootcert=system", /sslrootcert without a TLS connection\. Add sslmode=verify-full/],
        ["?sslcert=/nowhere/a.pem&sslmode=require", /sslcert without sslkey/],
        ["?target_session_attrs=standby", /target_session_attrs=standby .* can't be written to/],
        ["?connect_timeout=soon", /connect_timeout of DATABASE_URL is not valid/],
        ["?port=70000", /invalid port/],
        ["?host=a,b&port=1,2,3", /2 hosts and 3 ports/],
        ["%zz", /invalid percent-encoding in its database/],
        ["#fragment", /not a valid URL/]
      ]
      for (const [query, reason] of cases) {
        const text = yield* refusal(`postgres://ada:the-password@db.example/x${query}`)
        assert.match(text, reason)
        assert.notInclude(text, "the-password")
        assert.notInclude(text, "\n")
      }
    })
  )
})
