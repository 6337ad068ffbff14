import type { PaymentRail, Refund } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { erc20Abi, type Hex, parseAbiItem } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { pay, PaymentRig, price, type Rig, termsOf } from "./PaymentRig.ts"

type Rail = PaymentRail["Service"]

/** A settled payment with its pending refund. */
export const settled = Effect.fnUntraced(function* (rail: Rail, walletIndex: number) {
  const rig = yield* PaymentRig
  const { chain } = rig
  const { address, privateKey } = chain.wallets[walletIndex]!
  const terms = termsOf(rail)
  const proof = yield* pay(rail, privateKey, terms)
  const { block: afterBlock } = yield* rail.readNonce(proof)
  // A facilitator on a busy machine may answer late, so the chain decides.
  yield* rail.settle(proof, terms)
  const found = yield* Effect.repeat(rail.findSettlement(proof, terms, afterBlock), {
    schedule: Schedule.spaced("200 millis"),
    until: ({ _tag }) => _tag === "Paid",
    times: 100
  })
  if (found._tag !== "Paid") return assert.fail(found._tag)
  const { block, transaction } = found
  // A private key is 32 random bytes, like a nonce.
  const refund: Refund = { terms, proof, transaction, afterBlock, nonce: generatePrivateKey() }
  const refundsBefore = (yield* transfersBetween(rig, yield* refundWallet, address)).length
  return { refund, proof, payer: address, paidInBlock: block, refundsBefore }
})

/** Makes all blocks of the chain final. */
export const finalize = Effect.flatMap(PaymentRig, ({ client }) => Effect.promise(() => client.mine({ blocks: 3 })))

/** Retries the refund until it is paid, like the job. */
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

/** Returns the transfers between two accounts, read without the rail. */
export const transfersBetween = ({ chain, client }: Rig, from: Hex, to: Hex) =>
  Effect.promise(() =>
    client.getLogs({ address: chain.asset, event: Transfer, args: { from, to }, fromBlock: 0n, toBlock: "latest" })
  )

/** The refund wallet of the sandbox. */
export const refundWallet = Effect.map(PaymentRig, ({ chain }) => privateKeyToAddress(chain.refundKey))

/** Asserts that the refund wallet paid the refund in this transaction, and nothing else since it was due. */
export const assertMovedOnce = Effect.fnUntraced(function* (
  { payer, refundsBefore }: Effect.Success<ReturnType<typeof settled>>,
  transaction: string
) {
  const rig = yield* PaymentRig
  const transfers = yield* transfersBetween(rig, yield* refundWallet, payer)
  const since = transfers.slice(refundsBefore)
  assert.deepStrictEqual<ReadonlyArray<unknown>>(
    since.map(({ args, transactionHash }) => [transactionHash, args.value]),
    [[transaction, price]]
  )
  return since[0]!.blockNumber
})

/** Asserts that the refund wallet has paid nothing since the refund was due. */
export const assertNothingMoved = Effect.fnUntraced(function* ({
  payer,
  refundsBefore
}: Effect.Success<ReturnType<typeof settled>>) {
  const rig = yield* PaymentRig
  assert.strictEqual((yield* transfersBetween(rig, yield* refundWallet, payer)).length, refundsBefore)
})
