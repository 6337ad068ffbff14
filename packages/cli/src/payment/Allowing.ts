import type { AgentOsOptions, NetworkFunds } from "@agentos/client"
import { EXIT, Failure, plainLine, usageError } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { openAgent } from "../server/Agent.ts"
import { failureOf } from "../server/ApiFailure.ts"
import { connect } from "../server/Connection.ts"
import {
  currencyOf,
  gasAmountOf,
  gasUnitsOf,
  type PricedApproval,
  priceApproval,
  sendApproval
} from "../wallet/Allowance.ts"
import { rpcUrlsOf } from "../wallet/TokenBalance.ts"
import { addressOfWallet, requireWallet, type WalletFlags } from "../wallet/Wallet.ts"
import { askYesNo, canAsk, checkSources, declined, unfundedNext } from "./Approval.ts"

export interface AllowFlags extends WalletFlags {
  readonly yes: boolean
  readonly maxCost: string | undefined
  /** Symbol or address. */
  readonly token: string | undefined
}

/** Permit2, at the same address on every chain. */
const SPENDER = "0x000000000022D473030F116dDEE9F6B43aC78BA3"

/** Longer than a server repeats an answer about funds. */
const SERVER_CACHE_MILLIS = 1_100

/** The funds of a network that needs an allowance. */
type Allowable = NetworkFunds & { readonly approval: NonNullable<NetworkFunds["approval"]> }

const readMaximum = (context: Context, { maxCost, yes }: AllowFlags): bigint | undefined => {
  const maximum = maxCost === undefined ? undefined : gasUnitsOf(maxCost)
  if (maxCost !== undefined && maximum === undefined)
    throw usageError(`--max-cost takes an amount such as 0.001, not "${maxCost}".`)
  if (yes && maximum === undefined) throw usageError("--yes requires --max-cost AMOUNT. Nothing was signed.")
  if (!yes && !canAsk(context))
    throw usageError("Cannot ask for confirmation without a terminal. Pass --yes and --max-cost. Nothing was signed.")
  return maximum
}

const isNamed = ({ asset, symbol }: NetworkFunds, token: string): boolean =>
  [asset, symbol].some((name) => name.toLowerCase() === token.toLowerCase())

const choose = (
  funds: ReadonlyArray<NetworkFunds>,
  network: string | undefined,
  token: string | undefined
): Allowable => {
  const allowable = funds.filter(
    (one): one is Allowable =>
      one.approval !== null &&
      (network === undefined || one.network === network) &&
      (token === undefined || isNamed(one, token))
  )
  const needing = allowable.filter(({ allowanceBy }) => allowanceBy === "transaction")
  const found = needing.length === 0 ? allowable : needing
  const [first, ...others] = found
  if (first === undefined)
    throw new Failure({
      code: "NOT_FOUND",
      message: `Payments ${network === undefined ? "to this server" : `on ${plainLine(network)}`} need no allowance: it accepts no known ${plainLine(token ?? "USDT")} by Permit2 there.`,
      next: ["agentctl wallet balance"]
    })
  if (others.length === 0) return first
  throw usageError(
    others.some((one) => one.network !== first.network)
      ? `Name the network: ${found.map((one) => one.network).join(", ")}.`
      : `Name the token by --token: ${found.map(({ asset, symbol }) => `${plainLine(symbol)} (${asset})`).join(", ")}.`
  )
}

/** Whether Permit2 may move all that the wallet has. */
const isAllowed = ({ allowance, balance }: Allowable): boolean =>
  Number(allowance ?? "0") > 0 && Number(allowance) >= Number(balance ?? "0")

const checkCost = async (context: Context, priced: PricedApproval, address: string, maximum: bigint | undefined) => {
  const { balance, cost, network } = priced
  const [asked, currency] = [gasAmountOf(cost), currencyOf(network)]
  if (maximum !== undefined && cost > maximum)
    throw new Failure({
      code: "OVER_BUDGET",
      exit: EXIT.payment,
      message: `The transaction costs up to ${asked} ${currency}, but --max-cost is ${gasAmountOf(maximum)}. Nothing was signed.`
    })
  if (balance >= cost) return
  throw declined(
    `The transaction costs up to ${asked} ${currency}, and ${address} has ${gasAmountOf(balance)} on ${network}.`,
    await unfundedNext(context, network)
  )
}

/** Shows the cost of the one allowance for Permit2, asks, and sends it from the wallet. */
export const allow = async (context: Context, network: string | undefined, flags: AllowFlags): Promise<void> => {
  const { output } = context
  const maximum = readMaximum(context, flags)
  const { baseUrl, settings } = await connect(context, flags)
  const wallet = await requireWallet(context, flags)
  checkSources(settings, wallet, flags)
  const address = await addressOfWallet(wallet)
  const reading: AgentOsOptions = {
    wallet: Object.assign(() => Promise.reject(new Error("it only reads")), { address }),
    onPayment: () => false
  }
  const read = () =>
    openAgent(context, baseUrl, reading)
      .then((agent) => agent.payments.funds({ signal: context.host.signal }))
      .catch((error: unknown) => Promise.reject(failureOf(error, baseUrl)))
  let funds = await read()
  let chosen = choose(funds, network, flags.token)
  const isSigned = chosen.allowanceBy === "signature"
  if (!isSigned && !isAllowed(chosen)) {
    // A token may refuse a second allowance, and the first one may have been given a moment ago.
    await context.host.sleep(SERVER_CACHE_MILLIS)
    funds = await read()
    chosen = choose(funds, network, flags.token)
  }
  const { approval, asset } = chosen
  const shown = { network: chosen.network, asset, spender: SPENDER }
  if (isSigned || isAllowed(chosen)) {
    output.record({ ...shown, cost: null, transaction: null }, [["Network", chosen.network]])
    return output.note(
      isSigned
        ? `Payments in ${plainLine(chosen.symbol)} on ${chosen.network} need no transaction: each allows its own amount by a signature (EIP-2612).`
        : `Permit2 may move the token of ${address} already.`
    )
  }
  const all = funds.map((one) => one.network)
  const rpcUrl = (await rpcUrlsOf(context, all, settings.rpcUrl?.value)).get(chosen.network)
  if (rpcUrl === undefined)
    throw new Failure({
      code: "CONFIGURATION",
      message: `No RPC URL is configured for ${chosen.network}. Set --rpc-url, AGENTOS_RPC_URL or config set rpc-url.`
    })
  const priced = await priceApproval(context, rpcUrl, address, approval)
  await checkCost(context, priced, address, maximum)
  const cost = `${gasAmountOf(priced.cost)} ${currencyOf(chosen.network)}`
  const fields = [
    ["Allows", `Permit2 (${SPENDER}) any amount, each with a signature`],
    ["Token", `${plainLine(chosen.assetName ?? "unnamed")} (${asset})`],
    ["Network", chosen.network],
    ["Wallet", address],
    ["Balance", chosen.balance === null ? "unknown" : `${chosen.balance} USDT`],
    ["Costs up to", cost],
    ["RPC", new URL(rpcUrl).host]
  ] as const
  if (flags.yes) output.noteRecord(fields)
  else {
    output.errorRecord(fields)
    await askYesNo(context, `Send the transaction for up to ${cost}?`)
  }
  const transaction = await sendApproval(context, await wallet.open(), priced)
  output.record({ ...shown, cost: gasAmountOf(priced.cost), transaction }, [
    ["Network", chosen.network],
    ["Transaction", transaction]
  ])
  output.note(`Permit2 may move the token of ${address} now. Payments on ${chosen.network} need only a signature.`)
}
