import { decimalOf, heldOf, type PaymentQuote, unitsOf } from "@agentos/client"
import { EXIT, Failure, plainLine, usageError } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { readConfig } from "../config/ConfigFile.ts"
import { fromOf, rejectFolderSettings, resolveSettings, type Settings } from "../config/Settings.ts"
import type { Connection } from "../server/Connection.ts"
import { PUBLIC_RPC, tokenBalance } from "../wallet/TokenBalance.ts"
import type { Wallet } from "../wallet/Wallet.ts"

export interface ApprovalFlags {
  readonly yes: boolean
  readonly "max-amount": string | undefined
}

/** Whether there is a terminal to ask on. */
export const canAsk = ({ host }: Context): boolean => host.stdinIsTerminal && host.stderr.isTerminal

/**
 * Checks before anything else that the user can confirm: on a terminal, or with --yes and --max-amount together. Returns
 * the maximum price in base units.
 */
export const readApproval = (context: Context, flags: ApprovalFlags): bigint | undefined => {
  const text = flags["max-amount"]
  const maximum = text === undefined ? undefined : unitsOf(text)
  const usage = (message: string) => new Failure({ code: "USAGE", message, paymentState: "none" })
  if (text !== undefined && maximum === undefined)
    throw usage(`--max-amount takes an amount in USDT such as 0.25, not "${text}".`)
  if (flags.yes && maximum === undefined)
    throw usage("--yes requires --max-amount AMOUNT, the maximum price in USDT. Nothing was signed.")
  if (!flags.yes && !canAsk(context))
    throw usage("Cannot ask for confirmation without a terminal. Pass --yes and --max-amount. Nothing was signed.")
  return maximum
}

/** Rejects --yes if ./agentctl.json decides any part of the payment, because the user would not see the recipient. */
export const checkSources = (settings: Settings, wallet: Wallet, flags: Pick<ApprovalFlags, "yes">): void => {
  if (!flags.yes) return
  const ofWallet = wallet.setting === undefined ? [] : (["wallet-file"] as const)
  rejectFolderSettings(settings, ["base-url", "profile", "rpc-url", ...ofWallet], "Nothing was signed.")
}

export const declined = (message: string, next: ReadonlyArray<string> = []): Failure =>
  new Failure({ code: "PAYMENT_DECLINED", message: `${message} Nothing was signed.`, paymentState: "none", next })

/** Returns the commands that come after a lack of money, on a network if it is named. */
export const unfundedNext = async (context: Context, network?: string): Promise<ReadonlyArray<string>> => {
  const { profile } = await resolveSettings(context)
  const { sandboxFile } = (await readConfig(context.host)).profiles[profile.value] ?? {}
  const fund =
    sandboxFile === undefined ? [] : [`agentctl sandbox fund${network === undefined ? "" : ` --network ${network}`}`]
  return [...fund, "agentctl wallet address", "agentctl wallet balance"]
}

/** Returns the price of a quote in base units. */
export const amountOf = ({ price }: PaymentQuote): bigint => unitsOf(price)!

/** Throws OVER_BUDGET if the price is above --max-amount. */
export const checkMaximum = (quote: PaymentQuote, maximum: bigint | undefined): void => {
  if (maximum !== undefined && amountOf(quote) > maximum)
    throw new Failure({
      code: "OVER_BUDGET",
      exit: EXIT.payment,
      message: `The price is ${quote.price} USDT, but --max-amount is ${decimalOf(maximum)}. Nothing was signed.`,
      paymentState: "none"
    })
}

/**
 * Returns the balance of the wallet and its source, for people. Throws PAYMENT_DECLINED if it is too low. A chain that
 * cannot be reached does not stop a payment.
 */
