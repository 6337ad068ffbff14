import type { Context } from "../command/Handler.ts"
import { refuseFolderSettings } from "../config/FolderSettings.ts"
import { fromOf, type Settings } from "../config/Settings.ts"
import { Failure } from "../failure/Failure.ts"
import { baseUnitsOf, decimalOf } from "../output/Wording.ts"
import { plainLine } from "../output/Plain.ts"
import type { Connection } from "../server/Connection.ts"
import type { Wallet } from "../wallet/Wallet.ts"
import type { Terms } from "./Terms.ts"

/** What a command line says of whether it may pay. */
export interface ApprovalFlags {
  readonly yes: boolean
  readonly "max-amount": string | undefined
}

const canAsk = ({ host }: Context): boolean => host.stdinIsTerminal && host.stderr.isTerminal

/**
 * Whether and how consent can be had, before anybody is asked for anything: on a terminal by asking, elsewhere by --yes
 * and --max-amount together. Gives the limit in base units. Throws a usage failure where there is no way.
 */
export const readApproval = (context: Context, flags: ApprovalFlags): bigint | undefined => {
  const text = flags["max-amount"]
  const maximum = text === undefined ? undefined : baseUnitsOf(text)
  const usage = (message: string) => new Failure({ code: "USAGE", message, paymentState: "none" })
  if (text !== undefined && maximum === undefined)
    throw usage(`--max-amount takes an amount in USDT, such as 0.25; not "${text}".`)
  if (flags.yes && maximum === undefined)
    throw usage("--yes needs --max-amount AMOUNT: the most that this may cost, in USDT. Nothing was signed.")
  if (!flags.yes && !canAsk(context))
    throw usage(
      "There is no terminal to ask on. To pay without being asked, give --yes and --max-amount. Nothing was signed."
    )
  return maximum
}

/** Refuses --yes for a payment that the folder's settings file has a part in: nobody would see where it goes. */
export const checkSources = (settings: Settings, wallet: Wallet, flags: ApprovalFlags): void => {
  if (!flags.yes) return
  const ofWallet = wallet.setting === undefined ? [] : (["wallet-file"] as const)
  refuseFolderSettings(settings, ["base-url", "profile", "rpc-url", ...ofWallet], "Nothing was signed.")
}

/** What is about to be paid, as people are shown it. */
export interface Proposal {
  readonly terms: Terms
  /** What will be had for it, in a sentence. */
  readonly what: string
  readonly connection: Connection
  readonly wallet: Wallet
  readonly address: string
  /** What the wallet holds, or why that is not known. */
  readonly balance: string
}

const placeOf = ({ setting, source }: Wallet): string =>
  setting === undefined ? fromOf({ source }) : `${source}, ${fromOf(setting)}`

const proposalFields = ({ address, balance, connection, terms, wallet, what }: Proposal) => {
  const { asset, assetName, baseUnits, network, payTo } = terms.option
  const { baseUrl, profile, settings } = connection
  return [
    ["Buys", what],
    ["Amount", `${decimalOf(baseUnits)} USDT`],
    ["Server", settings.baseUrl && `${baseUrl} (${fromOf(settings.baseUrl)})`],
    ["Profile", `${profile} (${fromOf(settings.profile)})`],
    ["Token", `${plainLine(assetName ?? "unnamed")} (${asset})`],
    ["Network", network],
    ["Pay to", payTo],
    ["Wallet", `${address} (${placeOf(wallet)})`],
    ["Balance", balance]
  ] as const
}

const asksYes = async ({ host }: Context, question: string): Promise<void> => {
  for (;;) {
    const answer = (await host.ask(`${question} [y/N] `, { hidden: false })).trim().toLowerCase()
    if (answer === "y" || answer === "yes") return
    if (answer === "" || answer === "n" || answer === "no")
      throw new Failure({ code: "CANCELLED", message: "Cancelled." })
    host.stderr.write("Please answer yes or no.\n")
  }
}

/** Shows what is to be paid, and asks; with --yes it is shown and not asked. Throws CANCELLED where the answer is no. */
export const approve = async (context: Context, proposal: Proposal, flags: ApprovalFlags): Promise<void> => {
  const fields = proposalFields(proposal)
  if (flags.yes) return context.output.noteRecord(fields)
  context.host.stderr.write(context.output.recordText(fields))
  await asksYes(context, `Pay ${decimalOf(proposal.terms.option.baseUnits)} USDT?`)
}

/** Asks before something free that can't be undone. */
export const confirm = async (context: Context, question: string, yes: boolean): Promise<void> => {
  if (yes) return
  if (!canAsk(context))
    throw new Failure({
      code: "USAGE",
      message: "There is no terminal to ask on. To do it without being asked, give --yes. Nothing was done."
    })
  await asksYes(context, question)
}
