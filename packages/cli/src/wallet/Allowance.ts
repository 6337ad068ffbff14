import { EXIT, Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { isRecord } from "../file/Json.ts"
import type { PrivateKey } from "./PrivateKey.ts"
import { errorIn, hostOf, networkOf, request, requestJson, wordIn } from "./TokenBalance.ts"

/** The currencies of gas on the networks whose USDT is paid by Permit2. */
const GAS_CURRENCY: Readonly<Record<string, string>> = {
  "eip155:1": "ETH",
  "eip155:10": "ETH",
  "eip155:56": "BNB",
  "eip155:137": "POL",
  "eip155:43114": "AVAX"
}
export const currencyOf = (network: string): string => GAS_CURRENCY[network] ?? "of the chain's currency"

const DECIMALS = 18
const POLL_MILLIS = 1_000
/** Longer than most blocks take, also at a busy time. */
const POLLS_MAX = 180
/** Polls that a lost answer counts as: it can take 15 seconds. */
const LOST_POLLS = 15

/** Parses an amount of a gas currency; undefined if it is not one. */
export const gasUnitsOf = (text: string): bigint | undefined => {
  const [, whole = "", fraction = ""] = /^(\d{1,12})(?:\.(\d{1,18}))?$/.exec(text) ?? []
  return whole === "" ? undefined : BigInt(whole + fraction.padEnd(DECIMALS, "0"))
}

/** Formats an amount of a gas currency, rounded up to 9 decimals. */
export const gasAmountOf = (units: bigint): string => {
  const digits = String((units + 999_999_999n) / 1_000_000_000n).padStart(10, "0")
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/0+$/, "").replace(/\.$/, "")
}

/** A transaction to send from a wallet. */
export interface Approval {
  readonly network: string
  readonly to: string
  readonly data: string
}

/** The transaction with its cost by the chain. */
export interface PricedApproval extends Approval {
  readonly rpcUrl: string
  readonly nonce: number
  readonly gas: bigint
  readonly gasPrice: bigint
  /** The most that it can cost, in base units of the gas currency. */
  readonly cost: bigint
  /** The balance of the wallet, in the same units. */
  readonly balance: bigint
}

const PENDING =
  "No block has the last transaction of the wallet yet, which may be this one. Repeat the command when one has. Nothing was signed."

/** Estimates the gas of a transaction. Rejects one that the token would refuse. */
const estimateGas = async (
  context: Context,
  rpcUrl: string,
  call: { readonly from: string; readonly to: string; readonly data: string }
): Promise<bigint> => {
  const answer = await requestJson(context, rpcUrl, "eth_estimateGas", [call])
  const refusal = errorIn(answer)
  if (refusal === undefined) return BigInt(wordIn(answer, rpcUrl, "eth_estimateGas"))
  const toZero = `${call.data.slice(0, -64)}${"0".repeat(64)}`
  throw new Failure({
    code: "FAILED",
    exit: EXIT.provider,
    message:
      `The transaction would fail: ${refusal}. Some tokens refuse to change an allowance that is not 0. Set it to 0 first: ` +
      `send a transaction from the wallet to ${call.to}, without value, with the data ${toZero}. Nothing was signed.`
  })
}

/** Reads the current cost of a transaction from the chain. Rejects an RPC of another chain. Sends nothing. */
export const priceApproval = async (
  context: Context,
  rpcUrl: string,
  wallet: string,
  { data, network, to }: Approval
): Promise<PricedApproval> => {
  const served = await networkOf(context, rpcUrl)
  if (served !== network)
    throw new Failure({
      code: "CONFIGURATION",
      message: `The RPC serves chain ${served}, but the allowance is for ${network}. Nothing was signed.`
    })
  const read = async (method: string, ...params: ReadonlyArray<unknown>) =>
    BigInt(await request(context, rpcUrl, method, params))
  const balance = await read("eth_getBalance", wallet, "latest")
  const nonce = Number(await read("eth_getTransactionCount", wallet, "pending"))
  if (nonce > Number(await read("eth_getTransactionCount", wallet, "latest")))
    throw new Failure({ code: "FAILED", exit: EXIT.provider, message: PENDING })
  // Margins for a state and a price that change until the transaction is included.
  const gas = ((await estimateGas(context, rpcUrl, { from: wallet, to, data })) * 6n) / 5n
  const gasPrice = ((await read("eth_gasPrice")) * 5n) / 4n
  return { network, to, data, rpcUrl, nonce, gas, gasPrice, cost: gas * gasPrice, balance }
}

const statusIn = (answer: unknown): unknown =>
  isRecord(answer) && isRecord(answer["result"]) ? answer["result"]["status"] : undefined

/** Nodes differ in how they say that they have a transaction. */
const KNOWN = /already known|already imported|known transaction/i

/** Signs and sends the transaction, and waits until a block has it. Returns its hash. */
export const sendApproval = async (context: Context, key: PrivateKey, approval: PricedApproval): Promise<string> => {
  const { data, gas, gasPrice, network, nonce, rpcUrl, to } = approval
  const { signTransaction } = await import("./Account.ts")
  const chainId = Number(network.replace("eip155:", ""))
  const hex = (text: string) => text as `0x${string}`
  const { bytes, hash } = await signTransaction(key, { chainId, nonce, to: hex(to), data: hex(data), gas, gasPrice })
  /** Returns nothing if the RPC does not answer, which says nothing about the transaction. */
  const ask = (method: string, parameter: string): Promise<unknown> =>
    requestJson(context, rpcUrl, method, [parameter]).catch((error: unknown) => {
      if (context.host.signal.aborted) throw error
    })
  const refusal = errorIn(await ask("eth_sendRawTransaction", bytes))
  if (refusal !== undefined && !KNOWN.test(refusal))
    throw new Failure({
      code: "FAILED",
      exit: EXIT.provider,
      message: `${hostOf(rpcUrl)} refused the transaction: ${refusal}. It was not sent.`
    })
  context.output.note(`Sent ${hash}. Waiting for a block…`)
  for (let polls = 0; polls < POLLS_MAX;) {
    const answer = await ask("eth_getTransactionReceipt", hash)
    polls += answer === undefined ? LOST_POLLS : 1
    const status = statusIn(answer)
    if (status === "0x1") return hash
    if (status === "0x0")
      throw new Failure({
        code: "FAILED",
        message: `The transaction ${hash} was reverted. It cost gas, and no token moved.`
      })
    await context.host.sleep(POLL_MILLIS)
  }
  throw new Failure({
    code: "FAILED",
    message: `No block has the transaction ${hash} yet. It may still be included. Do not send another one before.`,
    next: ["agentctl wallet balance"]
  })
}
