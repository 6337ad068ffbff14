import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { WALLET_ADDRESS } from "../command/WalletCommands.ts"
import { addressOfWallet, requireWallet } from "../wallet/Wallet.ts"

export const run = async (context: Context, { flags }: InputOf<typeof WALLET_ADDRESS>): Promise<void> => {
  const wallet = await requireWallet(context, {
    walletFile: flags["wallet-file"],
    passwordFile: flags["password-file"]
  })
  const address = await addressOfWallet(wallet)
  // The address alone, so that a script can take it as it is.
  context.output.data({ address, source: wallet.source }, () => `${address}\n`)
}
