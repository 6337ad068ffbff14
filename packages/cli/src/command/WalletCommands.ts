import { errorCode, Failure, type FlagSpec, type FlagValues, plainLine, usageError } from "@agentos/node/command-line"
import { dirname, join, resolve } from "node:path"
import type { Context } from "../context/Context.ts"
import type { Token } from "../config/Credentials.ts"
import { PASSWORD_FILE_FLAG, RPC_URL_FLAG, WALLET_FILE_FLAG, walletFlagsOf } from "../context/Flags.ts"
import { asStarted } from "../host/Host.ts"
import type { PrivateKey } from "../wallet/PrivateKey.ts"
import { defineCommand } from "./Command.ts"
import { connect, serverAt } from "./Resources.ts"

const NEW_WALLET_FLAGS = [
  {
    name: "output",
    type: "text",
    value: "FILE",
    summary: "Write the wallet to this file instead of the home folder. Existing files are never overwritten.",
    completes: "file"
  },
  {
    name: "plain",
    type: "boolean",
    summary: "Write the private key without a password. Anyone who reads the file controls the money."
  },
  PASSWORD_FILE_FLAG
] as const satisfies ReadonlyArray<FlagSpec>
type NewWalletFlags = FlagValues<typeof NEW_WALLET_FLAGS>

const exists = (path: string): Failure =>
  new Failure({
    code: "EXISTS",
    message: `${path} already exists and is not overwritten, because a lost key cannot be recovered.`,
    next: ["agentctl wallet address", "agentctl wallet create --output OTHER-FILE"]
  })

interface Destination {
  readonly path: string
  readonly profile: string
  /** The token of the profile, which an earlier wallet may have bought. */
  readonly token: Token | undefined
}

/** Returns where a new wallet is written. Fails if the file exists, before a password is asked for. */
const destinationOf = async (context: Context, { output }: NewWalletFlags): Promise<Destination> => {
  const { checkProfileName, walletFolder } = await import("../config/ConfigFile.ts")
  const { resolveSettings } = await import("../config/Settings.ts")
  const { readIfExists } = await import("../file/PrivateFile.ts")
  const { findToken } = await import("../config/Credentials.ts")
  const { host } = context
  const settings = await resolveSettings(context)
  const profile = checkProfileName(settings.profile.value)
  const path =
    output === undefined ? join(walletFolder(host), `${profile}.json`) : resolve(host.workingDirectory, output)
  if ((await readIfExists(path)) !== undefined) throw exists(path)
  const server = settings.baseUrl?.value
  const token = server !== undefined && URL.canParse(server) ? await findToken(host, profile, server) : undefined
  return { path, profile, token }
}

/** Returns the content of a wallet file: a keystore, or the key itself with --plain. */
const walletText = async (context: Context, key: PrivateKey, flags: NewWalletFlags): Promise<string> => {
  if (flags.plain) return `${key.revealHex()}\n`
  const { readPassword } = await import("../wallet/Wallet.ts")
  const { writeKeystore } = await import("../wallet/Keystore.ts")
  const password = await readPassword(context, { file: flags["password-file"], name: "the new wallet", isNew: true })
  context.output.note("Encrypting the key…")
  return writeKeystore(key, password)
}

/** Writes a wallet and makes it the wallet of the profile. */
const saveWallet = async (
  { globals, host, output }: Context,
  { path, profile, token }: Destination,
  wallet: { readonly text: string; readonly address: string; readonly encrypted: boolean }
): Promise<void> => {
  const { changeSetting, walletFolder } = await import("../config/ConfigFile.ts")
  const { privateFolder, writePrivate } = await import("../file/PrivateFile.ts")
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
  output.note(`Profile ${profile} now uses this wallet. Back up the file: nobody else has the key.`)
  const { WALLET_VARIABLES } = await import("../wallet/Wallet.ts")
  const variable = WALLET_VARIABLES.find((name) => (host.env[name] ?? "").trim() !== "")
  if (variable !== undefined)
    output.warn(
      `${variable} is set, and agentctl prefers it to the wallet of a profile. To use this wallet: unset ${variable}`
    )
  if (token !== undefined)
    output.warn(
      asStarted(
        host,
        `There is an access token (from ${token.source}), perhaps of another wallet. See: agentctl whoami`
      )
    )
  const { readBudget } = await import("../payment/Budget.ts")
  // A budget that cannot be read is reported by the commands that use it.
  const budget = await readBudget(host, profile).catch(() => undefined)
  const flag = globals.profile === undefined ? "" : ` --profile ${globals.profile}`
  // Once, at the setup: 6.00 a call lets an agent buy a number for 5.00.
  if (budget?.perCall === null && budget.perDay === null)
    output.note(
      asStarted(host, `To limit what an agent may spend: agentctl budget set --per-day 10 --per-call 6${flag}`)
    )
}

