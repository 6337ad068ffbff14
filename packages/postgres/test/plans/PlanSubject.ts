import type { Database, Postgres } from "@agentos/postgres"
import { assert } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { type Plan, plansOf } from "../support/Plans.ts"

type Stores = Database | Layer.Success<typeof Postgres.layer>

/**
 * Tables in which few rows are due among many idle ones, and the statements that must find the due rows without visiting
 * the idle ones.
 */
export interface PlanSubject<Sample> {
  readonly title: string
  /** Stores the rows from which others are copied. */
  readonly sample: Effect.Effect<Sample, unknown, Stores>
  /** Adds idle rows: as many as a grown database has, divided by `share`. */
  readonly addIdle: (sample: Sample, share: number) => Effect.Effect<unknown, unknown, Stores>
  /** The share of idle rows on an embedded database. With too few, a wrong index is as fast as the right one. */
  readonly embeddedShare: number
  readonly addDue: (sample: Sample) => Effect.Effect<unknown, unknown, Stores>
  /** Makes the statistics current. */
  readonly analyze: Effect.Effect<unknown, unknown, Stores>
  /** Adds rows that are all due, makes the statistics current, and then makes the rows idle. */
  readonly addOutdated: (sample: Sample) => Effect.Effect<unknown, unknown, Stores>
  /** Deletes the statistics. */
  readonly loseStatistics: Effect.Effect<unknown, unknown, Stores>
  /** Checks every statement, with the indexes that it must use. */
  readonly assertPlans: (sample: Sample) => Effect.Effect<unknown, unknown, Stores>
}

/** The tests of a subject, each on a database without its rows. */
export interface PlanTests {
  readonly title: string
  readonly current: Effect.Effect<unknown, unknown, Stores>
  readonly outdated: Effect.Effect<unknown, unknown, Stores>
  readonly embedded: Effect.Effect<unknown, unknown, Stores>
}

export const planTests = <Sample>(subject: PlanSubject<Sample>): PlanTests => ({
  title: subject.title,
  current: Effect.gen(function* () {
    const sample = yield* subject.sample
    yield* subject.addIdle(sample, 1)
    yield* subject.addDue(sample)
    yield* subject.assertPlans(sample)
    yield* subject.addDue(sample)
    yield* subject.analyze
    yield* subject.assertPlans(sample)
  }),
  outdated: Effect.gen(function* () {
    const sample = yield* subject.sample
    yield* subject.addOutdated(sample)
    yield* subject.addDue(sample)
    yield* subject.assertPlans(sample)
    yield* subject.loseStatistics
    yield* subject.addDue(sample)
    yield* subject.assertPlans(sample)
  }),
  embedded: Effect.gen(function* () {
    const sample = yield* subject.sample
    yield* subject.addIdle(sample, subject.embeddedShare)
    yield* subject.addDue(sample)
    yield* subject.assertPlans(sample)
  })
})

/** Limit of rows that a statement may visit: several times its result, since each node of a plan counts its own rows. */
const VISITED_MAX = 2_000

/** Checks that the statements of an effect read no table from end to end, except `queues`, and visit few rows. */
export const checkVisited = <A, E, R>(
  name: string,
  effect: Effect.Effect<A, E, R>,
  queues: ReadonlyArray<string> = []
): Effect.Effect<ReadonlyArray<Plan>, E, Database | R> =>
  Effect.tap(plansOf(effect), (plans) =>
    Effect.sync(() => {
      assert.isAbove(plans.length, 0, name)
      for (const plan of plans) {
        const wholeTables = plan.wholeTables.filter((table) => !queues.includes(table))
        assert.deepStrictEqual(wholeTables, [], `${name}: ${plan.text}`)
        assert.isAtMost(plan.rowsVisited, VISITED_MAX, `${name}: ${plan.text}`)
      }
    })
  )

/** Checks that the statements of an effect visit few rows, and read these indexes and no others. */
export const checkIndexes = <A, E, R>(name: string, indexes: ReadonlyArray<string>, effect: Effect.Effect<A, E, R>) =>
  Effect.map(checkVisited(name, effect), (plans) =>
    assert.sameMembers([...new Set(plans.flatMap((plan) => [...plan.indexes]))], [...indexes], name)
  )
