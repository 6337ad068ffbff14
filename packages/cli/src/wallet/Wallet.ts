import { EXIT, Failure, usageError } from "@agentos/node/command-line"
import { resolve } from "node:path"
import { fromOf, resolveSettings, type Setting, type SettingFlags } from "../config/Settings.ts"
import type { Context } from "../context/Context.ts"
import { parseJson } from "../file/Json.ts"
import { readIfExists, readNamed, requirePrivate } from "../file/PrivateFile.ts"
import { type Keystore, readKeystore } from "./Keystore.ts"
import { PrivateKey } from "./PrivateKey.ts"
import { ENVIRONMENT_TOKEN, type Token } from "../config/Credentials.ts"
import type { Server } from "../server/Server.ts"

/** A wallet. A keystore is decrypted by `open`. */
export interface Wallet {
  /** Null if a keystore omits it. */
  readonly address: string | null
  /** The path or variable, for people. */
  readonly source: string
  /** The setting that names the file; undefined for a key in the environment. */
  readonly setting: Setting | undefined
  readonly encrypted: boolean
  /** Returns the key; asks for the password of a keystore. */
  readonly open: () => Promise<PrivateKey>
}

export interface WalletFlags extends SettingFlags {
  readonly passwordFile?: string | undefined
}

/** Parses a wallet file. */
export const readWalletText = (text: string, source: string): Keystore | PrivateKey => {
  if (!text.trimStart().startsWith("{")) return PrivateKey.ofText(text, source)
  const json = parseJson(text)
  if (json !== undefined) return readKeystore(json)
  throw new Failure({ code: "WRONG_WALLET", message: `${source} is not valid JSON.` })
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
  const text = setting.isFromFolder ? await readIfExists(path) : (await readNamed(path))?.toString()
  if (text === undefined)
    throw new Failure({
      code: "NOT_FOUND",
      message: `Wallet file ${path} (${fromOf(setting)}) does not exist.`,
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
    open: async () => content.open(await readPassword(context, { file: passwordFile, name: path, isNew: false }))
  }
}

/** The variables that name a wallet, in order of precedence. */
export const WALLET_VARIABLES = ["AGENTOS_PRIVATE_KEY", "AGENTOS_WALLET_FILE"] as const

/** Returns the variable that names the wallet; undefined for a wallet of a flag, the folder or the profile. */
export const variableOf = ({ setting, source }: Wallet): string | undefined =>
  WALLET_VARIABLES.find((name) => name === (setting?.source ?? source))

/**
 * Returns the wallet, in order of precedence: --wallet-file, AGENTOS_PRIVATE_KEY, AGENTOS_WALLET_FILE, ./agentctl.json,
 * profile. Undefined if none is set.
 */
export const findWallet = async (context: Context, flags: WalletFlags = {}): Promise<Wallet | undefined> => {
  const key = (context.host.env["AGENTOS_PRIVATE_KEY"] ?? "").trim()
  if (flags.walletFile === undefined && key !== "")
    return ofKey(PrivateKey.ofText(key, "AGENTOS_PRIVATE_KEY"), "AGENTOS_PRIVATE_KEY")
  const { walletFile } = await resolveSettings(context, flags)
  return walletFile && ofFile(context, walletFile, flags.passwordFile)
}

export const requireWallet = async (context: Context, flags: WalletFlags = {}): Promise<Wallet> => {
  const wallet = await findWallet(context, flags)
  if (wallet !== undefined) return wallet
  throw new Failure({
    code: "CONFIGURATION",
    message: "No wallet is configured. Create one, or set --wallet-file, AGENTOS_WALLET_FILE or AGENTOS_PRIVATE_KEY.",
    next: ["agentctl wallet create", "agentctl wallet import FILE"]
  })
}

/** Returns a sentence about a wallet that ./agentctl.json chose; undefined for any other. */
export const folderWalletWarning = ({ setting, source }: Wallet): string | undefined =>
  setting?.isFromFolder === true
    ? `The wallet ${source} is ${fromOf(setting)}, so the author of this folder chose it.`
    : undefined

export const NAME_YOUR_WALLET = "Name yours with --wallet-file or AGENTOS_WALLET_FILE, or its profile with --profile."

/**
 * Warns of a wallet that ./agentctl.json chose, and refuses it where only a program would read its address: money that is sent
 * to it belongs to the author of the folder.
 */
export const rejectFolderWallet = ({ host, output }: Context, wallet: Wallet): void => {
  const warning = folderWalletWarning(wallet)
  if (warning === undefined) return
  if (host.stdout.isTerminal) return output.warn(warning)
  throw new Failure({ code: "CONFIGURATION", message: `${warning} ${NAME_YOUR_WALLET}` })
}

/** Returns the address of a wallet; opens a keystore that omits it. */
export const addressOfWallet = async (wallet: Wallet): Promise<string> =>
  wallet.address ?? (await wallet.open()).address

const firstLine = (text: string): string => text.split(/\r?\n/, 1)[0]!

const givenPassword = async ({ host }: Context, file: string | undefined): Promise<string | undefined> => {
  const path = file ?? host.env["AGENTOS_PASSWORD_FILE"]
  // A flag takes precedence over both variables.
  if (file === undefined && host.env["AGENTOS_PASSWORD"] !== undefined) return host.env["AGENTOS_PASSWORD"]
  if (path === undefined || path === "") return undefined
  if (path === "-") return firstLine(await host.readStdin())
  const absolute = resolve(host.workingDirectory, path)
  const text = (await readNamed(absolute))?.toString()
  if (text === undefined) throw new Failure({ code: "NOT_FOUND", message: `Password file ${path} does not exist.` })
  await requirePrivate(absolute)
  return firstLine(text)
}

/** Returns the password of a keystore: --password-file, AGENTOS_PASSWORD, AGENTOS_PASSWORD_FILE, or a prompt. */
export const readPassword = async (
  context: Context,
  request: {
    readonly file: string | undefined
    /** The keystore, for the prompt. */
    readonly name: string
    /** A new password is asked for twice and must not be empty. */
    readonly isNew: boolean
  }
): Promise<string> => {
  const { host } = context
  const { file, isNew, name } = request
  const given = await givenPassword(context, file)
  if (given === undefined && !host.stdinIsTerminal)
    throw usageError(
      "A password is required. Set AGENTOS_PASSWORD or --password-file FILE (- for standard input), or use a terminal."
    )
  const password = given ?? (await host.ask(`Password for ${name}: `, { hidden: true }))
  if (isNew && password === "") throw usageError("The password is empty. Use --plain for a file without a password.")
  if (isNew && given === undefined && (await host.ask("Repeat the password: ", { hidden: true })) !== password)
    throw usageError("The passwords do not match. Nothing was written.")
  return password
}

/** Whether the wallet is known to be another one than the owner of the token, whose address is in lower case. */
export const isOtherWallet = (wallet: Wallet | undefined, owner: string): boolean =>
  typeof wallet?.address === "string" && wallet.address.toLowerCase() !== owner

/**
 * Returns how the wallet that pays and the token become those of one owner: without the variable that replaces the wallet of
 * the profile, or with the token of the wallet, which has one once it has bought something.
 */
export const tokenOfWallet = ({ source }: Token, wallet: Wallet | undefined): string => {
  const variable = wallet && variableOf(wallet)
  const login = "then agentctl login --wallet if the wallet has bought here"
  if (source === ENVIRONMENT_TOKEN) return `unset ${ENVIRONMENT_TOKEN}, ${login}`
  const ofProfile = variable === undefined ? "" : `unset ${variable} for the wallet of the profile, or `
  return `${ofProfile}agentctl logout, ${login}`
}

/** Returns the wallet of the access token, or undefined if the server rejects the token. */
export const ownerOf = async (client: Server): Promise<string | undefined> => {
  try {
    return (await client.call("listLimits")).wallet
  } catch (error) {
    if (error instanceof Failure && error.exit === EXIT.authentication) return undefined
    throw error
  }
}
