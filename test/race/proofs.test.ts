import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createMailbox } from "../faults/client/Requests.ts"
import { newWallets, useOf, type Wallet } from "../faults/client/Wallet.ts"
import { transactionOf, untilExpired } from "../faults/observation/Chain.ts"
import { type Answer, codeOf, type Payment, type Use } from "../faults/observation/Purchases.ts"
import { type SignedAuthorization, TRANSFER_METHODS } from "../support/Authorization.ts"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import { TokenLog } from "../support/TokenLog.ts"
import { Treasury } from "../support/Treasury.ts"
import { mailboxBy } from "./Goods.ts"
import { type Challenged, challenged, mirrored, readAuthorization, steal } from "./ThiefRace.ts"

/** The payment has bought something else, or nothing here. */
const SPENT = ["IDEMPOTENCY_CONFLICT"]
const FUNDS = 100

describe.each(TRANSFER_METHODS)("by %s", (transferMethod) => {
  let cluster: Cluster
  let wallets: ReadonlyArray<Wallet>

  beforeAll(async () => {
    cluster = await startCluster({ servers: 2, paymentMethod: transferMethod })
    wallets = await newWallets(cluster, new Treasury(cluster.chain), 4, FUNDS)
  })
  afterAll(() => cluster?.stop())

  /** A mailbox that was bought. */
  interface Purchase {
    readonly wallet: Wallet
    readonly payment: Payment
    readonly use: Use
    readonly answer: Answer
  }

  let names = 0
  const freshRequest = () => createMailbox(`proof-${process.pid}-${++names}`)

  const buy = async (wallet: Wallet, request = freshRequest()): Promise<Purchase> => {
    const payment = await wallet.sign(request)
    const use = useOf(payment, request)
    const answer = await wallet.send(payment, use)
    expect(answer.status).toBe(201)
    expect(mailboxBy(answer).authentication.accessToken).toMatch(/^at_v1_/)
    return { wallet, payment, use, answer }
  }

  const readMovements = () => new TokenLog(cluster.chain).read()

  /** How often each wallet was charged. */
  const chargesOf = async (...payers: ReadonlyArray<Wallet>): Promise<ReadonlyArray<number>> => {
    const movements = await readMovements()
    return payers.map(({ address }) => movements.filter(({ from }) => from === address.toLowerCase()).length)
  }

  const onChain = async ({ payment }: Purchase): Promise<SignedAuthorization> =>
    readAuthorization(cluster, await transactionOf(cluster, payment.authorization.nonce))

  /** Waits until the payment has expired on the chain, and by every clock here. */
  const expired = ({ payment }: Purchase): Promise<void> =>
    untilExpired(cluster, payment.authorization.validBefore + 1n)

  /** Runs `work` while every server is stopped. */
  const whileStopped = async (work: () => Promise<void>): Promise<void> => {
    await Promise.all(cluster.servers.map((server) => server.stop()))
    await work()
    await Promise.all(cluster.servers.map((server) => server.start()))
  }

  /** A purchase, and a thief with a copy of its payment. */
  interface Target extends Purchase {
    readonly seen: SignedAuthorization
    readonly thief: Wallet
  }

  /** Presents a payment for its purchase and for one of the thief's, under the buyer's key and another. */
  const expectNothingStolen = async (target: Target, challenges: ReadonlyArray<Challenged>): Promise<void> => {
    const { seen, thief, use, wallet } = target
    const keys = [use.key, randomUUID()]
    expect(await steal(cluster, thief, seen, challenges, keys, SPENT)).toEqual([])
    expect(await steal(cluster, thief, mirrored(seen), challenges, keys)).toEqual([])
    expect(await chargesOf(wallet, thief)).toEqual([1, 0])
  }

  const challengesFor = (thief: Wallet, ...requests: ReadonlyArray<Use["request"]>) =>
    Promise.all(requests.map((request) => challenged(thief, request, 1)))

  // Two purchases expire together: one that was lost with the tables, and one that the service knows.
  describe("a payment that can be read from the chain", () => {
    let forgotten: Target
    let known: Target
    let challenges: ReadonlyArray<Challenged>

    beforeAll(async () => {
      const [loser, buyer, thief, stranger] = wallets
      await whileStopped(cluster.database.backUp)
      const lost = await buy(loser!)
      forgotten = { ...lost, seen: await onChain(lost), thief: thief! }
      await whileStopped(cluster.database.restore)
      const request = freshRequest()
      // A taken name is not challenged.
      challenges = await challengesFor(stranger!, request, freshRequest())
      const bought = await buy(buyer!, request)
      known = { ...bought, seen: await onChain(bought), thief: stranger! }
    })

    /** On the restored tables the name is free again. */
    const expectNothingStolenFromForgotten = async () =>
      expectNothingStolen(forgotten, await challengesFor(forgotten.thief, forgotten.use.request, freshRequest()))

    it("buys nothing with a thief's challenge", () => expectNothingStolen(known, challenges))

    it("buys nothing after the tables were restored from an older backup", () => expectNothingStolenFromForgotten())

    it("is refunded once to its wallet if the tables no longer hold its purchase", async () => {
      const { payment, use, wallet } = forgotten
      const states: Array<string | undefined> = []
      for (let tries = 0; tries < 60 && states.at(-1) !== "refunded"; tries++) {
        const answer = await wallet.send(payment, use, tries % 2)
        expect([answer.status, codeOf(answer)]).toEqual([409, "IDEMPOTENCY_CONFLICT"])
        states.push(answer.paymentState)
        await sleep(250)
      }
      expect([states[0], states.at(-1)]).toEqual(["refund_due", "refunded"])
      expect(await chargesOf(wallet)).toEqual([1])
      const back = (await readMovements()).filter(({ to }) => to === wallet.address.toLowerCase())
      expect(back.filter(({ value }) => value === payment.authorization.value)).toHaveLength(1)
    })

    it("is answered with the same bytes, token included, after it has expired", async () => {
      const { answer, payment, use, wallet } = known
      await Promise.all([expired(known), expired(forgotten)])
      for (const server of [0, 1, 0, 1]) {
        const again = await wallet.send(payment, use, server)
        expect([again.status, again.text, again.receipt]).toEqual([answer.status, answer.text, answer.receipt])
      }
      expect(await chargesOf(wallet)).toEqual([1])
    })

    it("buys nothing for a thief after it has expired", async () => {
      await expectNothingStolen(known, challenges)
      await expectNothingStolenFromForgotten()
    })
  })
})
