import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { codeOf } from "../faults/observation/Purchases.ts"
import { useOf } from "../faults/client/Wallet.ts"
import { createMailbox } from "../faults/client/Requests.ts"
import { freshName } from "../support/Agent.ts"
import { AttackRig, MAILBOX_PRICE, until, untilKnown } from "../support/AttackRig.ts"

/** Two servers over one database, whose networks are configured differently, as while an operator changes a setting. */
let rig: AttackRig
beforeAll(async () => {
  rig = await AttackRig.start()
  const changed = rig.cluster.servers[1]!
  const [network] = JSON.parse(changed.environment()["AGENTOS_NETWORKS"] ?? "") as [{ maxTimeoutSeconds: number }]
  changed.configure({
    AGENTOS_NETWORKS: JSON.stringify([{ ...network, maxTimeoutSeconds: network.maxTimeoutSeconds + 30 }])
  })
  await changed.stop()
  await changed.start()
})
afterAll(() => rig?.stop())

const PURCHASES = 40

describe("two servers with different terms", () => {
  it("accept the challenges of each other, in every purchase", async () => {
    const wallet = await rig.wallet(20)
    const refused: Array<string> = []
    for (let purchase = 0; purchase < PURCHASES; purchase++) {
      const [issuer, payee] = purchase % 2 === 0 ? [0, 1] : [1, 0]
      const request = createMailbox(freshName())
      const payment = await wallet.sign(request, issuer)
      const answer = await untilKnown(() => wallet.send(payment, useOf(payment, request), payee))
      if (answer.status !== 201) refused.push(`${answer.status} ${codeOf(answer)}`)
    }
    expect(refused).toEqual([])
    expect(await rig.spentBy(wallet, 20)).toBe(BigInt(PURCHASES) * MAILBOX_PRICE)
  })

  it("refund what a third party submitted under a challenge of the other", async () => {
    const wallet = await rig.wallet()
    const request = createMailbox(freshName())
    const payment = await wallet.sign(request, 0)
    await rig.treasury.submit(payment.authorization)
    const use = useOf(payment, request)
    const refunded = await until(
      () => wallet.send(payment, use, 1),
      ({ text }) => text.includes('"paymentState":"refunded"')
    )
    expect([refunded.status, refunded.text]).toEqual([409, expect.stringContaining('"paymentState":"refunded"')])
    expect(codeOf(refunded)).toBe("IDEMPOTENCY_CONFLICT")
    expect(await rig.spentBy(wallet)).toBe(0n)
  })
})
