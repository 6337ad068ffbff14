import type { OperationStep } from "@agentos/core"
import { setTimeout as sleep } from "node:timers/promises"
import { execute } from "../support/ClusterDatabase.ts"
import { familyOf } from "../support/Processes.ts"
import { carryThrough, sign } from "./Client.ts"
import type { CrashRig } from "./CrashRig.ts"
import type { ArmedFile } from "./Parking.ts"
import { EMAIL_SERVICES, PHONE_SERVICES } from "./Purchase.ts"
import { Shop } from "./Shop.ts"
import { inTurns } from "./Turns.ts"
import { type Outcome, settleDown } from "./Witness.ts"

/** How the database goes away: its processes are stopped for a while, or one is killed, upon which it starts anew. */
export const OUTAGES = ["stopped", "restarted"] as const
export type Outage = (typeof OUTAGES)[number]

/** The steps before and after each call outside, and those that only the database sees. */
const STEPS = [
  "claimed",
  "before_settle",
  "after_settle",
  "settled",
  "before_perform",
  "after_perform"
] as const satisfies ReadonlyArray<OperationStep>

const STOPPED_MILLIS = 4_000
/** Of the services on the telephone so many at each step, in turns: each needs a number that is bought first. */
const PHONES_AT_STEP = 2

const servicesAt = (index: number) => [
  ...EMAIL_SERVICES,
  ...Array.from(
    { length: PHONES_AT_STEP },
    (_, more) => PHONE_SERVICES[(index * PHONES_AT_STEP + more) % PHONE_SERVICES.length]!
  )
]

/** Takes the database away while an operation of each kind stands at each step, and lets them go on without it. */
export const runDatabaseOutage = async (rig: CrashRig, outage: Outage): Promise<Outcome> => {
  const shop = new Shop(rig)
  const tenant = await shop.newTenant()
  const wishes = STEPS.flatMap((step, index) => servicesAt(index).map((service) => ({ step, service })))
  const purchases = await inTurns(wishes, async ({ service, step }, index) => ({
    step,
    purchase: await shop.newPurchase(service, {
      name: `database ${outage} at ${step}`,
      client: index % 2 === 0 ? "pays again" : "gives up",
      ...(service === "email.mailbox.create" ? {} : { buyer: tenant })
    })
  }))
  const signed = await inTurns(purchases, async (one) => ({ ...one, attempt: await sign(one.purchase) }))
  const held: ArmedFile = Object.fromEntries(
    signed.map(({ attempt, step }) => [attempt.authorization.nonce, { step, until: "released" } as const])
  )
  rig.arm(held)
  const over = new AbortController()
  const clients = signed.map(({ attempt, purchase }) => carryThrough(purchase, attempt, over.signal))
  await rig.untilParked(held)
  await takeAway(rig, outage, () => rig.arm({}))
  const back = performance.now()
  const outcome = await settleDown(rig, shop.purchases, () => back)
  over.abort()
  await Promise.all(clients)
  return outcome
}

/** Takes the database away, does something, and gives it back. */
const takeAway = async (rig: CrashRig, outage: Outage, meanwhile: () => void): Promise<void> => {
  const [postmaster, backend] = await pidsOf(rig)
  if (outage === "restarted") {
    meanwhile()
    // PostgreSQL ends every other backend when one was killed, and recovers from its log.
    process.kill(backend, "SIGKILL")
    return
  }
  // While the postmaster is stopped it reaps no child, so a process that ends keeps its id and can be signaled.
  process.kill(postmaster, "SIGSTOP")
  const family = familyOf(postmaster)
  try {
    for (const pid of family) process.kill(pid, "SIGSTOP")
    meanwhile()
    await sleep(STOPPED_MILLIS)
  } finally {
    for (const pid of family.toReversed()) process.kill(pid, "SIGCONT")
  }
}

/** The database's first process, and one that serves the server. */
const pidsOf = async ({ databaseUrl }: CrashRig): Promise<readonly [number, number]> => {
  if (databaseUrl === undefined) throw new Error("an embedded database goes only with its server")
  const [row] = await execute(
    databaseUrl,
    `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as postmaster,
      (select pid from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1) as backend`
  )
  return [Number(row?.["postmaster"]), Number(row?.["backend"])]
}
