import { AgentOsError, type AgentOsOptions, type InputOf } from "@agentos/client"
import { Failure, messageOf } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { given, type PayFlagValues, walletFlagsOf } from "../context/Flags.ts"
import { ENVIRONMENT_TOKEN } from "../config/Credentials.ts"
import type { SettingFlags } from "../config/Settings.ts"
import { connect, type Connection, connectWithToken } from "../server/Connection.ts"
import type { OperationName } from "../server/Routes.ts"
import type { CallInput, DataOf } from "../server/Server.ts"
import { addressOfWallet, requireWallet, type Wallet } from "../wallet/Wallet.ts"
import {
  amountOf,
  approve,
  checkBalance,
  checkMaximum,
  checkSources,
  declined,
  readApproval,
  unfundedNext
} from "./Approval.ts"
import { checkBudget } from "./Budget.ts"
import type { StoredEntry } from "./JournalFile.ts"
import { type Data, sendPayment } from "./Sending.ts"

export interface PaidCall<Name extends OperationName> {
  readonly operation: Name
  readonly payload: NonNullable<CallInput<Name>["payload"]>
  /** The purchase in a few words, for the confirmation. */
  readonly purchase: string
  /** The question about something that cannot be undone, without the price: `Delete mailbox ada@…?`. */
  readonly question?: string
}

/** Operations that need no token, because they return one. */
const START_HERE: ReadonlySet<OperationName> = new Set(["createMailbox", "purchaseUsNumber", "purchaseCanadaNumber"])

/** The result of a payment, and its journal entry. */
export interface Bought<Name extends OperationName> {
  /** The data of the response. Its access token is saved and not included. */
  readonly data: Omit<DataOf<Name>, "authentication">
  readonly entry: StoredEntry
}

/** Opens the wallet at most once, so that the password is asked for once. */
const openedOnce = (wallet: Wallet): Wallet => {
  let key: ReturnType<Wallet["open"]> | undefined
  return { ...wallet, open: () => (key ??= wallet.open()) }
}

const connectFor = (context: Context, operation: OperationName, flags: SettingFlags): Promise<Connection> =>
  START_HERE.has(operation) ? connect(context, flags) : connectWithToken(context, flags)

/** An invalid token must not prevent a first purchase, which needs none: the next step is to remove the token. */
const withoutToken = (error: unknown, { token }: Connection, operation: OperationName): unknown =>
  error instanceof Failure && error.parts.code === "INVALID_TOKEN" && START_HERE.has(operation)
    ? error.with({ next: [token?.source === ENVIRONMENT_TOKEN ? "unset AGENTOS_TOKEN" : "agentctl logout"] })
    : error

/** Returns the failure of a quote that has expired; any other error as it is. */
const expiredQuote = (error: unknown, isApproved: boolean): unknown => {
  if (!(error instanceof AgentOsError) || error.code !== "PAYMENT_UNSUPPORTED" || error.details.reason !== "expired")
    return error
  return isApproved
    ? declined("The quote has expired. Run the command again for a new one.")
    : declined("The quote is already expired by the clock of this machine, which is probably fast.", [
        "agentctl doctor"
      ])
}

/** Returns the failure of a wallet that has too little on each network; any other error as it is. */
const unfunded = async (context: Context, error: unknown): Promise<unknown> =>
  error instanceof AgentOsError && error.code === "PAYMENT_REQUIRED" && error.answer === null
    ? declined(error.message.replace(/ Nothing was signed\.$/, ""), await unfundedNext(context))
    : error

/** Adds to a failure before the signature that it cost nothing. */
const withoutCharge = ({ host }: Context, error: unknown): Failure => {
  if (host.signal.aborted) return new Failure({ code: "INTERRUPTED", message: "Interrupted.", paymentState: "none" })
  if (!(error instanceof Failure))
    return new Failure({ code: "FAILED", message: messageOf(error), paymentState: "none" })
  return error.parts.paymentState === undefined ? error.with({ paymentState: "none" }) : error
}

/** Everything before the first request. */
const prepare = async (context: Context, operation: OperationName, flags: PayFlagValues) => {
  try {
    const maximum = readApproval(context, flags)
    const walletFlags = walletFlagsOf(flags)
    const connection = await connectFor(context, operation, walletFlags)
    const wallet = openedOnce(await requireWallet(context, walletFlags))
    checkSources(connection.settings, wallet, flags)
    return { connection, maximum, wallet }
  } catch (error) {
    throw withoutCharge(context, error)
  }
}

/**
 * Pays for one call: quote, confirmation, signature, journal, request, in this order. Everything that can fail without
 * cost fails before the signature. Afterwards the outcome is in the journal, whatever happens to this process.
 */
export const pay = async <Name extends OperationName>(
  context: Context,
  call: PaidCall<Name>,
  flags: PayFlagValues
): Promise<Bought<Name>> => {
  const { host } = context
  const { operation, payload, purchase, question } = call
  const { connection, maximum, wallet } = await prepare(context, operation, flags)
  const { baseUrl, profile, settings, token } = connection
  let isApproved = false
  const open = async () => {
    const key = await wallet.open()
    await host.atStep?.("agreed")
    const { accountOf } = await import("../wallet/Account.ts")
    return accountOf(key)
  }
  const options: AgentOsOptions = {
    ...given({ network: flags.network }),
    onPayment: async (quote) => {
      checkMaximum(quote, maximum)
      await checkBudget(host, profile, amountOf(quote))
      const address = await addressOfWallet(wallet)
      const balance = await checkBalance(context, settings, quote, address)
      await approve(context, { quote, purchase, question, connection, wallet, address, balance }, flags)
      isApproved = true
      return true
    },
    wallet: wallet.address === null ? open : Object.assign(open, { address: wallet.address })
  }
  const { data, entry } = await sendPayment<Data>(
    context,
    { baseUrl, profile, token: () => token?.value },
    options,
    (agent) =>
      agent
        .call(operation as "createMailbox", payload as InputOf<"createMailbox">, { signal: host.signal })
        .catch(async (error: unknown) => Promise.reject(await unfunded(context, expiredQuote(error, isApproved)))),
    (error) => withoutCharge(context, withoutToken(error, connection, operation))
  )
  return { data: data as unknown as Bought<Name>["data"], entry }
}
