import { randomUUID } from "node:crypto"
import type { Context } from "../command/Handler.ts"
import type { PayFlagValues } from "../command/PayFlags.ts"
import { ENVIRONMENT_TOKEN } from "../config/Credentials.ts"
import type { SettingFlags } from "../config/Settings.ts"
import { Failure } from "../failure/Failure.ts"
import { type CallInput, type DataOf } from "../server/ApiClient.ts"
import { connect, type Connection, connectWithToken } from "../server/Connection.ts"
import { type OperationName, ROUTES } from "../server/Routes.ts"
import type { PrivateKey } from "../wallet/PrivateKey.ts"
import { addressOfWallet, requireWallet, type Wallet } from "../wallet/Wallet.ts"
import { approve, checkSources, readApproval } from "./Approval.ts"
import { checkBalance } from "./Balance.ts"
import { type Delivered, deliver, notSent, outcomeUnknown } from "./Delivery.ts"
import { withEntry } from "./Journal.ts"
import type { JournalEntry } from "./JournalEntry.ts"
import { newPaymentId } from "./PaymentId.ts"
import { askQuote } from "./Quote.ts"
import { checkAffordable, reserve } from "./Reservation.ts"
import { checkClock, checkFresh, checkMaximum, chooseTerms, type Terms } from "./Terms.ts"

/** A paid call of a command. */
export interface PaidCall<Name extends OperationName> {
  readonly operation: Name
  readonly payload: NonNullable<CallInput<Name>["payload"]>
  /** What will be had for it, in a sentence of few words. */
  readonly what: string
}

/** Operations that need no token, because they give it. */
const START_HERE: ReadonlySet<OperationName> = new Set(["createMailbox", "purchaseUsNumber", "purchaseCanadaNumber"])

/** The data of a paid answer, whose access token is saved and not in it. */
export type PaidDataOf<Name extends OperationName> = Omit<DataOf<Name>, "authentication">

/** What was bought, and which payment bought it. */
export interface Bought<Name extends OperationName> {
  readonly data: PaidDataOf<Name>
  readonly entry: JournalEntry
}

/** The same wallet, opened once at most: a password is asked for once. */
const openedOnce = (wallet: Wallet): Wallet => {
  let key: ReturnType<Wallet["open"]> | undefined
  return { ...wallet, open: () => (key ??= wallet.open()) }
}

/** The connection for an operation: with the token, where the operation needs one. */
const connectFor = (context: Context, operation: OperationName, flags: SettingFlags): Promise<Connection> =>
  START_HERE.has(operation) ? connect(context, flags) : connectWithToken(context, flags)

/** What was agreed to, and the key to sign it with. */
interface Agreement {
  readonly connection: Connection
  readonly terms: Terms
  readonly key: PrivateKey
}

/** A token that the server does not take keeps nobody from beginning anew: it only has to be forgotten. */
const withoutToken = (error: unknown, { token }: Connection, operation: OperationName): unknown =>
  error instanceof Failure && error.parts.code === "INVALID_TOKEN" && START_HERE.has(operation)
    ? new Failure({
        ...error.parts,
        exit: error.exit,
        next: [token?.source === ENVIRONMENT_TOKEN ? "unset AGENTOS_TOKEN" : "agentctl logout"]
      })
    : error

/** Everything before the signature: asks for the price, checks what can be checked, and asks for consent. */
const agree = async <Name extends OperationName>(
  context: Context,
  call: PaidCall<Name>,
  flags: PayFlagValues
): Promise<Agreement> => {
  const { host } = context
  const maximum = readApproval(context, flags)
  const walletFlags = {
    walletFile: flags["wallet-file"],
    passwordFile: flags["password-file"],
    rpcUrl: flags["rpc-url"]
  }
  const connection = await connectFor(context, call.operation, walletFlags)
  const wallet = openedOnce(await requireWallet(context, walletFlags))
  checkSources(connection.settings, wallet, flags)
  const { method, path } = ROUTES[call.operation]
  const quote = await askQuote(connection.client, { method, path, body: JSON.stringify(call.payload) }).catch(
    (error: unknown) => Promise.reject(withoutToken(error, connection, call.operation))
  )
  const terms = chooseTerms(quote, flags.network, connection.baseUrl)
  checkClock(terms, host.now())
  checkMaximum(terms, maximum)
  await checkAffordable(host, connection.profile, terms.option.baseUnits)
  const address = await addressOfWallet(wallet)
  const balance = await checkBalance(context, connection.settings, terms, address)
  await approve(context, { terms, what: call.what, connection, wallet, address, balance }, flags)
  const key = await wallet.open()
  checkFresh(terms, host.now())
  return { connection, terms, key }
}

