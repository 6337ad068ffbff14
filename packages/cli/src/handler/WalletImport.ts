import { resolve } from "node:path"
import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { WALLET_IMPORT } from "../command/WalletCommands.ts"
import { Failure } from "../failure/Failure.ts"
import { readIfAny } from "../file/PrivateFile.ts"
import { keepWallet, placeForWallet, walletText } from "../wallet/NewWallet.ts"
import { passwordFor } from "../wallet/Password.ts"
import { PrivateKey } from "../wallet/PrivateKey.ts"
import { readWalletText } from "../wallet/Wallet.ts"

const readSource = async ({ host }: Context, file: string | undefined): Promise<string> => {
  if (file !== undefined && file !== "-") {
    const text = await readIfAny(resolve(host.workingDirectory, file))
    if (text !== undefined) return text
    throw new Failure({ code: "NOT_FOUND", message: `There is no file ${file}.` })
  }
  return host.stdinIsTerminal ? host.ask("Private key, or keystore on one line: ", { hidden: true }) : host.readStdin()
}

export const run = async (context: Context, input: InputOf<typeof WALLET_IMPORT>): Promise<void> => {
  const { arguments: given, flags } = input
  const options = { output: flags.output, plain: flags.plain, passwordFile: flags["password-file"] }
  const fromStdin = given.file === undefined || given.file === "-"
  if (fromStdin && flags["password-file"] === "-")
    throw new Failure({ code: "USAGE", message: "Key and password can't both come from standard input." })
  const place = await placeForWallet(context, options)
  const source = await readSource(context, given.file)
  const content = readWalletText(source, fromStdin ? "standard input" : (given.file ?? ""))
  if (content instanceof PrivateKey) {
    const text = await walletText(context, content, options)
    return keepWallet(context, place, { text, address: content.address, encrypted: !flags.plain })
  }
  const password = await passwordFor(context, { file: flags["password-file"], what: "the keystore", isNew: false })
  const key = await content.open(password)
  const text = flags.plain ? `${key.revealHex()}\n` : source
  return keepWallet(context, place, { text, address: key.address, encrypted: !flags.plain })
}
