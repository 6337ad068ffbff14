import type { PaymentRail, Refund } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { erc20Abi, type Hex, parseAbiItem } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { pay, PaymentRig, price, type Rig, termsOf } from "./PaymentRig.ts"

type Rail = PaymentRail["Service"]

/** A payment that settled and is owed back, and the refund of it. */
export const settled = Effect.fnUntraced(function* (rail: Rail, walletIndex: number) {
  const { chain } = yield* PaymentRig
  const { address, privateKey } = chain.wallets[walletIndex]!
  const terms = termsOf(rail)
  const proof = yield* pay(rail, privateKey, terms)
  const { block: afterBlock } = yield* rail.readNonce(proof)
  const answer = yield* rail.settle(proof, terms)
  assert.strictEqual(answer._tag, "Accepted")
  const found = yield* rail.findSettlement(proof, terms, afterBlock)
  if (found._tag !== "Paid") return assert.fail(found._tag)
  const { block, transaction } = found
  // A private key is thirty-two bytes of chance, as a nonce is.
  const refund: Refund = { terms, payer: proof.payer, transaction, afterBlock, nonce: generatePrivateKey() }
  return { refund, proof, payer: address, paidInBlock: block }
})

/** Lets the chain call all that it has final. */
export const finalize = Effect.flatMap(PaymentRig, ({ client }) => Effect.promise(() => client.mine({ blocks: 3 })))

/** Asks for the refund until it is paid, as a job does. */
export const untilPaid = (rail: Rail, refund: Refund) =>
  Effect.gen(function* () {
    const progress = yield* Effect.repeat(rail.refund(refund), {
      schedule: Schedule.spaced("200 millis"),
      until: ({ _tag }) => _tag === "Paid",
      times: 100
    })
    return progress._tag === "Paid" ? progress.transaction : assert.fail(progress.message)
  })

export const balanceOf = ({ chain, client }: Rig, address: Hex): Effect.Effect<bigint> =>
  Effect.promise(() =>
    client.readContract({ address: chain.asset, abi: erc20Abi, functionName: "balanceOf", args: [address] })
  )

const Transfer = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)")

/** Every transfer from one account to another that the chain has, read by code that is not the rail's. */
export const transfersBetween = ({ chain, client }: Rig, from: Hex, to: Hex) =>
  Effect.promise(() =>
    client.getLogs({ address: chain.asset, event: Transfer, args: { from, to }, fromBlock: 0n, toBlock: "latest" })
  )

/** The refund wallet of the sandbox. */
export const refundWallet = Effect.map(PaymentRig, ({ chain }) => privateKeyToAddress(chain.refundKey))

/** Holds that a refund moved its amount once, from the sandbox's refund wallet. */
export const assertMovedOnce = Effect.fnUntraced(function* (payer: Hex, transaction: string, times = 1) {
  const rig = yield* PaymentRig
  const transfers = yield* transfersBetween(rig, yield* refundWallet, payer)
  const own = transfers.filter(({ transactionHash }) => transactionHash === transaction)
  assert.deepStrictEqual(
    own.map(({ args }) => args.value),
    [price]
  )
  assert.strictEqual(transfers.length, times)
  return own[0]!.blockNumber
})
