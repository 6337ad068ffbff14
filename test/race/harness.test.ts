import { afterAll, beforeAll, expect, it } from "vitest"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { familyOf, untilGone } from "../support/Processes.ts"
import { judge } from "./Judge.ts"
import { openRaces, type RaceRun } from "./RaceRun.ts"
import { lastNumber } from "./LastNumberRace.ts"
import { manyExtensions } from "./PhoneRaces.ts"
import { oneKeyTwoProofs, oneProofTwoKeys } from "./RequestRaces.ts"

const ROUNDS = 6
/** Whether a race comes upon what is missing is a matter of time: it is played again until it does, so often at most. */
const PLAYS_MOST = 8
const TIMEOUT_MILLIS = 240_000

let cluster: Cluster
let run: RaceRun
let before: ReadonlyArray<number>

beforeAll(async () => {
  before = familyOf(process.pid)
  cluster = await startCluster({ servers: 2, telephones: true })
  run = await openRaces(cluster, 1)
})
afterAll(() => cluster?.stop())

// Each also lacks what those before it took away, which its race does not touch.
it.each([
  {
    what: "a number that is one wallet's",
    statements: [
      "alter table held_numbers drop constraint held_numbers_key",
      "drop index phone_numbers_unreleased_number",
      // Several may choose one number, and each keeps its choice: with time between the search and the purchase, some do.
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
    race: lastNumber,
    // Given to more than bought it: how many of each is a matter of time.
    found: /was given to (?:2, and sold 1|[34], and sold [12]) times/
  },
  {
    what: "a payment that is claimed once",
    statements: ["alter table operations drop constraint operations_proof_key"],
    race: oneProofTwoKeys,
    found: "one authorization bought 2 things"
  },
  {
    what: "a key that is claimed once",
    statements: ["alter table operations drop constraint operations_idempotency_key"],
    race: oneKeyTwoProofs,
    found: "2 winners"
  },
  {
    what: "more than one extension of a call",
    statements: [
      `create function forget_extension() returns trigger language plpgsql as
        'begin new.authorized_seconds := least(new.authorized_seconds, 120); return new; end'`,
      `create trigger forget_extension before update of authorized_seconds on calls
        for each row execute function forget_extension()`
    ],
    race: manyExtensions,
    found: "extensions of 60 s came to 120 s"
  }
])(
  "two servers without $what are caught",
  async ({ found, race, statements }) => {
    await execute(cluster.database.url, ...statements)
    let texts: ReadonlyArray<string> = []
    for (let plays = 0; plays < PLAYS_MOST && !texts.some((text) => text.match(found) !== null); plays++) {
      await run.play(race, ROUNDS)
      const verdicts = await judge(cluster, run)
      const violations = verdicts.filter((verdict) => verdict.race === race.name).flatMap((one) => one.violations)
      texts = violations.map(({ text }) => text)
    }
    expect(texts).toContainEqual(expect.stringMatching(found))
  },
  TIMEOUT_MILLIS
)

it("a cluster leaves no process behind, and does not wait for a server that is frozen", async () => {
  const started = familyOf(process.pid).filter((pid) => !before.includes(pid))
  // The chain with its node, the facilitator, the relay, the carrier, an agent, two servers with their parsers of mail, and
  // a database.
  expect(started.length).toBeGreaterThan(8)
  expect(started).toEqual(expect.arrayContaining(cluster.servers.map(({ pid }) => pid())))
  cluster.servers[0]!.freeze()
  await cluster.stop()
  await untilGone(started, 5_000)
})
