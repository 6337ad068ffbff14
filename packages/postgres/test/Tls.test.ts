import { Database, DatabaseFailure, layerPostgres, maintainPostgres } from "@agentos/postgres"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import { type Authority, type CertificateFiles, hasOpenssl, makeAuthority, readPem } from "./support/makeAuthority.ts"
import { startPostgres } from "./support/startPostgres.ts"

const UNCHECKED = { rejectUnauthorized: false }
/** Plain connections are for the role `plain` alone, and `strict` presents a certificate that names it. */
const RULES = `
host all plain 127.0.0.1/32 trust
hostssl all strict 127.0.0.1/32 trust clientcert=verify-full
hostssl all postgres 127.0.0.1/32 trust
`

/** Two servers on this machine: one with a certificate for localhost, one without TLS. */
class Servers extends Context.Service<
  Servers,
  {
    readonly port: number
    readonly plainPort: number
    readonly authority: Authority
    readonly stranger: Authority
    readonly client: CertificateFiles
    readonly otherClient: CertificateFiles
    readonly strangeClient: CertificateFiles
  }
>()("@agentos/postgres/test/Servers") {
  static readonly layer = Layer.effect(
    Servers,
    Effect.gen(function* () {
      const authority = yield* makeAuthority("authority")
      const stranger = yield* makeAuthority("stranger")
      const issued = yield* Effect.promise(() => authority.issue("localhost", "DNS:localhost"))
      const [root, certificate, key] = yield* Effect.promise(() =>
        Promise.all([authority.certificate, issued.certificate, issued.key].map(readPem))
      )
      const start = (options: Parameters<typeof startPostgres>[0]) =>
        Effect.map(
          Effect.acquireRelease(
            Effect.promise(() => startPostgres(options)),
            ({ stop }) => Effect.promise(stop)
          ),
          ({ url }) => Number(new URL(url).port)
        )
      const port = yield* start({
        settings: { ssl: "on", ssl_ca_file: "root.crt" },
        files: { "root.crt": root!, "server.crt": certificate!, "server.key": key!, "pg_hba.conf": RULES }
      })
      yield* Effect.scoped(
        Effect.flatMap(
          PgClient.make({ url: Redacted.make(`postgres://postgres@127.0.0.1:${port}/postgres`), ssl: UNCHECKED }),
          (sql) => Effect.andThen(sql`create role plain login superuser`, sql`create role strict login superuser`)
        )
      ).pipe(Effect.provide(Reactivity.layer))
      return {
        port,
        plainPort: yield* start({}),
        authority,
        stranger,
        client: yield* Effect.promise(() => authority.issue("strict")),
        otherClient: yield* Effect.promise(() => authority.issue("postgres")),
        strangeClient: yield* Effect.promise(() => stranger.issue("strict"))
      }
    })
  )
}

const urlOf = (query: string, { host = "localhost", role = "postgres" } = {}) =>
  Effect.map(Servers, ({ port }) => Redacted.make(`postgres://${role}@${host}:${port}/postgres${query}`))

/** Opens a database, and returns whether each kind of its connections is encrypted. */
const isEncrypted = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const { delivery, sql, transact } = yield* Database
    const ofOwn = "select ssl from pg_stat_ssl where pid = pg_backend_pid()"
    const run = (client: SqlClient.SqlClient) => Effect.orDie(client.unsafe<{ readonly ssl: boolean }>(ofOwn))
    const rows = yield* Effect.all([run(sql), run(delivery), transact(run(sql))])
    const found = new Set(rows.flat().map(({ ssl }) => ssl))
    assert.strictEqual(found.size, 1)
    return found.has(true)
  }).pipe(Effect.provide(layerPostgres({ url, maxConnections: 2 })), Effect.scoped)

/** Returns why a database can't be opened. A start and the check of the configuration say the same, in one line. */
const refused = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const error = yield* Effect.flip(Effect.scoped(Layer.build(layerPostgres({ url, maxConnections: 2 }))))
  const checked = yield* Effect.flip(maintainPostgres({ url, maxConnections: 2 }).check)
  assert.instanceOf(error, DatabaseFailure)
  assert.strictEqual(error.message, checked.message)
  assert.notInclude(error.message, "\n")
  return error.message
})

const NOT_TRUSTED = /SELF_SIGNED_CERT_IN_CHAIN/
const ADDRESS = { host: "127.0.0.1" }
const STRICT = { role: "strict" }

