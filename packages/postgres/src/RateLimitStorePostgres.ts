import { RateLimitStore } from "@agentos/core"
import { Effect, Layer } from "effect"
import { storeClock } from "./ClockOffset.ts"
import { Database } from "./Database.ts"
import { orDie } from "./DatabaseFailure.ts"
import * as Parameter from "./Parameter.ts"
import * as Row from "./Row.ts"

const DELETED_AT_ONCE = 1_000

export const layer: Layer.Layer<RateLimitStore, never, Database> = Layer.effect(
  RateLimitStore,
  Effect.gen(function* () {
    const { sql } = yield* Database
    const { clock } = yield* storeClock

    return RateLimitStore.of({
      // Rows are locked in the order of their key, so that exchanges of several servers do not deadlock.
      exchange: (uses) =>
        Effect.map(
          orDie(sql<{ readonly missing: number }>`
            with ${clock()},
            uses as (
              select * from unnest(
                ${Parameter.texts(uses.map(({ rule }) => rule.name))},
                ${Parameter.texts(uses.map(({ subject }) => subject))},
                ${Parameter.numbers(uses.map(({ tokens }) => tokens))},
                ${Parameter.numbers(uses.map(({ rule }) => rule.burst))},
                ${Parameter.numbers(uses.map(({ rule }) => rule.perSecond))}
              ) with ordinality as each (rule, subject, tokens, burst, per_second, position)
            ),
            written as (
              insert into rate_limits as stored (rule, subject, burst, per_second, missing, updated_at, full_at)
              select rule, subject, max(burst), max(per_second), least(sum(tokens), 2 * max(burst)), now,
                now + ceil(2000 * max(burst) / max(per_second))
              from uses, clock group by rule, subject, now order by rule, subject
              on conflict (rule, subject) do update set
                burst = excluded.burst,
                per_second = excluded.per_second,
                missing = least(2 * excluded.burst, excluded.missing + greatest(0, stored.missing
                  - greatest(0, excluded.updated_at - stored.updated_at) * excluded.per_second / 1000)),
                updated_at = excluded.updated_at,
                full_at = excluded.full_at
              returning rule, subject, missing
            )
            select written.missing from uses join written using (rule, subject) order by position`),
          (rows) => rows.map(({ missing }) => missing)
        ),
      deleteFull: Effect.suspend(() =>
        Row.count(sql`
          with ${clock()},
          full_again as (
            select rule, subject from rate_limits, clock where full_at <= now
            order by full_at limit ${Parameter.integer(DELETED_AT_ONCE)} for update of rate_limits skip locked
          )
          delete from rate_limits using full_again
          where rate_limits.rule = full_again.rule and rate_limits.subject = full_again.subject
          returning rate_limits.rule`)
      )
    })
  })
)
