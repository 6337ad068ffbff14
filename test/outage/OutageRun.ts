import { setTimeout as sleep } from "node:timers/promises"
import { carryThrough, sign } from "../crash/Client.ts"
import type { CrashPurchase } from "../crash/Purchase.ts"
import { type Outcome, settle } from "../crash/Settle.ts"
import { Shop } from "../crash/Shop.ts"
import { isSuccess } from "../faults/observation/Purchases.ts"
import { runServerCommand } from "../support/ServerCommand.ts"
import { Testbed } from "../faults/server/Testbed.ts"
import type { Outage } from "./Outage.ts"
import { Stopwatch, type Timed } from "./Stopwatch.ts"

/** Payments that are sent one after the other as the outage begins. */
const PAYMENTS = 40
/** Clients that only ask for challenges or read, each of them one request after the other. */
const CROWD = 24

const OPERATOR_TOKEN = "1".repeat(32)
const PAUSE_MILLIS = 300
const POLL_MILLIS = 20
const USUAL_PURCHASES = 5
const AFTER_MILLIS = 3_000
/** Bounds a hang. */
const RECOVERED_WITHIN = 90_000

export interface OutageReport {
  readonly outcome: Outcome
  /** From the end of the cause until a purchase succeeded that began after it. */
  readonly recoveryMillis: number
  /** The longest time of a good purchase before the outage. */
  readonly usualMillis: number
  /** The answers to requests that began during the outage, by their kind. */
  readonly answers: ReadonlyMap<string, Timed>
  /** From the end of the cause until each payment succeeded that was under way when the cause began, in order. */
  readonly underWayMillis: ReadonlyArray<number>
  /** How many requests for a challenge had each status, during the outage. */
  readonly challenges: ReadonlyMap<number, number>
  /** The lowest value of agentos_database_up, and the statuses of /health/ready, during the outage. */
  readonly databaseUp: ReadonlySet<string>
  readonly ready: ReadonlySet<number>
  /** What `ledger` printed if it found a difference; undefined if every payment is accounted for. */
  readonly ledgerFinding: string | undefined
  /** The different messages of warnings and errors in the log of the server. */
  readonly messages: ReadonlySet<string>
}

/** Lets clients buy before, during and after an outage, and judges every purchase. */
export const runOutage = async (outage: Outage, outageMillis: number): Promise<OutageReport> => {
  const testbed = await Testbed.start({
    ...outage.testbed,
    environment: { ...outage.testbed.environment, AGENTOS_OPERATOR_TOKEN: OPERATOR_TOKEN }
  })
  const stopwatch = new Stopwatch()
  try {
    return await buyThroughout(new Shop(testbed), outage, outageMillis, stopwatch)
  } finally {
    stopwatch.remove()
    await testbed.stop()
  }
}

