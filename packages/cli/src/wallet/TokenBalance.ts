import type { Context } from "../command/Handler.ts"
import { isRecord } from "../file/JsonValue.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure } from "../failure/Failure.ts"

const TIMEOUT_MILLIS = 15_000
/** balanceOf(address) of ERC-20. */
const BALANCE_OF = "0x70a08231"

/** Public RPCs of the networks on which USDT can be paid by authorization. */
export const PUBLIC_RPC: Readonly<Record<string, string>> = {
  "eip155:196": "https://xlayerrpc.okx.com",
  "eip155:42220": "https://forno.celo.org",
  "eip155:988": "https://rpc.stable.xyz"
}

const providerFailure = (message: string): Failure =>
  new Failure({ code: "FAILED", exit: EXIT.provider, message, next: ["agentctl wallet balance --rpc-url URL"] })

/** One request of JSON-RPC. Says whom it asked, without the path, in which addresses of providers carry keys. */
const ask = async ({ host }: Context, url: string, method: string, params: ReadonlyArray<unknown>): Promise<string> => {
  const whom = URL.canParse(url) ? new URL(url).host : "the RPC address"
  let answer: unknown
  try {
    const response = await fetch(url, {
      method: "POST",
      // The balance is the word of the RPC that was named, and of no other.
      redirect: "error",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.any([host.signal, AbortSignal.timeout(TIMEOUT_MILLIS)])
    })
    answer = await response.json()
  } catch (error) {
    if (host.signal.aborted) throw error
    throw providerFailure(`The chain can't be asked: ${whom} does not answer as an RPC does.`)
  }
  const result = isRecord(answer) ? answer["result"] : undefined
  if (typeof result === "string" && /^0x[0-9a-fA-F]*$/.test(result)) return result
  throw providerFailure(`The chain can't be asked: ${whom} answered ${method} with no result.`)
}

/** What an address holds of a token, in base units. Refuses an RPC of another chain, whose answer would mean nothing. */
export const tokenBalance = async (
  context: Context,
  query: { readonly rpcUrl: string; readonly network: string; readonly asset: string; readonly address: string }
): Promise<bigint> => {
  const { address, asset, network, rpcUrl } = query
  const chain = await ask(context, rpcUrl, "eth_chainId", [])
  if (network !== `eip155:${BigInt(chain)}`)
    throw providerFailure(`The RPC is of chain eip155:${BigInt(chain)}, and the server takes payments on ${network}.`)
  const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, "0")}`
  const balance = await ask(context, rpcUrl, "eth_call", [{ to: asset, data }, "latest"])
  if (balance === "0x") throw providerFailure(`On ${network} there is no token at ${asset}.`)
  return BigInt(balance)
}
