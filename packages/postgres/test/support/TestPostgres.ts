import { layerPostgres } from "@agentos/postgres"
import { Context, Effect, Layer, Redacted } from "effect"
import { createRoles, urlOfRole } from "./Roles.ts"
import { type PostgresOptions, startPostgres } from "./startPostgres.ts"

/** A server for one test, deleted at the end. */
export class TestPostgres extends Context.Service<TestPostgres, { readonly url: Redacted.Redacted }>()(
  "@agentos/postgres/test/TestPostgres"
) {
  static readonly layer = (options?: PostgresOptions) =>
    Layer.effect(
      TestPostgres,
      Effect.map(
        Effect.acquireRelease(
          Effect.promise(() => startPostgres(options)),
          ({ stop }) => Effect.promise(stop)
        ),
        ({ url }) => TestPostgres.of({ url: Redacted.make(url) })
      )
    )
}

/** Filling a table takes longer than any statement of the service. */
const STATEMENT_TIMEOUT = "5 minutes"

/** A database on a server of its own. */
export const layerTestPostgres = (options?: PostgresOptions) =>
  Layer.unwrap(Effect.map(TestPostgres, ({ url }) => layerPostgres({ url, statementTimeout: STATEMENT_TIMEOUT }))).pipe(
    Layer.provideMerge(TestPostgres.layer(options))
  )

/** A database on a server of its own, opened as a role that can't change its tables. */
export const layerRestrictedPostgres = Layer.unwrap(
  Effect.gen(function* () {
    const { url } = yield* TestPostgres
    const server = Redacted.value(url)
    yield* createRoles(server)
    return layerPostgres({ url: Redacted.make(urlOfRole(server, "agentos")), statementTimeout: STATEMENT_TIMEOUT })
  })
).pipe(Layer.provideMerge(TestPostgres.layer()))
