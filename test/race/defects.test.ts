import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { CONTEST_INVARIANTS } from "../faults/verdict/ContestInvariants.ts"
import { invariantsOf } from "../faults/verdict/Judge.ts"
import type { PAYMENT_INVARIANTS } from "../faults/verdict/PaymentInvariants.ts"
import type { PROVIDER_INVARIANTS } from "../faults/verdict/ProviderInvariants.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { familyOf, untilGone } from "../support/Processes.ts"
import { testSeed } from "../support/Random.ts"
import { RaceRun } from "./RaceRun.ts"
import { keysOfEmail, lastNumber, manyExtensions, proofsOfEmail } from "./RequestRaces.ts"
import type { Race } from "./Round.ts"

const TIMEOUT_MILLIS = 240_000

type InvariantName =
  | keyof typeof PAYMENT_INVARIANTS
  | keyof typeof PROVIDER_INVARIANTS
  | keyof typeof CONTEST_INVARIANTS

const ROUNDS = 6
/** A race meets a missing constraint by chance, so it is played again until it does. */
const PLAYS_MAX = 8

describe("the invariants reject servers whose database lacks", () => {
  let cluster: Cluster
  let run: RaceRun
  let before: ReadonlyArray<number>

  beforeAll(async () => {
    before = familyOf(process.pid)
    cluster = await startCluster({ servers: 2, telephones: true })
    run = await RaceRun.open(cluster, testSeed())
  })
  afterAll(() => cluster?.stop())

  // Each also lacks the constraints that the ones before it removed, which its race does not need.
  it.each<[string, Race, InvariantName, ...ReadonlyArray<string>]>([
    [
      "one owner of a number",
      lastNumber,
      "every sold number has one owner",
      "alter table held_numbers drop constraint held_numbers_key",
      "drop index phone_numbers_unreleased_number",
      // Several operations may choose one number, and each keeps its choice. The pause between search and purchase lets
      // them meet.
      `create function choose_too() returns trigger language plpgsql as $$ begin
        if tg_op = 'INSERT' then
          perform pg_sleep(0.3);
        elsif new.operation_id is not null and old.operation_id is not null then
          return null;
        end if;
        return new;
      end $$`,
      "create trigger choose_too before insert or update on held_numbers for each row execute function choose_too()"
    ],
    [
      "one claim of a payment",
      proofsOfEmail,
      "one payment buys one thing",
      "alter table operations drop constraint operations_proof_key"
    ],
    [
      "one claim of a key",
      keysOfEmail,
      "the right number of requests wins",
      "alter table operations drop constraint operations_idempotency_key"
    ],
    [
      "more than one extension of a call",
      manyExtensions,
      "each race's own checks hold",
      `create function forget_extension() returns trigger language plpgsql as
        'begin new.authorized_seconds := least(new.authorized_seconds, 120); return new; end'`,
      `create trigger forget_extension before update of authorized_seconds on calls
        for each row execute function forget_extension()`
    ]
  ])(
    "%s",
    async (_what, race, invariant, ...statements) => {
      await execute(cluster.database.url, ...statements)
      let found: ReadonlyArray<string> = []
      for (let plays = 0; plays < PLAYS_MAX && !found.includes(invariant); plays++) {
        await run.play(race, ROUNDS)
        const { violations } = await run.judge()
        found = invariantsOf(violations.filter(({ subject }) => subject?.group === race.name))
      }
      expect(found).toContain(invariant)
    },
    TIMEOUT_MILLIS
  )

  it("nothing else: a cluster leaves no process behind, even if a server is paused", async () => {
    const started = familyOf(process.pid).filter((pid) => !before.includes(pid))
    // The chain with its node, facilitator, relay, carrier, agent, two servers with their mail parsers, and a database.
    expect(started.length).toBeGreaterThan(8)
    expect(started).toEqual(expect.arrayContaining(cluster.servers.map(({ pid }) => pid())))
    cluster.servers[0]!.freeze()
    await cluster.stop()
    await untilGone(started, 60_000)
  })
})
