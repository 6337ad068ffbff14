import { newPaymentId, signPayment } from "@agentos/client/internal"
import { Failure, messageOf } from "@agentos/command-line"
import { randomUUID } from "node:crypto"
import { ENVIRONMENT_TOKEN } from "../config/Credentials.ts"
import type { SettingFlags } from "../config/Settings.ts"
import type { Context } from "../context/Context.ts"
import { type PayFlagValues, walletFlagsOf } from "../context/Flags.ts"
import type { CallInput, DataOf } from "../server/ApiClient.ts"
import { connect, type Connection, connectWithToken } from "../server/Connection.ts"
import { type OperationName, ROUTES } from "../server/Routes.ts"
import type { PrivateKey } from "../wallet/PrivateKey.ts"
import { addressOfWallet, requireWallet, type Wallet } from "../wallet/Wallet.ts"
import { approve, checkBalance, checkSources, readApproval } from "./Approval.ts"
import { checkBudget, reserve } from "./Budget.ts"
import { type Delivered, deliver, notSent, outcomeUnknown } from "./Delivery.ts"
import { withEntry } from "./Journal.ts"
import type { JournalEntry } from "./JournalEntry.ts"
import { checkClock, checkFresh, checkMaximum, chooseTerms, requestQuote, type Terms } from "./Quote.ts"

/** A call of a paid operation. */
export interface PaidCall<Name extends OperationName> {
  readonly operation: Name
  readonly payload: NonNullable<CallInput<Name>["payload"]>
  /** The purchase in a few words, for the confirmation. */
  readonly purchase: string
}

/** Operations that need no token, because they return one. */
const START_HERE: ReadonlySet<OperationName> = new Set(["createMailbox", "purchaseUsNumber", "purchaseCanadaNumber"])

/** The result of a payment, and its journal entry. */
export interface Bought<Name extends OperationName> {
  /** The data of the response. Its access token is saved and not included. */
  readonly data: Omit<DataOf<Name>, "authentication">
  readonly entry: JournalEntry
}

/** Opens the wallet at most once, so that the password is asked for once. */
const openedOnce = (wallet: Wallet): Wallet => {
  let key: ReturnType<Wallet["open"]> | undefined
  return { ...wallet, open: () => (key ??= wallet.open()) }
}

const connectFor = (context: Context, operation: OperationName, flags: SettingFlags): Promise<Connection> =>
  START_HERE.has(operation) ? connect(context, flags) : connectWithToken(context, flags)

/** The confirmed terms, and the key to sign them. */
interface Agreement {
  readonly connection: Connection
  readonly terms: Terms
  readonly key: PrivateKey
}

/** An invalid token must not prevent a first purchase, which needs none: the next step is to remove the token. */
const withoutToken = (error: unknown, { token }: Connection, operation: OperationName): unknown =>
  error instanceof Failure && error.parts.code === "INVALID_TOKEN" && START_HERE.has(operation)
    ? new Failure({
        ...error.parts,
        exit: error.exit,
        next: [token?.source === ENVIRONMENT_TOKEN ? "unset AGENTOS_TOKEN" : "agentctl logout"]
      })
    : error

/** Everything before the signature: quote, checks and confirmation. */
const agree = async <Name extends OperationName>(
  context: Context,
  call: PaidCall<Name>,
  flags: PayFlagValues
): Promise<Agreement> => {
  const { host } = context
  const maximum = readApproval(context, flags)
  const walletFlags = walletFlagsOf(flags)
  const connection = await connectFor(context, call.operation, walletFlags)
  const wallet = openedOnce(await requireWallet(context, walletFlags))
  checkSources(connection.settings, wallet, flags)
  const { method, path } = ROUTES[call.operation]
  const quote = await requestQuote(connection.client, { method, path, body: JSON.stringify(call.payload) }).catch(
    (error: unknown) => Promise.reject(withoutToken(error, connection, call.operation))
  )
  const terms = chooseTerms(quote, flags.network, connection.baseUrl)
  checkClock(terms, host.now())
  checkMaximum(terms, maximum)
  await checkBudget(host, connection.profile, terms.option.amount)
  const address = await addressOfWallet(wallet)
  const balance = await checkBalance(context, connection.settings, terms, address)
  await approve(context, { terms, purchase: call.purchase, connection, wallet, address, balance }, flags)
  const key = await wallet.open()
  checkFresh(terms, host.now())
  return { connection, terms, key }
}

/** Adds to every failure before the payment is sent that it cost nothing. */
const withoutCharge = async <A>({ host }: Context, preparing: Promise<A>): Promise<A> => {
  try {
    return await preparing
  } catch (error) {
    if (host.signal.aborted) throw new Failure({ code: "INTERRUPTED", message: "Interrupted.", paymentState: "none" })
    if (!(error instanceof Failure))
      throw new Failure({ code: "FAILED", message: messageOf(error), paymentState: "none" })
    if (error.parts.paymentState !== undefined) throw error
    throw new Failure({ ...error.parts, exit: error.exit, paymentState: "none" })
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
  const { connection, entry } = await withoutCharge(context, prepare(context, call, flags))
  await context.host.atStep?.("written")
  const { data, entry: closed } = await deliverNew(context, connection, entry)
  return { data: data as unknown as Bought<Name>["data"], entry: closed }
}

/** Everything before the request. The payment is signed and in the journal when this returns. */
const prepare = async <Name extends OperationName>(
  context: Context,
  call: PaidCall<Name>,
  flags: PayFlagValues
): Promise<{ readonly connection: Connection; readonly entry: JournalEntry }> => {
  const { host } = context
  const { connection, key, terms } = await agree(context, call, flags)
  await host.atStep?.("agreed")
  const { accountOf } = await import("../wallet/Account.ts")
  const { option, quote } = terms
  const now = host.now()
  const { header } = await signPayment(accountOf(key), quote.challenge, option, connection.baseUrl, now)
  const { amount, asset, network, payTo } = option
  const { body, method, path } = quote
  const entry: JournalEntry = {
    id: newPaymentId(now),
    createdAt: now,
    profile: connection.profile,
    baseUrl: connection.baseUrl,
    serviceId: ROUTES[call.operation].serviceId ?? call.operation,
    method,
    path,
    body: body ?? null,
    idempotencyKey: randomUUID(),
    withToken: connection.token !== undefined,
    payer: key.address,
    quote: { amount, asset, network, payTo },
    paymentSignature: header,
    state: { tag: "prepared" }
  }
  await reserve(host, entry)
  return { connection, entry }
}

/** Sends a new payment, unless another process has already resumed it from the journal. */
const deliverNew = async (context: Context, { client }: Connection, entry: JournalEntry): Promise<Delivered> => {
  const { host } = context
  let delivered: Delivered | undefined
  let isHeld = false
  try {
    await withEntry(host, entry.id, async (held) => {
      isHeld = true
      delivered = await deliver(context, client, held)
    })
  } catch (error) {
    if (error instanceof Failure && error.parts.code === "LOCKED")
      throw outcomeUnknown(entry, "Another agentctl has resumed this payment.")
    throw isHeld ? error : notSent(entry, error)
  }
  if (delivered === undefined) throw outcomeUnknown(entry, "The answer was not saved.")
  return delivered
}