layer(Servers.layer, { excludeTestServices: true })("a PostgreSQL server with TLS (skipped without openssl)", (it) => {
  const test = hasOpenssl ? it.effect : it.effect.skip

  it.effect("gets plain connections by default and with sslmode=disable", () =>
    Effect.gen(function* () {
      for (const query of ["", "?sslmode=disable"]) {
        assert.isFalse(yield* isEncrypted(yield* urlOf(query, { role: "plain" })))
        assert.match(yield* refused(yield* urlOf(query)), /no pg_hba\.conf entry for .*, no encryption \(28000\)/)
      }
    })
  )

  test("gets TLS without a check of its certificate with prefer and allow, and one without TLS plain text", () =>
    Effect.gen(function* () {
      const { plainPort } = yield* Servers
      for (const mode of ["prefer", "allow"]) {
        assert.isTrue(yield* isEncrypted(yield* urlOf(`?sslmode=${mode}`)))
        assert.isTrue(yield* isEncrypted(yield* urlOf(`?sslmode=${mode}`, ADDRESS)))
        const plain = Redacted.make(`postgres://postgres@localhost:${plainPort}/postgres?sslmode=${mode}`)
        assert.isFalse(yield* isEncrypted(plain))
      }
    }))

  test("has its certificate and its name checked with require and verify-full", () =>
    Effect.gen(function* () {
      const { authority, plainPort, stranger } = yield* Servers
      for (const mode of ["require", "verify-full"]) {
        const at = `?sslmode=${mode}`
        assert.isTrue(yield* isEncrypted(yield* urlOf(`${at}&sslrootcert=${authority.certificate}`)))
        assert.match(yield* refused(yield* urlOf(at)), NOT_TRUSTED)
        assert.match(yield* refused(yield* urlOf(`${at}&sslrootcert=system`)), NOT_TRUSTED)
        assert.match(yield* refused(yield* urlOf(`${at}&sslrootcert=${stranger.certificate}`)), NOT_TRUSTED)
        assert.match(
          yield* refused(yield* urlOf(`${at}&sslrootcert=${authority.certificate}`, ADDRESS)),
          /127\.0\.0\.1 is not in the cert's list:.* \(ERR_TLS_CERT_ALTNAME_INVALID\)/
        )
        const plain = Redacted.make(`postgres://postgres@localhost:${plainPort}/postgres${at}`)
        assert.match(yield* refused(plain), /The server does not support TLS/)
      }
    }))

  test("has its certificate checked and not its name with verify-ca", () =>
    Effect.gen(function* () {
      const { authority, stranger } = yield* Servers
      const at = "?sslmode=verify-ca"
      assert.isTrue(yield* isEncrypted(yield* urlOf(`${at}&sslrootcert=${authority.certificate}`, ADDRESS)))
      assert.match(yield* refused(yield* urlOf(at, ADDRESS)), NOT_TRUSTED)
      assert.match(yield* refused(yield* urlOf(`${at}&sslrootcert=${stranger.certificate}`)), NOT_TRUSTED)
    }))

  test("gets the certificate of sslcert, and refuses connections without the right one", () =>
    Effect.gen(function* () {
      const { authority, client, otherClient, strangeClient } = yield* Servers
      const root = `?sslmode=verify-full&sslrootcert=${authority.certificate}`
      const presenting = ({ certificate, key }: CertificateFiles) =>
        urlOf(`${root}&sslcert=${certificate}&sslkey=${key}`, STRICT)
      assert.isTrue(yield* isEncrypted(yield* presenting(client)))
      assert.match(
        yield* refused(yield* urlOf(root, STRICT)),
        /connection requires a valid client certificate \(28000\)/
      )
      assert.match(yield* refused(yield* presenting(otherClient)), /authentication failed for user "strict" \(28000\)/)
      assert.match(yield* refused(yield* presenting(strangeClient)), /ERR_SSL_TLSV1_ALERT_UNKNOWN_CA/)
      const mixed = yield* urlOf(`${root}&sslcert=${client.certificate}&sslkey=${otherClient.key}`, STRICT)
      const error = yield* Effect.flip(maintainPostgres({ url: mixed }).validate)
      assert.match(error.message, /sslrootcert, sslcert, sslkey of DATABASE_URL can't be used: .*key values mismatch/)
    }))

  test("gets the request to cancel a statement over TLS", () =>
    Effect.gen(function* () {
      const { authority } = yield* Servers
      const url = yield* urlOf(`?sslmode=verify-full&sslrootcert=${authority.certificate}`)
      yield* Effect.gen(function* () {
        const { delivery, sql } = yield* Database
        const running = delivery`select from pg_stat_activity where state = 'active' and query like 'select pg_sleep(_00)'`
        const until = (count: number) =>
          Effect.repeat(running, { until: (rows) => rows.length === count, schedule: Schedule.spaced("20 millis") })
        const sleeping = yield* Effect.forkChild(sql.withTransaction(sql.unsafe("select pg_sleep(100)")), {
          startImmediately: true
        })
        yield* until(1)
        yield* Fiber.interrupt(sleeping)
        yield* until(0)
      }).pipe(Effect.provide(layerPostgres({ url, maxConnections: 2, statementTimeout: "5 minutes" })), Effect.scoped)
    }))
})
