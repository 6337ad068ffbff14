import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createMailbox } from "../faults/client/Requests.ts"
import { newWallets, useOf, type Wallet } from "../faults/client/Wallet.ts"
import { codeOf } from "../faults/observation/Purchases.ts"
import { Testbed } from "../faults/server/Testbed.ts"
import { freshName } from "../support/Agent.ts"
import { until, untilKnown } from "../support/AttackRig.ts"
import { runServerCommand } from "../support/ServerCommand.ts"

const WALLETS = 10
const PURCHASES = 50
const FUNDS = 20

/**
 * The entry module of the other build: by default this one with fields in its challenges that the first does not know.
 * `TEST_OTHER_SERVER` may name `packages/server/src/main.ts` of another checkout.
 */
const OTHER = process.env["TEST_OTHER_SERVER"] ?? fileURLToPath(new URL("laterServerMain.ts", import.meta.url))

let testbed: Testbed
beforeAll(async () => {
  testbed = await Testbed.start({ database: "postgres", servers: 2 })
  const other = testbed.cluster.servers[1]!
  const [network] = JSON.parse(other.environment()["AGENTOS_NETWORKS"] ?? "") as [{ maxTimeoutSeconds: number }]
  other.configure(
    { AGENTOS_NETWORKS: JSON.stringify([{ ...network, maxTimeoutSeconds: network.maxTimeoutSeconds + 30 }]) },
    OTHER
  )
  await other.stop()
  await other.start()
})
afterAll(() => testbed?.stop())

/** Buys mailboxes, each with the challenge of one server at the other. Returns the answers that are no successes. */
const buyAcross = async (wallet: Wallet): Promise<ReadonlyArray<string>> => {
  const refused: Array<string> = []
  for (let purchase = 0; purchase < PURCHASES; purchase++) {
    const [issuer, seller] = purchase % 2 === 0 ? [0, 1] : [1, 0]
    const request = createMailbox(freshName())
    const payment = await wallet.sign(request, issuer)
    const answer = await untilKnown(() => wallet.send(payment, useOf(payment, request), seller))
    if (answer.status !== 201) refused.push(`${answer.status} ${codeOf(answer)} at ${seller}: ${answer.text}`)
  }
  return refused
}

describe("two builds over one database", () => {
  it(`honor the challenges of each other in each of ${WALLETS * PURCHASES} purchases, and charge each once`, async () => {
    const { cluster, token, treasury } = testbed
    const wallets = await newWallets(cluster, treasury, WALLETS, FUNDS)
    expect((await Promise.all(wallets.map(buyAcross))).flat()).toEqual([])
    const payers = new Set(wallets.map(({ address }) => address.toLowerCase()))
    const paid = (await token.read()).filter(({ from }) => payers.has(from.toLowerCase()))
    expect(paid.map(({ value }) => value)).toEqual(Array.from({ length: WALLETS * PURCHASES }, () => 250_000n))
    const { output, status } = await runServerCommand(["ledger"], cluster.servers[0]!.environment())
    expect([status, output]).toEqual([0, expect.stringContaining('"ok": true')])
  })

  it("refund a payment that a third party submitted under a challenge of the other", async () => {
    const { cluster, treasury } = testbed
    const [wallet] = await newWallets(cluster, treasury, 1, FUNDS)
    const request = createMailbox(freshName())
    const payment = await wallet!.sign(request, 0)
    await treasury.submit(payment.authorization)
    const use = useOf(payment, request)
    const refunded = await until(
      () => wallet!.send(payment, use, 1),
      ({ text }) => text.includes('"paymentState":"refunded"')
    )
    expect([refunded.status, codeOf(refunded)]).toEqual([409, "IDEMPOTENCY_CONFLICT"])
    const moved = (await testbed.token.read()).filter(({ from, to }) =>
      [from, to].some((address) => address.toLowerCase() === wallet!.address.toLowerCase())
    )
    expect(moved.map(({ value }) => value)).toEqual([BigInt(FUNDS) * 1_000_000n, 250_000n, 250_000n])
  })
})
