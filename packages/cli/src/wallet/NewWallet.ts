import { dirname, join, resolve } from "node:path"
import type { Context } from "../command/Handler.ts"
import { changeSetting, checkProfileName } from "../config/ConfigFile.ts"
import { walletFolder } from "../config/Home.ts"
import { resolveSettings } from "../config/Settings.ts"
import { Failure } from "../failure/Failure.ts"
import { errorCode, privateFolder, readIfAny, writePrivate } from "../file/PrivateFile.ts"
import { passwordFor } from "./Password.ts"
import type { PrivateKey } from "./PrivateKey.ts"
import { writeKeystore } from "./Keystore.ts"

/** How a wallet is to be kept. */
export interface KeepOptions {
  readonly output: string | undefined
  readonly plain: boolean
  readonly passwordFile: string | undefined
}

const exists = (path: string): Failure =>
  new Failure({
    code: "EXISTS",
    message: `${path} is there already, and is not overwritten: a key can't be had again.`,
    next: ["agentctl wallet address", "agentctl wallet create --output OTHER-FILE"]
  })

/** Where a new wallet goes. Throws where there is one already, before anybody has typed a password. */
export const placeForWallet = async (
  context: Context,
  { output }: KeepOptions
): Promise<{ path: string; profile: string }> => {
  const { host } = context
  const profile = checkProfileName((await resolveSettings(context)).profile.value)
  const path =
    output === undefined ? join(walletFolder(host), `${profile}.json`) : resolve(host.workingDirectory, output)
  if ((await readIfAny(path)) !== undefined) throw exists(path)
  return { path, profile }
}

/** Writes a wallet to its place, for its owner alone, and makes it the profile's. */
export const keepWallet = async (
  context: Context,
  place: { readonly path: string; readonly profile: string },
  wallet: { readonly text: string; readonly address: string; readonly encrypted: boolean }
): Promise<void> => {
  const { path, profile } = place
  const { host, output } = context
  if (path.startsWith(walletFolder(host))) await privateFolder(dirname(path))
  try {
    await writePrivate(path, wallet.text, { onlyNew: true })
  } catch (error) {
    throw errorCode(error) === "EEXIST" ? exists(path) : error
  }
  await changeSetting(host, profile, "walletFile", path)
  const document = { address: wallet.address, walletFile: path, encrypted: wallet.encrypted }
  output.record(document, [
    ["Address", wallet.address],
    ["File", path],
    ["Encrypted", wallet.encrypted ? "yes" : "no"]
  ])
  output.note(`Profile ${profile} uses this wallet. Keep a copy of the file: nobody else has the key.`)
}

/** The text of the file that holds a key: a keystore, unless a plain one was asked for. */
export const walletText = async (context: Context, key: PrivateKey, options: KeepOptions): Promise<string> => {
  if (options.plain) return `${key.revealHex()}\n`
  const password = await passwordFor(context, { file: options.passwordFile, what: "the new wallet", isNew: true })
  context.output.note("Encrypting the key…")
  return writeKeystore(key, password)
}