export const WALLET_CREATE = defineCommand(
  {
    name: "wallet create",
    summary: "Create a wallet and use it in this profile",
    description:
      "The private key is generated on this machine and encrypted with a password, as a standard Ethereum keystore (version 3, scrypt).\nThe password comes from AGENTOS_PASSWORD, a file, standard input or a prompt. It cannot be recovered.",
    flags: NEW_WALLET_FLAGS,
    examples: [
      { line: "agentctl wallet create", does: "Ask for a password and create the wallet of the profile" },
      {
        line: "agentctl wallet create --plain --output ./agent.key",
        does: "For an agent that runs without a password"
      }
    ],
    output: "record",
    json: "{address, walletFile, encrypted}",
    exits: [2, 6]
  },
  async (context, { flags }) => {
    const destination = await destinationOf(context, flags)
    const { PrivateKey } = await import("../wallet/PrivateKey.ts")
    const key = PrivateKey.generate()
    const text = await walletText(context, key, flags)
    await saveWallet(context, destination, { text, address: key.address, encrypted: !flags.plain })
  }
)

const readSource = async ({ host }: Context, file: string | undefined): Promise<string> => {
  if (file !== undefined && file !== "-") {
    const { readGiven } = await import("../file/PrivateFile.ts")
    return readGiven(host, file)
  }
  return host.stdinIsTerminal ? host.ask("Private key, or keystore on one line: ", { hidden: true }) : host.readStdin()
}

export const WALLET_IMPORT = defineCommand(
  {
    name: "wallet import",
    summary: "Import a private key or a keystore and use it in this profile",
    description:
      "Reads 64 hexadecimal digits or a keystore (version 3) from a file or standard input, never from the command line.\nA keystore is opened once to check the password, and is stored unchanged.",
    arguments: [
      {
        name: "file",
        summary: "File to read. Standard input if omitted or -.",
        presence: "optional",
        completes: "file"
      }
    ],
    flags: NEW_WALLET_FLAGS,
    examples: [
      { line: "agentctl wallet import ./UTC--2026-01-31.json", does: "Import a keystore of another program" },
      { line: "pass show agent-key | agentctl wallet import --plain", does: "Import a key from a password manager" }
    ],
    output: "record",
    json: "{address, walletFile, encrypted}",
    exits: [2, 4, 6]
  },
  async (context, { arguments: { file }, flags }) => {
    const isStdin = file === undefined || file === "-"
    if (isStdin && flags["password-file"] === "-")
      throw usageError("The key and the password cannot both come from standard input.")
    const destination = await destinationOf(context, flags)
    const source = await readSource(context, file)
    const { readPassword, readWalletText } = await import("../wallet/Wallet.ts")
    const content = readWalletText(source, isStdin ? "Standard input" : file)
    if ("open" in content) {
      const password = await readPassword(context, { file: flags["password-file"], name: "the keystore", isNew: false })
      const key = await content.open(password)
      const text = flags.plain ? `${key.revealHex()}\n` : source
      return saveWallet(context, destination, { text, address: key.address, encrypted: !flags.plain })
    }
    const text = await walletText(context, content, flags)
    return saveWallet(context, destination, { text, address: content.address, encrypted: !flags.plain })
  }
)

export const WALLET_ADDRESS = defineCommand(
  {
    name: "wallet address",
    summary: "Show the address of the wallet",
    description: "Asks for the password only if the keystore omits its address.",
    flags: [WALLET_FILE_FLAG, PASSWORD_FILE_FLAG],
    examples: [{ line: "agentctl wallet address", does: "The address to which you send USDT" }],
    output: "record",
    json: "{address, source}",
    exits: [2, 4, 5]
  },
  async (context, { flags }) => {
    const { addressOfWallet, rejectFolderWallet, requireWallet } = await import("../wallet/Wallet.ts")
    const wallet = await requireWallet(context, walletFlagsOf(flags))
    rejectFolderWallet(context, wallet)
    const address = await addressOfWallet(wallet)
    // Only the address, for scripts.
    context.output.data({ address, source: wallet.source }, () => `${address}\n`)
  }
)

/** How a wallet lets Permit2 move a token, for people. */
const ALLOWANCES = {
  none: undefined,
  signature: "need no transaction: each allows its own amount by a signature (EIP-2612).",
  transaction: "need one transaction before the first: agentctl wallet allow"
} as const

