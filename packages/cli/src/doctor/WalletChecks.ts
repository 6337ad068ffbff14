import type { Context } from "../command/Handler.ts"
import { decimalOf } from "../output/Wording.ts"
import { askQuote } from "../payment/Quote.ts"
import { ApiClient } from "../server/ApiClient.ts"
import type { Connection } from "../server/Connection.ts"
import { ROUTES } from "../server/Routes.ts"
import { PUBLIC_RPC, tokenBalance } from "../wallet/TokenBalance.ts"
import type { Wallet } from "../wallet/Wallet.ts"
import { broken, type Finding, missing, ok, skipped } from "./Check.ts"
import { brokenBy } from "./ServerChecks.ts"

/** What the wallet is, without opening it. */
export const describeWallet = (wallet: Wallet | undefined): Finding =>
  wallet === undefined
    ? missing("none is set, so nothing can be paid", "agentctl wallet create")
    : ok(
        `${wallet.address ?? "address unknown until it is opened"} (${wallet.source}${wallet.encrypted ? ", encrypted" : ""})`
      )

/** What the wallet holds of what the server takes. */
export const checkBalance = async (context: Context, connection: Connection, wallet: Wallet): Promise<Finding> => {
  const { address } = wallet
  if (address === null) return skipped("the wallet's address is not known until it is opened")
  try {
    const { method, path } = ROUTES.createMailbox
    const { baseUrl, settings } = connection
    const { options } = await askQuote(new ApiClient(context, baseUrl, undefined), { method, path, body: undefined })
    const held: Array<string> = []
    let isEmpty = true
    for (const { asset, assetName, network } of options) {
      const rpcUrl = settings.rpcUrl?.value ?? PUBLIC_RPC[network]
      if (rpcUrl === undefined) return broken(`no RPC is known for ${network}`, "agentctl config set rpc-url https://…")
      const balance = await tokenBalance(context, { rpcUrl, network, asset, address })
      isEmpty &&= balance === 0n
      held.push(`${decimalOf(balance)} ${assetName ?? asset} on ${network}`)
    }
    const detail = held.join(", ")
    return isEmpty ? missing(detail, `Send some to ${address}.`) : ok(detail)
  } catch (error) {
    return brokenBy(error, context)
  }
}
