import { AgentOs, AgentOsError, decimalOf, type PaymentQuote, type Spent, unitsOf } from "@agentos/client"
import { Failure, usageError } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { given } from "../context/Flags.ts"
import { findToken, saveToken } from "../config/Credentials.ts"
import { rejectFolderSettings } from "../config/Settings.ts"
import { type Budget, budgetReport, excessOf, excessText, limitsOf, reserve } from "../payment/Budget.ts"
import { FileJournal } from "../payment/FileJournal.ts"
import type { StoredEntry } from "../payment/JournalFile.ts"
import type { Host } from "../host/Host.ts"
import { connect } from "../server/Connection.ts"
import { useProxy } from "../server/Network.ts"
import { findWallet, ownerOf, tokenOfWallet, type Wallet, type WalletFlags } from "../wallet/Wallet.ts"

/** The settings of the person who starts the server. Tools cannot change them. */
export interface ToolAgentFlags extends WalletFlags {
  readonly readOnly: boolean
  readonly maxPerCall: string | undefined
  readonly maxPerDay: string | undefined
  readonly network: string | undefined
}

/** A client with the wallet, the tokens, the journal and the budget of agentctl. */
export interface ToolAgent {
  readonly agent: AgentOs
  readonly baseUrl: string
  /** The address that pays; null without a wallet. */
  readonly payer: string | null
  readonly limits: Budget
  /** The spending of the profile by all processes of this machine. */
  readonly spent: () => Promise<Spent>
  /** Unlocks a payment whose outcome stays unknown. */
  readonly release: (paymentId: string) => void
}

/**
 * Throws SPEND_LIMIT_EXCEEDED if a payment of `amount` base units would exceed a limit. The spending of all processes
 * counts. `consequence` names the step that was not taken.
 */
const checkLimits = async (
  host: Host,
  profile: string,
  amount: bigint,
  limits: Budget,
  consequence: string
): Promise<void> => {
  const excess = await excessOf(host, profile, amount, limits)
  if (excess === undefined) return
  const price = decimalOf(amount)
  throw new AgentOsError({
    code: "SPEND_LIMIT_EXCEEDED",
    message: `The price is ${price} USDT, and ${excessText(excess)}. ${consequence}`,
    details: {
      limit: excess.limit,
      limitAmount: decimalOf(excess.limitAmount),
      price,
      spentLastDay: decimalOf(excess.spent)
    }
  })
}

const limitOf = (flag: string, text: string | undefined): bigint | null => {
  if (text === undefined) return null
  const amount = unitsOf(text)
  if (amount !== undefined) return amount
  throw usageError(`--${flag} takes an amount in USDT such as 0.50, not "${text}".`)
}

const walletOf = async (context: Context, flags: ToolAgentFlags): Promise<Wallet | undefined> => {
  if (flags.readOnly) return undefined
  if ((flags.passwordFile ?? context.host.env["AGENTOS_PASSWORD_FILE"]) === "-")
    throw usageError("Standard input carries the protocol. Read the password from a file, or set AGENTOS_PASSWORD.")
  return findWallet(context, flags)
}

/** Another process may have paid since the limits were checked. The signature is then discarded. */
const reserveWithin = async (host: Host, entry: StoredEntry, limits: Budget): Promise<void> => {
  try {
    await reserve(host, entry, limits)
  } catch (error) {
    if (error instanceof Failure && error.parts.code === "OVER_BUDGET")
      await checkLimits(host, entry.profile, BigInt(entry.amount), limits, "Nothing was sent.")
    throw error
  }
}

/** Opens the wallet and connects the client. Sends nothing. */
export const openToolAgent = async (context: Context, flags: ToolAgentFlags): Promise<ToolAgent> => {
  const { host } = context
  const flagLimits = {
    perCall: limitOf("max-per-call", flags.maxPerCall),
    perDay: limitOf("max-per-day", flags.maxPerDay)
  }
  const { baseUrl, client, profile, settings, token } = await connect(context, flags)
  const wallet = await walletOf(context, flags)
  const limits = await limitsOf(host, profile, flagLimits)
  if (wallet !== undefined) {
    const ofWallet = wallet.setting === undefined ? [] : (["wallet-file"] as const)
    const asker = { name: "agentctl mcp", alternative: "" }
    rejectFolderSettings(settings, ["base-url", "profile", ...ofWallet], "Nothing was signed.", asker)
    if (limits.perDay === null)
      throw usageError(
        "Nobody confirms the payments of a model. Limit them with --max-per-day AMOUNT or a budget, or pass --read-only.",
        [
          "agentctl budget set --per-day 10 --per-call 6",
          "agentctl mcp --max-per-day 10 --max-per-call 6",
          "agentctl mcp --read-only"
        ]
      )
  }
  await useProxy(host)
  const journal = new FileJournal({
    host,
    profile,
    reserve: (entry) => reserveWithin(host, entry, flagLimits),
    resumesCalls: true
  })
  const { accountOf } = wallet === undefined ? {} : await import("../wallet/Account.ts")
  const account = wallet && accountOf?.(await wallet.open())
  /** With the token of another wallet, free tools would show mailboxes that are not those of the wallet that pays. */
  let isChecked = token === undefined || account === undefined
  const checkOwner = async () => {
    if (isChecked) return
    let owner
    try {
      owner = await ownerOf(client)
    } catch (error) {
      // The call for which the token is needed reports why the server does not answer.
      if (error instanceof Failure) return
      throw error
    }
    if (owner !== undefined && owner !== account!.address.toLowerCase())
      throw new AgentOsError({
        code: "TOKENS_FAILED",
        message: `The access token (from ${token!.source}) is of ${owner}, but ${account!.address} pays. Nothing was sent. Stop this server, then run: ${tokenOfWallet(token!, wallet)}`
      })
    isChecked = true
  }
  const text = (amount: bigint | null) => (amount === null ? undefined : decimalOf(amount))
  const agent = await AgentOs.connect(baseUrl, {
    ...given({ wallet: account, network: flags.network }),
    spend: given({ perCall: text(limits.perCall), perDay: text(limits.perDay) }),
    onPayment: async ({ price }: PaymentQuote) => {
      await checkLimits(host, profile, unitsOf(price) ?? 0n, flagLimits, "Nothing was signed.")
      await host.atStep?.("agreed")
      return true
    },
    journal,
    tokens: {
      get: async () => {
        await checkOwner()
        return (await findToken(host, profile, baseUrl))?.value
      },
      set: (_key, token) => saveToken(host, profile, baseUrl, token)
    }
  }).catch((error: unknown) => {
    throw error instanceof AgentOsError ? new Failure({ code: "CONFIGURATION", message: error.message }) : error
  })
  return {
    agent,
    baseUrl,
    payer: account?.address ?? null,
    limits,
    spent: async () => {
      const report = await budgetReport(host, profile, flagLimits)
      return {
        lastDay: report.spentLastDay?.amount ?? "0.00",
        perCall: report.perCall?.amount ?? null,
        perDay: report.perDay?.amount ?? null,
        left: report.leftToday?.amount ?? null
      }
    },
    release: (paymentId) => journal.release(paymentId)
  }
}