export const WALLET_BALANCE = defineCommand(
  {
    name: "wallet balance",
    summary: "Show the balance of the wallet in the tokens that the server accepts",
    description:
      "Asks the server which networks and tokens it accepts, and the RPC of each network for the balance. Pays nothing.\nThe RPC is --rpc-url, AGENTOS_RPC_URL, the rpc-url of the profile, or the public one of the network.",
    flags: [WALLET_FILE_FLAG, PASSWORD_FILE_FLAG, RPC_URL_FLAG],
    examples: [{ line: "agentctl wallet balance", does: "Check the funds before a purchase" }],
    output: "rows",
    json: "{address, items: [{network, asset, baseUnits, amount, allowanceBy}]}",
    exits: [2, 4, 5, 9]
  },
  async (context, { flags }) => {
    const { output } = context
    const { addressOfWallet, rejectFolderWallet, requireWallet } = await import("../wallet/Wallet.ts")
    const { rpcUrlsOf, tokenBalance } = await import("../wallet/TokenBalance.ts")
    const walletFlags = walletFlagsOf(flags)
    const { baseUrl, settings } = await connect(context, walletFlags)
    const wallet = await requireWallet(context, walletFlags)
    rejectFolderWallet(context, wallet)
    const address = await addressOfWallet(wallet)
    const { decimalOf, heldOf } = await import("@agentos/client")
    const options = await acceptedTokens(context, baseUrl)
    const networks = options.map(({ network }) => network)
    const rpcUrls = await rpcUrlsOf(context, networks, settings.rpcUrl?.value)
    if (options.length > 0 && rpcUrls.size === 0)
      throw new Failure({
        code: "CONFIGURATION",
        message: `No RPC URL is configured for ${networks.join(" or ")}. Set --rpc-url, AGENTOS_RPC_URL or config set rpc-url.`,
        next: ["agentctl config set rpc-url https://…"]
      })
    const items: Array<{
      network: string
      asset: string
      name: string | null
      baseUnits: string
      amount: string
      allowanceBy: keyof typeof ALLOWANCES
    }> = []
    for (const option of options) {
      const { allowanceBy, asset, decimals, network } = option
      const rpcUrl = rpcUrls.get(network)
      if (rpcUrl === undefined) {
        output.note(`The balance on ${network} is unknown: no RPC URL is set for it.`)
        continue
      }
      output.note(`Reading the balance on ${network} from ${new URL(rpcUrl).host}…`)
      const balance = await tokenBalance(context, { rpcUrl, network, asset, address })
      items.push({
        network,
        asset,
        name: option.assetName,
        baseUnits: String(balance),
        amount: decimalOf(heldOf(balance, decimals)),
        allowanceBy
      })
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
      "The server accepts no payments."
    )
    for (const { allowanceBy, asset, name, network } of items) {
      const needed = ALLOWANCES[allowanceBy]
      if (needed !== undefined) output.note(`Payments in ${plainLine(name ?? asset)} on ${network} ${needed}`)
    }
  }
)

export const WALLET_ALLOW = defineCommand(
  {
    name: "wallet allow",
    summary: "Let Permit2 move a token of the wallet, once, so that it can pay on a network",
    description:
      "Networks with the transfer method permit2 need it before the first payment; on others, and for tokens with permits (EIP-2612), a signature is enough. Shows what the transaction costs in gas, asks, sends it from the wallet, and waits for a block. Only known contracts of USDT are allowed. Payments still need a signature each.\nThe RPC is --rpc-url, AGENTOS_RPC_URL, the rpc-url of the profile, or that of the sandbox.",
    arguments: [
      {
        name: "network",
        summary: "CAIP-2 id of the network, for example eip155:56. May be omitted if only one needs it.",
        presence: "optional"
      }
    ],
    flags: [
      {
        name: "token",
        type: "text",
        value: "TOKEN",
        summary: "Symbol or address of the token, for example USDT, if the network has several"
      },
      {
        name: "yes",
        short: "y",
        type: "boolean",
        summary: "Send without confirmation. Requires --max-cost."
      },
      {
        name: "max-cost",
        type: "text",
        value: "AMOUNT",
        summary: "Maximum cost in the currency of gas, for example 0.001. If it is higher, nothing is signed."
      },
      WALLET_FILE_FLAG,
      PASSWORD_FILE_FLAG,
      RPC_URL_FLAG
    ],
    examples: [
      { line: "agentctl wallet allow", does: "After PERMIT2_ALLOWANCE_REQUIRED" },
      { line: "agentctl wallet allow eip155:56 --yes --max-cost 0.001", does: "In a script, at most 0.001 BNB" }
    ],
    output: "record",
    json: "{network, asset, spender, cost, transaction}; transaction is null if none was needed",
    exits: [2, 4, 5, 7, 9]
  },
  async (context, { arguments: { network }, flags }) => {
    const { allow } = await import("../payment/Allowing.ts")
    await allow(context, network, {
      ...walletFlagsOf(flags),
      yes: flags.yes,
      maxCost: flags["max-cost"],
      token: flags.token
    })
  }
)

/** Returns the payment options of the server from the quote of a mailbox, which needs neither a token nor a body. */
export const acceptedTokens = async (context: Context, baseUrl: string) => {
  const { ROUTES } = await import("../server/Routes.ts")
  const { method, path } = ROUTES.createMailbox
  return (await serverAt(context, baseUrl)).quote({ method, path })
}
