import type { ProviderError } from "@agentos/core"
import { Effect } from "effect"
import {
  type Address,
  decodeAbiParameters,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  multicall3Abi,
  parseAbi
} from "viem"
import type { EvmChain } from "../../chain/EvmChain.ts"
import type { BroughtAllowance } from "../../header/GasSponsoring.ts"
import type { AuthorizedTransfer } from "../../network/AuthorizedTransfer.ts"
import { PERMIT2_PROXY } from "../../network/Permit2Address.ts"
import { MULTICALL3, splitSignature, TRANSFER_GAS_MAX } from "../../network/SimulatedCall.ts"
import { ACTS_AS_PAYER, approvalData } from "./AllowanceApproval.ts"
import { settleData } from "./PermitTransfer.ts"

const abi = parseAbi(["function balanceOf(address account) view returns (uint256)"])
const FAILED = "The simulated transfer failed on the chain."

/**
 * Simulates a transfer in the newest block, between two reads of the recipient's balance. Returns why it would fail, or undefined
 * if the whole amount would arrive: a token can keep a fee (Ethereum's USDT has one, which is 0).
 */
export const simulate = Effect.fnUntraced(function* (
  chain: EvmChain,
  asset: Address,
  transfer: AuthorizedTransfer,
  signature: Hex,
  brought?: BroughtAllowance
): Effect.fn.Return<string | undefined, ProviderError> {
  const bytes = splitSignature(signature)?.bytes ?? signature
  const balance = {
    target: asset,
    allowFailure: false,
    callData: encodeFunctionData({ abi, args: [transfer.to] })
  }
  const permit = brought?.kind === "eip2612" ? brought : undefined
  const settlement = {
    target: PERMIT2_PROXY,
    allowFailure: false,
    callData: settleData(asset, transfer, bytes, permit)
  } as const
  const isApproved = brought?.kind === "erc20Approval"
  // It may have been sent already, and some tokens refuse it then.
  const approval = isApproved ? [{ target: asset, allowFailure: true, callData: approvalData(brought.amount) }] : []
  const outcome = yield* chain.simulate({
    ...(isApproved ? { to: transfer.from, code: ACTS_AS_PAYER } : { to: MULTICALL3 }),
    data: encodeFunctionData({
      abi: multicall3Abi,
      functionName: "aggregate3",
      args: [[balance, ...approval, settlement, balance]]
    }),
    gas: TRANSFER_GAS_MAX
  })
  if (!outcome.succeeded || outcome.data === "0x") {
    // The block that would include the transfer is newer. The proxy accepts one at `validAfter`.
    yield* chain.requireTimeAfter(transfer.validAfter - 1n)
    return FAILED
  }
  const results = decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data: outcome.data })
  const [before, after] = [results.at(0), results.at(-1)].map((result) => result && balanceIn(result.returnData))
  if (before === undefined || after === undefined) return FAILED
  return after - before === transfer.value
    ? undefined
    : `This token keeps a fee: of ${transfer.value} base units, ${after - before} would arrive. The payment was not submitted.`
})

const balanceIn = (data: Hex): bigint => decodeAbiParameters([{ type: "uint256" }], data)[0]
