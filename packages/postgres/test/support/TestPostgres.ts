import { layerPostgres } from "@agentos/postgres"
import { Context, Effect, Layer, Redacted } from "effect"
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

/** A database on a server of its own. */
export const layerTestPostgres = (options?: PostgresOptions) =>
  Layer.unwrap(Effect.map(TestPostgres, ({ url }) => layerPostgres({ url }))).pipe(
    Layer.provideMerge(TestPostgres.layer(options))
  )
