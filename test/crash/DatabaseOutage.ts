import type { OperationStep } from "@agentos/core"
import { setTimeout as sleep } from "node:timers/promises"
import { inTurns } from "../faults/client/inTurns.ts"
import type { Holds } from "../faults/server/StepGate.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { familyOf } from "../support/Processes.ts"
import { comesTo } from "./Cell.ts"
import { carryThrough, sign } from "./Client.ts"
import { EMAIL_SERVICES, PHONE_SERVICES } from "./Purchase.ts"
import { type Outcome, settle } from "./Settle.ts"
import type { Shop } from "./Shop.ts"

/** All processes of PostgreSQL are stopped for a while, or one is killed, after which it recovers from its log. */
export const OUTAGES = ["stopped", "restarted"] as const
export type Outage = (typeof OUTAGES)[number]

/** The steps around each external call, and those that only the database records. */
const STEPS = [
  "claimed",
  "before_settle",
  "after_settle",
  "settled",
  "before_perform",
  "after_perform"
] as const satisfies ReadonlyArray<OperationStep>

const STOPPED_MILLIS = 4_000
/** Phone services at each step, in turn. Each needs a number that is bought first. */
const PHONES_PER_STEP = 2

const servicesAt = (index: number) => [
  ...EMAIL_SERVICES,
  ...Array.from(
    { length: PHONES_PER_STEP },
    (_, more) => PHONE_SERVICES[(index * PHONES_PER_STEP + more) % PHONE_SERVICES.length]!
  )
]

/** Holds operations at each step, takes the database away, and releases them while it is gone. */
export const runDatabaseOutage = async (shop: Shop, outage: Outage): Promise<Outcome> => {
  const before = shop.purchases.length
  // Payments at the same time can't bring allowances of one wallet: each is for the next nonce of the token.
  const isShared = shop.testbed.cluster.chain.gasSponsoring === undefined
  const tenant = await shop.newTenant()
  const orders = STEPS.flatMap((step, index) =>
    servicesAt(index).flatMap((service) => (comesTo(service, step) ? [{ step, service }] : []))
  )
  const purchases = await inTurns(orders, async ({ service, step }, index) => ({
    step,
    purchase: await shop.newPurchase(service, {
      group: `database ${outage} at ${step}`,
      client: index % 2 === 0 ? "pays again" : "gives up",
      ...(isShared && service !== "email.mailbox.create" ? { wallet: tenant } : {})
    })
  }))
  const signed = await inTurns(purchases, async (one) => ({ ...one, payment: await sign(one.purchase) }))
  const holds: Holds = Object.fromEntries(
    signed.map(({ payment, step }) => [payment.authorization.nonce, { step, until: "released" } as const])
  )
  const { cluster, gate } = shop.testbed
  gate.set(holds)
  const ended = new AbortController()
  const clients = signed.map(({ payment, purchase }) => carryThrough(purchase, payment, ended.signal))
  await gate.untilHeld(holds)
  await takeAway(cluster.database.url, outage, () => gate.set({}))
  const backAt = performance.now()
  return settle(
    shop,
    shop.purchases.slice(before),
    () => backAt,
    undefined,
    () => {
      ended.abort()
      return Promise.all(clients)
    }
  )
}

const takeAway = async (databaseUrl: string, outage: Outage, meanwhile: () => void): Promise<void> => {
  const [row] = await execute(
    databaseUrl,
    `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as postmaster,
      (select pid from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1) as backend`
  )
  const [postmaster, backend] = [Number(row?.["postmaster"]), Number(row?.["backend"])]
  if (outage === "restarted") {
    meanwhile()
    // When one backend is killed, PostgreSQL ends all others and recovers.
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