const buyThroughout = async (
  shop: Shop,
  outage: Outage,
  outageMillis: number,
  stopwatch: Stopwatch
): Promise<OutageReport> => {
  const [server] = shop.testbed.cluster.servers
  const wallet = await shop.newTenant()
  const stopped = new AbortController()
  const clients: Array<Promise<void>> = []
  const challenges = new Map<number, number>()
  const databaseUp = new Set<string>()
  const ready = new Set<number>()

  /** Resolves with a purchase once its payment is signed; with undefined if the server asks for no payment. */
  const begin = async (): Promise<CrashPurchase | undefined> => {
    const purchase = await shop.newPurchase("email.mailbox.create", { group: "outage", client: "repeats", wallet })
    const payment = await sign(purchase).catch(() => undefined)
    if (payment === undefined) {
      shop.purchases.splice(shop.purchases.indexOf(purchase), 1)
      return undefined
    }
    clients.push(carryThrough(purchase, payment, stopped.signal))
    return purchase
  }
  /** A client that is answered 503 repeats its request, so that a start may end long after the outage. */
  const starts: Array<Promise<unknown>> = []
  const start = (): Promise<CrashPurchase | undefined> => {
    const begun = begin()
    starts.push(begun)
    return begun
  }
  const observe = async () => {
    const signal = AbortSignal.timeout(20_000)
    const readiness = await fetch(`${server!.baseUrl}/health/ready`, { signal })
    ready.add(readiness.status)
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    const operator = server!.environment()["AGENTOS_OPERATOR_LISTEN"]
    const metrics = await (await fetch(`http://${operator}/internal/metrics`, { headers, signal })).text()
    databaseUp.add(/^agentos_database_up (\d)$/m.exec(metrics)?.[1] ?? "absent")
  }
  const during = async (millis: number, work: () => Promise<unknown>) => {
    const until = performance.now() + millis
    while (performance.now() < until) {
      await work()
      await sleep(PAUSE_MILLIS)
    }
  }

  /** Asks for challenges, or reads, until the outage is over. */
  const join = async (asks: boolean, number: number) => {
    for (let count = 0; !isOver; count++) {
      const body = JSON.stringify({ localPart: `crowd-${number}-${count}`, displayName: "Crowd" })
      await fetch(`${server!.baseUrl}/api/v1/${asks ? "email/mailboxes" : "limits"}`, {
        ...(asks ? { method: "POST", body } : {}),
        headers: asks ? { "content-type": "application/json" } : { authorization: `Bearer ${wallet.token ?? ""}` }
      }).then(
        (answer) => {
          if (asks) challenges.set(answer.status, (challenges.get(answer.status) ?? 0) + 1)
          return answer.arrayBuffer()
        },
        () => undefined
      )
      await sleep(POLL_MILLIS)
    }
  }

  const usualMillis = await longest(start)
  const signed = await Promise.all(
    Array.from({ length: PAYMENTS }, async () => {
      const purchase = await shop.newPurchase("email.mailbox.create", { group: "outage", client: "repeats", wallet })
      return { purchase, payment: await sign(purchase) }
    })
  )
  let isOver = false
  let begunAt = Number.POSITIVE_INFINITY
  const sent: Array<CrashPurchase> = []
  const sending = (async () => {
    for (const { payment, purchase } of signed) {
      if (performance.now() < begunAt) sent.push(purchase)
      clients.push(carryThrough(purchase, payment, stopped.signal))
      await sleep(POLL_MILLIS)
    }
  })()
  await outage.begin()
  begunAt = performance.now()
  stopwatch.isRunning = true
  const crowd = Array.from({ length: CROWD }, (_, number) => join(number % 2 === 0, number))
  const watching = (async () => {
    while (!isOver) {
      await observe().catch(() => undefined)
      await sleep(PAUSE_MILLIS)
    }
  })()
  await during(outage.isMomentary === true ? 0 : outageMillis, async () => {
    await Promise.race([start(), sleep(1_000)])
  })
  stopwatch.isRunning = false
  await sending
  await outage.end()
  const endedAt = performance.now()
  const recoveryMillis = await untilGood(start, endedAt)
  isOver = true
  await Promise.all([watching, ...crowd])
  await during(AFTER_MILLIS, start)
  await Promise.all(starts)
  stopped.abort()
  await Promise.all(clients)
  const underWayMillis = sent
    .flatMap((purchase) => firstGood([purchase]) ?? [])
    .filter((at) => at > endedAt)
    .map((at) => at - endedAt)
    .toSorted((one, other) => one - other)
  const outcome = await settle(shop, shop.purchases, () => endedAt)
  const messages = messagesOf(server!.log())
  const isEmbedded = shop.testbed.database === "pglite"
  if (isEmbedded) await server!.stop()
  const ledger = await runServerCommand(["ledger"], server!.environment())
  if (isEmbedded) await server!.start()
  const ledgerFinding = ledger.status === 0 ? undefined : ledger.output + ledger.errors
  const answers = stopwatch.timed
  return {
    outcome,
    answers,
    underWayMillis,
    recoveryMillis,
    usualMillis,
    challenges,
    databaseUp,
    ready,
    ledgerFinding,
    messages
  }
}

/** Buys a few things one after the other, and returns the longest time. */
const longest = async (start: () => Promise<CrashPurchase | undefined>): Promise<number> => {
  let millis = 0
  for (let count = 0; count < USUAL_PURCHASES; count++) {
    const begunAt = performance.now()
    const purchase = await start()
    if (purchase === undefined) throw new Error("no purchase had a challenge before the outage")
    while (firstGood([purchase]) === undefined) await sleep(POLL_MILLIS)
    millis = Math.max(millis, performance.now() - begunAt)
  }
  return millis
}

/** Returns how long after `endedAt` a purchase was good that began later. */
const untilGood = async (start: () => Promise<CrashPurchase | undefined>, endedAt: number): Promise<number> => {
  const begun: Array<CrashPurchase> = []
  const trying = (async () => {
    while (performance.now() < endedAt + RECOVERED_WITHIN && firstGood(begun) === undefined) {
      void start().then((purchase) => purchase !== undefined && begun.push(purchase))
      await sleep(PAUSE_MILLIS)
    }
  })()
  await trying
  const goodAt = firstGood(begun)
  if (goodAt === undefined) throw new Error(`no purchase was good within ${RECOVERED_WITHIN / 1_000} s`)
  return goodAt - endedAt
}

const firstGood = (purchases: ReadonlyArray<CrashPurchase>): number | undefined =>
  purchases
    .flatMap(({ payments }) => payments.flatMap(({ uses }) => uses.flatMap(({ answers }) => answers)))
    .filter((answer) => isSuccess(answer))
    .map(({ at }) => at)
    .toSorted((one, other) => one - other)[0]

/** The log may begin in the middle of a line. */
const messagesOf = (log: string): ReadonlySet<string> =>
  new Set(
    [...log.matchAll(/"message":\[?"((?:[^"\\]|\\.){1,200}).*?"level":"(?:WARN|ERROR)"/g)].map(([, message]) =>
      message!.replaceAll(/\d+ attempts?/g, "N attempts")
    )
  )
