import type { ServerResponse } from "node:http"
import type { PaymentRail, Refund } from "@agentos/core"
import { Effect, Redacted, Schema } from "effect"
import { type Hex, keccak256, numberToHex, pad, stringToHex, verifyTypedData } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { PaymentNetwork } from "../../src/index.ts"
import { hexOf } from "../../src/network/AuthorizedTransfer.ts"
import { AUTHORIZATION_CANCELED, AUTHORIZATION_USED, type FakeChainState, TRANSFER } from "./ChainFake.ts"
import { sendJson } from "./HttpFake.ts"
import { prepare } from "./RailFake.ts"
import * as Sample from "./Sample.ts"

/** A key only for tests, without funds anywhere. */
export const privateKey: Hex = `0x${"7b".repeat(32)}`
export const wallet = hexOf(privateKeyToAccount(privateKey).address)
export const refundNonce: Hex = `0x${"e5".repeat(32)}`

const HexText = Schema.TemplateLiteral(["0x", Schema.String])
const Authorization = Schema.Struct({
  from: HexText,
  to: HexText,
  value: Schema.BigIntFromString,
  validAfter: Schema.BigIntFromString,
  validBefore: Schema.BigIntFromString,
  nonce: HexText
})
const decodeSettlement = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      paymentPayload: Schema.Struct({ payload: Schema.Struct({ signature: HexText, authorization: Authorization }) })
    })
  )
)

/**
 * The facilitator's behavior in a settlement: reports success when it is mined; settles and loses the answer;
 * loses the answer before it is mined; fails without settling; reports success without settling; or refuses
 * with a reason.
 */
export type Conduct =
  | "settles"
  | "says that it is done"
  | "loses the answer"
  | "loses it"
  | "fails"
  | { readonly refuses: string }

export interface RefundRig {
  readonly rail: PaymentRail["Service"]
  readonly state: FakeChainState
  /** The rail of another server on the same chain. */
  readonly otherRail: PaymentRail["Service"]
  readonly facilitator: { conduct: Conduct }
  /** The submitted requests, as they were sent. */
  readonly submitted: () => ReadonlyArray<string>
  /** Mines all that was submitted and not mined yet: each authorization that the token still accepts. */
  readonly mineLost: () => void
  /** Base units refunded to the payer with the sample refund's nonce. */
  readonly moved: () => bigint
  /** Mines the payment that is owed back, in a block. */
  readonly pay: (block: number, other?: Parameters<typeof Sample.useLogs>[1]) => void
  /** Returns whether the payment is on the chain, and in which block. */
  readonly isPaid: () => boolean
  readonly paidInBlock: () => number
  /** A reorganization removes every log from a block on. */
  readonly dropFrom: (block: number) => void
  /** A wallet uses the refund's nonce in a block: by a transfer, or by cancelling it. */
  readonly use: (block: number, other?: { by?: Hex; to?: string; value?: bigint; cancelled?: boolean }) => void
}

/** The refund of the sample payment, whose nonce was read as unused in block 50. */
export const refund = (other: Partial<Refund> = {}): Refund => ({
  terms: Sample.terms(),
  proof: { payer: Sample.payer.address.toLowerCase(), nonce: Sample.nonce },
  transaction: Sample.transaction,
  afterBlock: 50n,
  nonce: refundNonce,
  ...other
})

const topic = (address: string): Hex => pad(hexOf(address))

