import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type ChaosOptions, runChaos } from "../chaos/ChaosRun.ts"
import { allCells, situationOf } from "../crash/Cell.ts"
import { runMatrix } from "../crash/MatrixRun.ts"
import type { ClientKind, Service } from "../crash/Purchase.ts"
import { Shop } from "../crash/Shop.ts"
import { RaceRun } from "../race/RaceRun.ts"
import { keysOfEmail, lastNumber, manyExtensions, proofsOfEmail } from "../race/RequestRaces.ts"
import type { Race } from "../race/Round.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { familyOf, untilGone } from "../support/Processes.ts"
import { testSeed } from "../support/Random.ts"
import type { DefectName } from "./server/Defects.ts"
import type { CONTEST_INVARIANTS } from "./verdict/ContestInvariants.ts"
import { type EVENT_INVARIANTS, judgeEvents } from "./verdict/EventInvariants.ts"
import type { Violation } from "./verdict/Judge.ts"
import type { PAYMENT_INVARIANTS } from "./verdict/PaymentInvariants.ts"
import type { PROVIDER_INVARIANTS } from "./verdict/ProviderInvariants.ts"

const SEED = testSeed()
const TIMEOUT_MILLIS = 600_000
/** A broken server may never finish. */
const END_MILLIS_MAX = 8_000

type InvariantName =
  | keyof typeof PAYMENT_INVARIANTS
  | keyof typeof PROVIDER_INVARIANTS
  | keyof typeof CONTEST_INVARIANTS
  | keyof typeof EVENT_INVARIANTS

const namesOf = (violations: ReadonlyArray<Violation>): ReadonlyArray<string> => [
  ...new Set(violations.map(({ invariant }) => invariant))
]

/** One or more cells of the crash matrix. */
type Situation = readonly [situation: string, client: ClientKind, ...services: ReadonlyArray<Service>]

// Most of the time they wait.
describe.concurrent("reports a server that", () => {
  it.each<[DefectName, Situation, ...ReadonlyArray<InvariantName>]>([
    [
      "treats a facilitator's timeout as a refusal",
      ["settle after", "pays again", "email.message.send"],
      "a charge is delivered or refunded"
    ],
    [
      "treats every used nonce as a payment",
      ["cancelled by its payer, killed at after_settle", "repeats", "email.message.send"],
      "goods are charged"
    ],
    [
      "records a mail as sent without the relay's reply",
      ["send before", "gives up", "email.message.send"],
      "a success means that the goods exist"
    ],
    [
      "refunds under a new nonce each time",
      ["rejected, killed at after_refund", "repeats", "email.message.send"],
      "only what is owed is refunded"
    ],
    [
      "dials again after a lost answer",
      ["call after", "pays again", "phone.call.outbound.1m"],
      "goods are delivered at most once"
    ],
    [
      "forgets reserved numbers and granted extensions",
      ["killed at after_perform", "pays again", "phone.number.us.30d", "phone.call.extend.1m"],
      "every sold number has one owner",
      "goods are delivered at most once"
    ]
  ])(
    "%s",
    async (defect, [situation, client, ...services], ...invariants) => {
      const cells = allCells().filter(
        (cell) => situationOf(cell) === situation && cell.client === client && services.includes(cell.service)
      )
      expect(cells).toHaveLength(services.length)
      const { outcome } = await Shop.with({ database: "pglite", defect }, (shop) =>
        runMatrix(shop, cells, END_MILLIS_MAX)
      )
      expect(namesOf(outcome.violations)).toEqual(expect.arrayContaining([...invariants]))
    },
    TIMEOUT_MILLIS
  )
})

const SMALL = { servers: 2, tenants: 3, sockets: 12, events: 300, faults: [], settleMillisMax: 6_000 } as const
const CUTS = Array.from({ length: 6 }, (_, index) => ({
  kind: "sockets cut" as const,
  percent: 50,
  isMidFrame: index % 2 === 0
}))

it.each<readonly [DefectName, InvariantName, Partial<ChaosOptions>]>([
  ["leases events that others hold", "at most one session holds an event", { behaviors: ["forgetful"] }],
  [
    "does not lease the oldest events",
    "a session receives events in order",
    // One socket per tenant, so that more events wait than may be in flight.
    { behaviors: ["slow"], sockets: 3, events: 600 }
  ],
  [
    "accepts acknowledgements of lost deliveries",
    "acknowledgements are genuine",
    { behaviors: ["forgetful"], events: 1_000, faults: CUTS }
  ],
  ["accepts acknowledgements of other tenants", "tenants are isolated", { behaviors: ["forgetful"], events: 900 }],
  [
    "neither receives signals of events nor polls",
    "every event is acknowledged by its tenant",
    { behaviors: ["prompt"] }
  ]
])(
  `reports a server that %s (seed ${SEED})`,
  async (defect, invariant, options) => {
    const { history } = await runChaos({ ...SMALL, seed: SEED, defect, ...options })
    expect(namesOf(judgeEvents(history))).toContain(invariant)
  },
  TIMEOUT_MILLIS
)

const ROUNDS = 6
/** A race meets a missing constraint by chance, so it is played again until it does. */
const PLAYS_MAX = 8

describe("reports two servers whose database lacks", () => {
  let cluster: Cluster
  let run: RaceRun
  let before: ReadonlyArray<number>

  beforeAll(async () => {
    before = familyOf(process.pid)
    cluster = await startCluster({ servers: 2, telephones: true })
    run = await RaceRun.open(cluster, SEED)
  })
  afterAll(() => cluster?.stop())

  // Each also lacks what the ones before it removed, which its race does not need.
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
        found = namesOf(violations.filter(({ subject }) => subject?.group === race.name))
      }
      expect(found).toContain(invariant)
    },
    TIMEOUT_MILLIS
  )

  it("nothing: a cluster leaves no process behind, even if a server is paused", async () => {
    const started = familyOf(process.pid).filter((pid) => !before.includes(pid))
    // The chain with its node, facilitator, relay, carrier, agent, two servers with their mail parsers, and a database.
    expect(started.length).toBeGreaterThan(8)
    expect(started).toEqual(expect.arrayContaining(cluster.servers.map(({ pid }) => pid())))
    cluster.servers[0]!.freeze()
    await cluster.stop()
    await untilGone(started, 5_000)
  })
})
