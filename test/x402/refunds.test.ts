import { assert, layer } from "@effect/vitest"
import { sandboxUsdtAbi } from "@agentos/sandbox"
import { httpFacilitator } from "@agentos/x402"
import { Effect, Fiber, Redacted, References } from "effect"
import { createWalletClient, type Hex, http } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { cancel } from "./Authorizations.ts"
import { holdFinality } from "./HeldFinality.ts"
import { PaymentRig, price, sendRpc } from "./PaymentRig.ts"
import {
  assertMovedOnce,
  assertNothingMoved,
  balanceOf,
  finalize,
  refundWallet,
  settled,
  transfersBetween,
  untilPaid
} from "./RefundSample.ts"

/** Builds a rail with the sandbox's refund wallet, or another. */
const refundingRail = (key?: Hex) =>
  Effect.flatMap(PaymentRig, (rig) =>
    rig.railOf({
      refund: { privateKey: Redacted.make(key ?? rig.chain.refundKey) },
      facilitator: httpFacilitator({ url: rig.facilitatorUrl, settleTimeoutMillis: 1_000 })
    })
  )

/** Sends the token to an account. */
const fund = Effect.fnUntraced(function* (to: Hex, amount: bigint) {
  const { chain, client } = yield* PaymentRig
  const owner = createWalletClient({
    account: privateKeyToAccount(chain.deployerKey),
    chain: client.chain,
    transport: http(chain.rpcUrl)
  })
  yield* Effect.promise(async () => {
    const call = { address: chain.asset, abi: sandboxUsdtAbi, functionName: "mint", args: [to, amount] } as const
    await client.waitForTransactionReceipt({ hash: await owner.writeContract(call) })
  })
})