/** A chain at block 100 of which 90 are final, with the sample payment in block 60, and a facilitator that settles. */
export const start = (other: Partial<PaymentNetwork> = {}) =>
  Effect.gen(function* () {
    const conduct: RefundRig["facilitator"] = { conduct: "settles" }
    const lost: Array<string> = []
    const token = { state: undefined as FakeChainState | undefined }
    const settle = (body: string): string | undefined => {
      const { authorization } = decodeSettlement(body).paymentPayload.payload
      const state = token.state!
      const key = `${authorization.from.toLowerCase()} ${authorization.nonce}`
      if (state.usedFrom.has(key)) return undefined
      state.latest += 1
      write(state, state.latest, { ...authorization, by: authorization.from })
      return state.logs.at(-1)!.transaction
    }
    const answer = async (body: string, response: ServerResponse) => {
      await checkSignature(body)
      const now = conduct.conduct
      if (now === "says that it is done") return sendJson(response, { success: true, transaction: refundNonce })
      if (now === "fails") return response.writeHead(500).end()
      if (typeof now === "object") return sendJson(response, { success: false, errorReason: now.refuses })
      if (now === "loses it") lost.push(body)
      const transaction = now === "loses it" ? undefined : settle(body)
      if (now !== "settles") return response.destroy()
      return transaction === undefined
        ? sendJson(response, { success: false, errorReason: "invalid_exact_evm_nonce_already_used" })
        : sendJson(response, { success: true, transaction })
    }
    const rig = yield* prepare({ refund: { privateKey: Redacted.make(privateKey) }, ...other }, (request, response) => {
      if (request.path === "/supported") {
        return sendJson(response, { kinds: [{ x402Version: 2, scheme: "exact", network: "eip155:402402" }] })
      }
      void answer(request.body, response)
    })
    const { state } = rig
    token.state = state
    state.balances.set(wallet, 10n ** 9n)
    const pay: RefundRig["pay"] = (block, changed) => state.logs.push(...Sample.useLogs(block, changed))
    pay(60)
    return {
      rail: yield* rig.build(rig.configured),
      otherRail: yield* rig.build(rig.configured),
      state,
      facilitator: conduct,
      submitted: () => rig.facilitator.seen.filter(({ path }) => path === "/settle").map(({ body }) => body),
      mineLost: () => lost.splice(0).forEach(settle),
      moved: () => movedIn(state),
      pay,
      isPaid: () => paymentIn(state) !== undefined,
      paidInBlock: () => paymentIn(state)?.block ?? Number.POSITIVE_INFINITY,
      dropFrom: (block) => {
        state.logs.splice(0, state.logs.length, ...state.logs.filter((log) => log.block < block))
        for (const [key, from] of state.usedFrom) if (from >= block) state.usedFrom.delete(key)
        state.latest = Math.max(block, state.latest)
      },
      use: (block, { by = wallet, cancelled = false, to = Sample.payer.address, value = Sample.price } = {}) =>
        write(state, block, { by, to, value, nonce: refundNonce, cancelled })
    } satisfies RefundRig
  })

/** Writes the use of a nonce to the chain, as the token does. */
const write = (
  state: FakeChainState,
  block: number,
  use: {
    readonly by: Hex
    readonly to: string
    readonly value: bigint
    readonly nonce: Hex
    readonly cancelled?: boolean
  }
): void => {
  const transaction = keccak256(stringToHex(`${block} ${use.by} ${use.nonce}`))
  const log = { block, transaction, address: Sample.asset }
  const event = use.cancelled === true ? AUTHORIZATION_CANCELED : AUTHORIZATION_USED
  state.usedFrom.set(`${use.by.toLowerCase()} ${use.nonce}`, block)
  state.logs.push({ ...log, logIndex: 0, topics: [event, topic(use.by), use.nonce], data: "0x" })
  if (use.cancelled === true) return
  const topics = [TRANSFER, topic(use.by), topic(use.to)]
  state.logs.push({ ...log, logIndex: 1, topics, data: numberToHex(use.value, { size: 32 }) })
}

const paymentIn = ({ logs }: FakeChainState) => logs.find(({ transaction }) => transaction === Sample.transaction)

const movedIn = ({ logs }: FakeChainState): bigint =>
  logs.reduce((sum, { data, topics: [event, , to] }) => {
    return event === TRANSFER && to === topic(Sample.payer.address) ? sum + BigInt(data) : sum
  }, 0n)

/** Checks the submitted signature against the token's typed data, with code independent of the rail. */
const checkSignature = async (body: string): Promise<void> => {
  const { authorization, signature } = decodeSettlement(body).paymentPayload.payload
  const names = { value: "uint256", validAfter: "uint256", validBefore: "uint256", nonce: "bytes32" }
  const types = { from: "address", to: "address", ...names }
  const signed = await verifyTypedData({
    address: authorization.from,
    domain: { name: "USD₮0", version: "1", chainId: 402402, verifyingContract: Sample.asset },
    types: { TransferWithAuthorization: Object.entries(types).map(([name, type]) => ({ name, type })) },
    primaryType: "TransferWithAuthorization",
    message: authorization,
    signature
  })
  if (!signed) throw new Error("the refund wallet did not sign what was submitted")
}
