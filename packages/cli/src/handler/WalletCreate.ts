import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { WALLET_CREATE } from "../command/WalletCommands.ts"
import { keepWallet, placeForWallet, walletText } from "../wallet/NewWallet.ts"
import { PrivateKey } from "../wallet/PrivateKey.ts"

export const run = async (context: Context, { flags }: InputOf<typeof WALLET_CREATE>): Promise<void> => {
  const options = { output: flags.output, plain: flags.plain, passwordFile: flags["password-file"] }
  const place = await placeForWallet(context, options)
  const key = PrivateKey.make()
  const text = await walletText(context, key, options)
  await keepWallet(context, place, { text, address: key.address, encrypted: !flags.plain })
}
