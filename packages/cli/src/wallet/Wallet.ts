import type { Context } from "../command/Handler.ts"
import { fromOf, resolveSettings, type Setting, type SettingFlags } from "../config/Settings.ts"
import { Failure } from "../failure/Failure.ts"
import { readIfAny, requirePrivate } from "../file/PrivateFile.ts"
import { type Keystore, readKeystore } from "./Keystore.ts"
import { passwordFor } from "./Password.ts"
import { PrivateKey } from "./PrivateKey.ts"

/** A wallet that was found, and perhaps not opened yet. */
export interface Wallet {
  /** Null where only the password can tell. */
  readonly address: string | null
  /** Where it is, for people. */
  readonly source: string
  /** The setting that names its file; undefined where the environment holds the key itself. */
  readonly setting: Setting | undefined
  readonly encrypted: boolean
  /** The key; asks for the password where there is one. */
  readonly open: () => Promise<PrivateKey>
}

/** Which wallet is meant, beside what is configured. */
export interface WalletFlags extends SettingFlags {
  readonly passwordFile?: string | undefined
}

/** What a wallet file holds: a keystore, or a key. */
export const readWalletText = (text: string, from: string): Keystore | PrivateKey => {
  if (!text.trimStart().startsWith("{")) return PrivateKey.ofText(text, from)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new Failure({ code: "WRONG_WALLET", message: `What ${from} holds is not JSON, though it begins so.` })
  }
  return readKeystore(json)
}

const ofKey = (key: PrivateKey, source: string, setting?: Setting): Wallet => ({
  address: key.address,
  source,
  setting,
  encrypted: false,
  open: () => Promise.resolve(key)
})

const ofFile = async (context: Context, setting: Setting, passwordFile: string | undefined): Promise<Wallet> => {
  const path = setting.value
  const text = await readIfAny(path)
  if (text === undefined)
    throw new Failure({
      code: "NOT_FOUND",
      message: `There is no wallet file ${path} (${fromOf(setting)}).`,
      next: ["agentctl wallet create"]
    })
  const content = readWalletText(text, path)
  if (content instanceof PrivateKey) {
    await requirePrivate(path)
    return ofKey(content, path, setting)
  }
  return {
    address: content.address,
    source: path,
    setting,
    encrypted: true,
    open: async () => content.open(await passwordFor(context, { file: passwordFile, what: path, isNew: false }))
  }
}

/**
 * The wallet in force, or undefined where there is none: --wallet-file, then AGENTOS_PRIVATE_KEY, then
 * AGENTOS_WALLET_FILE, then ./agentctl.json and the profile.
 */
export const findWallet = async (context: Context, flags: WalletFlags = {}): Promise<Wallet | undefined> => {
  const key = (context.host.env["AGENTOS_PRIVATE_KEY"] ?? "").trim()
  if (flags.walletFile === undefined && key !== "")
    return ofKey(PrivateKey.ofText(key, "AGENTOS_PRIVATE_KEY"), "AGENTOS_PRIVATE_KEY")
  const { walletFile } = await resolveSettings(context, flags)
  return walletFile && ofFile(context, walletFile, flags.passwordFile)
}

/** The same, for commands that can't do without. */
export const requireWallet = async (context: Context, flags: WalletFlags = {}): Promise<Wallet> => {
  const wallet = await findWallet(context, flags)
  if (wallet !== undefined) return wallet
  throw new Failure({
    code: "CONFIGURATION",
    message:
      "No wallet is set: neither --wallet-file, nor AGENTOS_PRIVATE_KEY, AGENTOS_WALLET_FILE, nor the profile names one.",
    next: ["agentctl wallet create", "agentctl wallet import FILE"]
  })
}

/** The address of a wallet; opens it only where it does not say. */
export const addressOfWallet = async (wallet: Wallet): Promise<string> =>
  wallet.address ?? (await wallet.open()).address
