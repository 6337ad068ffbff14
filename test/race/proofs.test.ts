import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Reply } from "../support/Agent.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { readMovements, transactionOf, untilExpired } from "./ChainLog.ts"
import { createdBy, createMailbox } from "./MailboxRequests.ts"
import {
  attemptsWith,
  type Challenged,
  challenged,
  mirrored,
  type PublicPayment,
  readPayment,
  steal
} from "./ThiefRace.ts"
import { makeWallets, type Offer, type Wallet } from "./Wallet.ts"

/** That the payment has bought something already, or buys nothing here. */
const SPENT = ["IDEMPOTENCY_CONFLICT"]

let cluster: Cluster
let wallets: Array<Wallet>

beforeAll(async () => {
  cluster = await startCluster({ servers: 2 })
  wallets = [...(await makeWallets(cluster, 4))]
})
afterAll(() => cluster?.stop())

/** A mailbox that was bought, with all that its buyer sent and got. */
interface Purchase {
  readonly wallet: Wallet
  readonly request: ReturnType<typeof createMailbox>
  readonly offer: Offer
  readonly key: string
  readonly reply: Reply
}

let names = 0
const freshRequest = () => createMailbox(`proof-${process.pid}-${++names}`)

const buy = async (wallet: Wallet, request: Purchase["request"] = freshRequest()): Promise<Purchase> => {
  const offer = await wallet.offer(request, 0)
  const key = randomUUID()
  const reply = await wallet.send(request, offer, key, 0)
  expect(reply.status).toBe(201)
  expect(createdBy(reply).accessToken).toMatch(/^at_v1_/)
  return { wallet, request, offer, key, reply }
}

/** How often each wallet's authorizations were used so far. */
const chargesOf = async (...payers: ReadonlyArray<Wallet>): Promise<ReadonlyArray<number>> => {
  const movements = await readMovements(cluster)
  return payers.map(({ address }) => movements.filter(({ from }) => from === address.toLowerCase()).length)
}

const paymentOf = async ({ offer }: Purchase): Promise<PublicPayment> =>
  readPayment(cluster, await transactionOf(cluster, offer.nonce))

/** Waits until the authorization has run out on the chain, and by every clock here. */
const expired = ({ offer }: Purchase): Promise<void> => untilExpired(cluster, offer.validBefore + 1)

/** Stops every server, has something done, and starts them again. */
const whileStopped = async (work: () => Promise<void>): Promise<void> => {
  await Promise.all(cluster.servers.map((server) => server.stop()))
  await work()
  await Promise.all(cluster.servers.map((server) => server.start()))
}

/** A purchase, with what a thief can know of it. */
interface Target extends Purchase {
  readonly payment: PublicPayment
  readonly thief: Wallet
}

/** Offers the payment of a purchase for that purchase and for one of the thief's own, with the buyer's key and another. */
const expectNothingStolen = async (target: Target, challenges: ReadonlyArray<Challenged>): Promise<void> => {
  const { key, payment, thief, wallet } = target
  const keys = [key, randomUUID()]
  expect(await steal(cluster, thief, attemptsWith(payment, challenges, keys), SPENT)).toEqual([])
  expect(await steal(cluster, thief, attemptsWith(mirrored(payment), challenges, keys))).toEqual([])
  expect(await chargesOf(wallet, thief)).toEqual([1, 0])
}

const challengesFor = (thief: Wallet, ...requests: ReadonlyArray<Purchase["request"]>) =>
  Promise.all(requests.map((request) => challenged(thief, request, 1)))

// Two purchases run out together: one that was forgotten with the tables, one that the service knows.
describe("a payment that anybody can read off the chain", () => {
  let forgotten: Target
  let known: Target
  let challenges: ReadonlyArray<Challenged>

  beforeAll(async () => {
    const [loser, buyer, thief, stranger] = wallets
    await whileStopped(cluster.database.backUp)
    const lost = await buy(loser!)
    forgotten = { ...lost, payment: await paymentOf(lost), thief: thief! }
    await whileStopped(cluster.database.restore)
    const request = freshRequest()
    // Once the name is the buyer's nobody is challenged for it any more.
    challenges = await challengesFor(stranger!, request, freshRequest())
    const bought = await buy(buyer!, request)
    known = { ...bought, payment: await paymentOf(bought), thief: stranger! }
  })

  /** On the restored tables the name is free again. */
  const expectNothingStolenFromForgotten = async () =>
    expectNothingStolen(forgotten, await challengesFor(forgotten.thief, forgotten.request, freshRequest()))

  it("opens and buys nothing with a challenge of one's own", () => expectNothingStolen(known, challenges))

  it("nor after the tables were restored from an older backup", () => expectNothingStolenFromForgotten())

  it("is returned once to its own wallet, for whom the tables no longer hold what it bought", async () => {
    const { key, offer, request, wallet } = forgotten
    const states: Array<string | undefined> = []
    for (let tries = 0; tries < 60 && states.at(-1) !== "refunded"; tries++) {
      const reply = await wallet.send(request, offer, key, tries % 2)
      expect([reply.status, reply.body.error.code]).toEqual([409, "IDEMPOTENCY_CONFLICT"])
      states.push(reply.body.error.paymentState)
      await sleep(250)
    }
    expect([states[0], states.at(-1)]).toEqual(["refund_due", "refunded"])
    expect(await chargesOf(wallet)).toEqual([1])
    const back = (await readMovements(cluster)).filter(({ to }) => to === wallet.address.toLowerCase())
    expect(back.filter(({ value }) => value === offer.amount)).toHaveLength(1)
  })

  it("is answered with the same token, byte for byte, after it has expired", async () => {
    const { key, offer, reply, request, wallet } = known
    await Promise.all([expired(known), expired(forgotten)])
    for (const server of [0, 1, 0, 1]) {
      const again = await wallet.send(request, offer, key, server)
      expect([again.status, again.text]).toEqual([reply.status, reply.text])
      expect(again.headers.get("payment-response")).toBe(reply.headers.get("payment-response"))
    }
    expect(await chargesOf(wallet)).toEqual([1])
  })

  it("and still opens and buys nothing for anybody else", async () => {
    await expectNothingStolen(known, challenges)
    await expectNothingStolenFromForgotten()
  })
})