layer(PaymentRig.layer, { excludeTestServices: true, timeout: 300_000 })("Refunds on the sandbox's chain", (it) => {
  it.effect("are paid to the payer once", () =>
    Effect.gen(function* () {
      const rig = yield* PaymentRig
      const rail = yield* refundingRail()
      const wallet = yield* refundWallet
      const accounts = [rig.chain.wallets[0]!.address, rig.chain.payTo, wallet]
      const balances = Effect.forEach(accounts, (address) => balanceOf(rig, address))
      const [payerBefore = 0n, usBefore = 0n, walletBefore = 0n] = yield* balances
      const start = yield* Effect.promise(() => rig.client.getBlockNumber())
      const owed = yield* settled(rail, 0)
      const { paidInBlock, refund } = owed
      const transaction = yield* untilPaid(rail, refund)
      assert.deepStrictEqual(yield* balances, [payerBefore, usBefore + price, walletBefore - price])
      const block = yield* assertMovedOnce(owed, transaction)

      const later = yield* refundingRail()
      for (const each of [rail, later]) {
        assert.deepStrictEqual(yield* each.refund(refund), { _tag: "Paid", transaction })
      }
      assert.deepStrictEqual(yield* balances, [payerBefore, usBefore + price, walletBefore - price])

      const token = { network: rig.chain.network, asset: rig.chain.asset }
      assert.deepStrictEqual(yield* later.transfers(token, start + 1n), {
        transfers: [
          {
            direction: "received",
            transaction: refund.transaction,
            block: paidInBlock,
            wallet: refund.proof.payer,
            amount: price
          },
          { direction: "refunded", transaction, block, wallet: refund.proof.payer, amount: price }
        ],
        nextBlock: null
      })
    })
  )

  it.effect("wait until the payment is final", () =>
    Effect.gen(function* () {
      const rig = yield* PaymentRig
      const node = yield* holdFinality(rig.chain.rpcUrl)
      const refund = { privateKey: Redacted.make(rig.chain.refundKey) }
      const rail = yield* rig.railOf({ rpcUrl: Redacted.make(node.rpcUrl), refund })
      const owed = yield* settled(rail, 4)
      node.holdAt = owed.paidInBlock - 1n
      for (const _ of [1, 2]) {
        const progress = yield* rail.refund(owed.refund)
        assert.include(progress._tag === "Pending" ? progress.message : "paid", "not final yet")
        yield* finalize
      }
      yield* assertNothingMoved(owed)
      node.holdAt = owed.paidInBlock
      yield* assertMovedOnce(owed, yield* untilPaid(rail, owed.refund))
    })
  )

  it.effect("are paid once if servers race for them", () =>
    Effect.gen(function* () {
      const rails = yield* Effect.forEach([1, 2, 3], () => refundingRail())
      const owed = yield* settled(rails[0]!, 1)
      yield* finalize
      const transactions = yield* Effect.forEach([...rails, ...rails], (rail) => untilPaid(rail, owed.refund), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(transactions).size, 1)
      yield* assertMovedOnce(owed, transactions[0]!)
    })
  )

  it.effect("survive a facilitator that fails before the transfer, loses its response or hangs", () =>
    Effect.gen(function* () {
      const { plan } = yield* PaymentRig
      const rail = yield* refundingRail()
      for (const mode of ["before", "after", "hang"] as const) {
        const owed = yield* settled(rail, 2)
        yield* finalize
        yield* plan("settle", mode)
        const first = yield* rail.refund(owed.refund)
        assert.strictEqual(first._tag, mode === "before" ? "Pending" : "Paid", mode)
        yield* assertMovedOnce(owed, yield* untilPaid(rail, owed.refund))
      }
    })
  )

  it.effect("are found by another server after the one that submitted them has died", () =>
    Effect.gen(function* () {
      const rig = yield* PaymentRig
      const rail = yield* rig.railOf({ refund: { privateKey: Redacted.make(rig.chain.refundKey) } })
      const owed = yield* settled(rail, 3)
      yield* finalize
      yield* rig.plan("settle", "hang")
      const doomed = yield* Effect.forkScoped(rail.refund(owed.refund))
      const wallet = yield* refundWallet
      yield* Effect.repeat(Effect.delay(transfersBetween(rig, wallet, owed.payer), "20 millis"), {
        until: ({ length }) => length > owed.refundsBefore,
        times: 200
      })
      yield* Fiber.interrupt(doomed)
      const next = yield* (yield* refundingRail()).refund(owed.refund)
      if (next._tag !== "Paid") return assert.fail(next.message)
      yield* assertMovedOnce(owed, next.transaction)
    })
  )

  it.effect("wait until an empty wallet is funded", () =>
    Effect.gen(function* () {
      const rig = yield* PaymentRig
      const key = generatePrivateKey()
      const { address } = privateKeyToAccount(key)
      const rail = yield* refundingRail(key)
      const { payer, refund } = yield* settled(rail, 4)
      yield* finalize
      const error = yield* Effect.flip(rail.refund(refund))
      assert.strictEqual(error.reason, "Misconfigured")
      assert.include(error.message, `The refund wallet ${address.toLowerCase()} on eip155:402402 cannot pay`)
      yield* fund(address, price)
      const transaction = yield* untilPaid(rail, refund)
      const transfers = yield* transfersBetween(rig, address, payer)
      assert.deepStrictEqual<ReadonlyArray<unknown>>(
        transfers.map(({ args, transactionHash }) => [transactionHash, args.value]),
        [[transaction, price]]
      )
      assert.strictEqual(yield* balanceOf(rig, address), 0n)
    }).pipe(Effect.provideService(References.MinimumLogLevel, "Error"))
  )

  it.effect("are blocked if the key of the wallet spent the nonce elsewhere, until another wallet replaces it", () =>
    Effect.gen(function* () {
      const rig = yield* PaymentRig
      const key = generatePrivateKey()
      const account = privateKeyToAccount(key)
      yield* fund(account.address, price)
      const rail = yield* refundingRail(key)
      const owed = yield* settled(rail, 4)
      const { refund } = owed
      yield* finalize
      yield* cancel({ payer: account.address.toLowerCase(), nonce: refund.nonce }, account)
      const error = yield* Effect.flip(rail.refund(refund))
      assert.strictEqual(error.reason, "Misconfigured")
      assert.include(error.message, "has spent the nonce of this refund on something else")
      assert.strictEqual(yield* balanceOf(rig, account.address), price)
      const successor = yield* rig.railOf({
        refund: { privateKey: Redacted.make(rig.chain.refundKey), formerWallets: [account.address] }
      })
      yield* assertMovedOnce(owed, yield* untilPaid(successor, refund))
    })
  )

  it.effect("are not paid twice after the wallet is replaced", () =>
    Effect.gen(function* () {
      const rig = yield* PaymentRig
      const key = generatePrivateKey()
      const { address } = privateKeyToAccount(key)
      yield* fund(address, price)
      const rail = yield* refundingRail(key)
      const owed = yield* settled(rail, 0)
      const transaction = yield* untilPaid(rail, owed.refund)
      const successor = yield* rig.railOf({
        refund: { privateKey: Redacted.make(rig.chain.refundKey), formerWallets: [address] }
      })
      assert.deepStrictEqual(yield* successor.refund(owed.refund), { _tag: "Paid", transaction })
      yield* assertNothingMoved(owed)
    })
  )

  // This test is last because it removes blocks from the chain.
  it.effect("are not paid for a payment that a reorganization removed", () =>
    Effect.gen(function* () {
      const rig = yield* PaymentRig
      const rail = yield* refundingRail()
      const owed = yield* settled(rail, 1)
      // One block more than exist, because another may be mined meanwhile.
      const depth = (yield* Effect.promise(() => rig.client.getBlockNumber())) - owed.paidInBlock + 2n
      yield* Effect.promise(() => sendRpc(rig.chain.rpcUrl, "anvil_rollback", Number(depth)))
      assert.isFalse((yield* rail.readNonce(owed.proof)).used)
      yield* finalize
      yield* finalize
      const progress = yield* rail.refund(owed.refund)
      assert.include(progress._tag === "Pending" ? progress.message : "paid", "does not show the payment")
      yield* assertNothingMoved(owed)
    })
  )
})