/** Who ends a payment before it is sent, or can't make it, is told that it cost nothing. */
const endingFree = async <A>({ host }: Context, preparing: Promise<A>): Promise<A> => {
  try {
    return await preparing
  } catch (error) {
    if (host.signal.aborted) throw new Failure({ code: "INTERRUPTED", message: "Interrupted.", paymentState: "none" })
    if (!(error instanceof Failure))
      throw new Failure({
        code: "FAILED",
        message: error instanceof Error ? error.message : String(error),
        paymentState: "none"
      })
    if (error.parts.paymentState !== undefined) throw error
    throw new Failure({ ...error.parts, exit: error.exit, paymentState: "none" })
  }
}

/**
 * Pays for one call: quote, consent, signature, journal, request, in this order. Everything that can fail for nothing
 * fails before the signature; from then on the outcome is in the journal, whatever happens to this process.
 */
export const pay = async <Name extends OperationName>(
  context: Context,
  call: PaidCall<Name>,
  flags: PayFlagValues
): Promise<Bought<Name>> => {
  const { connection, entry } = await endingFree(context, prepare(context, call, flags))
  await context.host.atStep?.("written")
  const { data, entry: closed } = await deliverNew(context, connection, entry)
  return { data: data as PaidDataOf<Name>, entry: closed }
}

/** Everything before it is sent; once this returns the payment is signed and in the journal. */
const prepare = async <Name extends OperationName>(
  context: Context,
  call: PaidCall<Name>,
  flags: PayFlagValues
): Promise<{ readonly connection: Connection; readonly entry: JournalEntry }> => {
  const { host } = context
  const { connection, key, terms } = await agree(context, call, flags)
  await host.atStep?.("agreed")
  // Viem and x402 are loaded here and nowhere else.
  const { signTerms } = await import("./Signing.ts")
  const paymentSignature = await signTerms(terms, key)
  const entry = newEntry(context, { connection, terms, paymentSignature, payer: key.address }, call.operation)
  await reserve(host, entry)
  return { connection, entry }
}

const newEntry = (
  { host }: Context,
  signed: {
    readonly connection: Connection
    readonly terms: Terms
    readonly paymentSignature: string
    readonly payer: string
  },
  operation: OperationName
): JournalEntry => {
  const { connection, payer, paymentSignature, terms } = signed
  const { asset, baseUnits, network, payTo } = terms.option
  const { body, method, path } = terms.quote
  const now = host.now()
  return {
    id: newPaymentId(now),
    createdAt: now,
    profile: connection.profile,
    baseUrl: connection.baseUrl,
    serviceId: ROUTES[operation].serviceId ?? operation,
    method,
    path,
    body: body ?? null,
    idempotencyKey: randomUUID(),
    withToken: connection.token !== undefined,
    payer,
    quote: { amount: baseUnits, asset, network, payTo },
    paymentSignature,
    state: { tag: "prepared" }
  }
}

/** Sends what was just written down. Somebody else may have taken it up already, and then that one sends it. */
const deliverNew = async (context: Context, { client }: Connection, entry: JournalEntry): Promise<Delivered> => {
  const { host } = context
  let delivered: Delivered | undefined
  let isHeld = false
  try {
    await withEntry(host, entry.id, async (held) => {
      isHeld = true
      if (host.signal.aborted && held.current().state.tag === "prepared") {
        await held.advance({ tag: "given-up" })
        throw new Failure({ code: "INTERRUPTED", message: "Interrupted. Nothing was sent.", paymentState: "none" })
      }
      delivered = await deliver(context, client, held)
    })
  } catch (error) {
    if (error instanceof Failure && error.parts.code === "LOCKED")
      throw outcomeUnknown(entry, "Another agentctl has taken this payment up.")
    throw isHeld ? error : notSent(entry, error)
  }
  if (delivered === undefined) throw outcomeUnknown(entry, "No answer was kept.")
  return delivered
}
