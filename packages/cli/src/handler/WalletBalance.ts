import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { WALLET_BALANCE } from "../command/WalletCommands.ts"
import { Failure } from "../failure/Failure.ts"
import { decimalOf } from "../output/Wording.ts"
import { askQuote } from "../payment/Quote.ts"
import { connect } from "../server/Connection.ts"
import { ApiClient } from "../server/ApiClient.ts"
import { ROUTES } from "../server/Routes.ts"
import { PUBLIC_RPC, tokenBalance } from "../wallet/TokenBalance.ts"
import { addressOfWallet, requireWallet } from "../wallet/Wallet.ts"

export const run = async (context: Context, { flags }: InputOf<typeof WALLET_BALANCE>): Promise<void> => {
  const { output } = context
  const choice = { walletFile: flags["wallet-file"], passwordFile: flags["password-file"], rpcUrl: flags["rpc-url"] }
  const { baseUrl, settings } = await connect(context, choice)
  const address = await addressOfWallet(await requireWallet(context, choice))
  // Anybody may ask what a start-here service costs, without a body even; the challenge names networks and tokens.
  const { method, path } = ROUTES.createMailbox
  const { options } = await askQuote(new ApiClient(context, baseUrl, undefined), { method, path, body: undefined })
  const items: Array<{ network: string; asset: string; name: string | null; baseUnits: string; amount: string }> = []
  for (const { asset, assetName, network } of options) {
    const rpcUrl = settings.rpcUrl?.value ?? PUBLIC_RPC[network]
    if (rpcUrl === undefined)
      throw new Failure({
        code: "CONFIGURATION",
        message: `No RPC is known for ${network}: neither --rpc-url, nor AGENTOS_RPC_URL, nor the profile names one.`,
        next: ["agentctl config set rpc-url https://…"]
      })
    output.note(`Asking ${new URL(rpcUrl).host} about ${network}…`)
    const balance = await tokenBalance(context, { rpcUrl, network, asset, address })
    items.push({ network, asset, name: assetName, baseUnits: String(balance), amount: decimalOf(balance) })
  }
  output.table(
    { address, items },
    items,
    [
      { heading: "NETWORK", value: ({ network }) => network, whole: true },
      { heading: "TOKEN", value: ({ name }) => name, whole: true },
      { heading: "BALANCE", value: ({ amount }) => amount, whole: true },
      { heading: "CONTRACT", value: ({ asset }) => asset, whole: true }
    ],
    "The server takes no payments."
  )
}
