import type { PaymentRail, Refund } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { erc20Abi, type Hex, parseAbiItem } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { pay, PaymentRig, price, type Rig, termsOf } from "./PaymentRig.ts"

type Rail = PaymentRail["Service"]

/** A payment that settled and is owed back, and the refund of it. */
export const settled = Effect.fnUntraced(function* (rail: Rail, walletIndex: number) {
  const rig = yield* PaymentRig
  const { chain } = rig
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
  const refund: Refund = { terms, proof, transaction, afterBlock, nonce: generatePrivateKey() }
  const refundsBefore = (yield* transfersBetween(rig, yield* refundWallet, address)).length
  return { refund, proof, payer: address, paidInBlock: block, refundsBefore }
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

/** Holds that the sandbox's refund wallet paid what is owed in a transaction, and nothing else since it is owed. */
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

/** Holds that the sandbox's refund wallet has paid nothing since it is owed. */
export const assertNothingMoved = Effect.fnUntraced(function* ({
  payer,
  refundsBefore
}: Effect.Success<ReturnType<typeof settled>>) {
  const rig = yield* PaymentRig
  assert.strictEqual((yield* transfersBetween(rig, yield* refundWallet, payer)).length, refundsBefore)
})