export const checkBalance = async (
  context: Context,
  settings: Settings,
  quote: PaymentQuote,
  address: string
): Promise<string> => {
  const { asset, network, price } = quote
  const rpcUrl = settings.rpcUrl?.value ?? PUBLIC_RPC[network]
  if (rpcUrl === undefined) return `unknown: no RPC URL is set for ${network}`
  let balance: bigint
  try {
    balance = heldOf(await tokenBalance(context, { rpcUrl, network, asset, address }), quote.decimals)
  } catch (error) {
    if (context.host.signal.aborted || !(error instanceof Failure)) throw error
    return `unknown: ${error.message}`
  }
  const source = settings.rpcUrl === undefined ? new URL(rpcUrl).host : `RPC ${fromOf(settings.rpcUrl)}`
  if (balance >= amountOf(quote)) return `${decimalOf(balance)} USDT (${source})`
  throw declined(
    `Insufficient balance: the price is ${price} USDT, and ${address} has ${decimalOf(balance)} of ${asset} on ${network}.`,
    await unfundedNext(context, network)
  )
}

/** A payment as it is shown for confirmation. */
export interface Proposal {
  readonly quote: PaymentQuote
  /** The purchase in a few words. */
  readonly purchase: string
  /** The question about something that cannot be undone. */
  readonly question: string | undefined
  readonly connection: Connection
  readonly wallet: Wallet
  readonly address: string
  readonly balance: string
}

const sourceOf = ({ setting, source }: Wallet): string =>
  setting === undefined ? fromOf({ source }) : `${source}, ${fromOf(setting)}`

const proposalFields = ({ address, balance, connection, purchase, quote, wallet }: Proposal) => {
  const { allowanceBy, asset, assetName, network, payTo, price } = quote
  const { baseUrl, profile, settings } = connection
  return [
    ["Buys", purchase],
    ["Amount", `${price} USDT`],
    ["Server", settings.baseUrl && `${baseUrl} (${fromOf(settings.baseUrl)})`],
    ["Profile", `${profile} (${fromOf(settings.profile)})`],
    ["Token", `${plainLine(assetName ?? "unnamed")} (${asset})`],
    ["Network", network],
    ["Pay to", payTo],
    ["Allows", allowanceBy === "signature" ? `Permit2 this amount, by a signature (EIP-2612)` : undefined],
    ["Wallet", `${address} (${sourceOf(wallet)})`],
    ["Balance", balance]
  ] as const
}

/** Asks until the answer is yes or no. Throws CANCELLED if it is no. */
export const askYesNo = async ({ host }: Context, question: string): Promise<void> => {
  for (;;) {
    const answer = (await host.ask(`${question} [y/N] `, { hidden: false })).trim().toLowerCase()
    if (answer === "y" || answer === "yes") return
    if (answer === "" || answer === "n" || answer === "no")
      throw new Failure({ code: "CANCELLED", message: "Cancelled." })
    host.stderr.write("Please answer yes or no.\n")
  }
}

/** Shows a payment and asks for confirmation, unless --yes is given. Throws CANCELLED if the answer is no. */
export const approve = async (context: Context, proposal: Proposal, flags: ApprovalFlags): Promise<void> => {
  const fields = proposalFields(proposal)
  if (flags.yes) return context.output.noteRecord(fields)
  context.output.errorRecord(fields)
  const { purchase, question, quote } = proposal
  await askYesNo(
    context,
    question === undefined
      ? `Pay ${quote.price} USDT for ${purchase}?`
      : `${question} This cannot be undone. It costs ${quote.price} USDT.`
  )
}

/** Asks for confirmation of a free but irreversible action, unless `yes` is set. */
export const confirm = async (context: Context, question: string, yes: boolean): Promise<void> => {
  if (yes) return
  requireTerminal(context)
  await askYesNo(context, question)
}

/** Throws a usage error if the user cannot be asked to confirm. */
export const requireTerminal = (context: Context): void => {
  if (!canAsk(context))
    throw usageError("Cannot ask for confirmation without a terminal. Pass --yes. Nothing was done.")
}
