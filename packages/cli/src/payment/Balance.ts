import type { Context } from "../command/Handler.ts"
import { fromOf, type Settings } from "../config/Settings.ts"
import { Failure } from "../failure/Failure.ts"
import { decimalOf } from "../output/Wording.ts"
import { PUBLIC_RPC, tokenBalance } from "../wallet/TokenBalance.ts"
import { declined, type Terms } from "./Terms.ts"

/**
 * What the wallet holds of the token and whose word that is, in words. A chain that can't be asked stops no payment, and is said; a balance
 * that is too small throws PAYMENT_DECLINED before anything is signed.
 */
export const checkBalance = async (
  context: Context,
  settings: Settings,
  { option }: Terms,
  address: string
): Promise<string> => {
  const { asset, baseUnits, network } = option
  const rpcUrl = settings.rpcUrl?.value ?? PUBLIC_RPC[network]
  if (rpcUrl === undefined) return `not known: no RPC is set for ${network}`
  let balance: bigint
  try {
    balance = await tokenBalance(context, { rpcUrl, network, asset, address })
  } catch (error) {
    if (context.host.signal.aborted || !(error instanceof Failure)) throw error
    return `not known: ${error.message}`
  }
  const witness = settings.rpcUrl === undefined ? new URL(rpcUrl).host : `RPC ${fromOf(settings.rpcUrl)}`
  if (balance >= baseUnits) return `${decimalOf(balance)} USDT (${witness})`
  throw declined(
    `It costs ${decimalOf(baseUnits)} USDT, and ${address} holds ${decimalOf(balance)} of ${asset} on ${network}.`,
    ["agentctl wallet address", "agentctl wallet balance"]
  )
}
