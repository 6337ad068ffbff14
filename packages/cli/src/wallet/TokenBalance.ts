import { EXIT, Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { isRecord } from "../file/Json.ts"
import { readBody } from "../server/Network.ts"

const TIMEOUT_MILLIS = 15_000
const ANSWER_LIMIT_BYTES = 1_048_576
/** A word of the EVM. Formatting a longer number takes more than linear time. */
const RESULT = /^0x[0-9a-fA-F]{0,64}$/
/** balanceOf(address) of ERC-20. */
const BALANCE_OF = "0x70a08231"

/** Public RPC URLs of networks where USDT supports authorizations. */
export const PUBLIC_RPC: Readonly<Record<string, string>> = {
  "eip155:196": "https://xlayerrpc.okx.com",
  "eip155:42220": "https://forno.celo.org",
  "eip155:988": "https://rpc.stable.xyz"
}

const rpcFailure = (message: string): Failure =>
  new Failure({ code: "FAILED", exit: EXIT.provider, message, next: ["agentctl wallet balance --rpc-url URL"] })

/** Sends a JSON-RPC request. Errors name the host only, because the paths of provider URLs contain keys. */
const request = async (
  { host }: Context,
  url: string,
  method: string,
  params: ReadonlyArray<unknown>
): Promise<string> => {
  const name = URL.canParse(url) ? new URL(url).host : "the RPC URL"
  let answer: unknown
  try {
    const response = await fetch(url, {
      method: "POST",
      // The balance must come from the configured RPC.
      redirect: "error",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.any([host.signal, AbortSignal.timeout(TIMEOUT_MILLIS)])
    })
    answer = JSON.parse((await readBody(response, ANSWER_LIMIT_BYTES)).toString())
  } catch (error) {
    if (host.signal.aborted) throw error
    throw rpcFailure(`Cannot read the chain: ${name} did not return a JSON-RPC response.`)
  }
  const result = isRecord(answer) ? answer["result"] : undefined
  if (typeof result === "string" && RESULT.test(result)) return result
  throw rpcFailure(`Cannot read the chain: ${name} returned no result for ${method}.`)
}

/** Returns the network of an RPC as its CAIP-2 id. */
const networkOf = async (context: Context, rpcUrl: string): Promise<string> =>
  `eip155:${BigInt(await request(context, rpcUrl, "eth_chainId", []))}`

/**
 * Returns the RPC of each of these networks: the given one for its own network, and the public ones for others. A network
 * without one is left out. An RPC of no network of them is that of all, so that its reader finds the difference.
 */
export const rpcUrlsOf = async (
  context: Context,
  networks: ReadonlyArray<string>,
  rpcUrl: string | undefined
): Promise<ReadonlyMap<string, string>> => {
  const own = rpcUrl === undefined || networks.length < 2 ? networks[0] : await networkOf(context, rpcUrl)
  const found = networks.map((network) => {
    const isOwn = network === own || !networks.includes(own ?? "")
    return [network, (isOwn ? rpcUrl : undefined) ?? PUBLIC_RPC[network]] as const
  })
  return new Map(found.flatMap(([network, url]) => (url === undefined ? [] : [[network, url] as const])))
}

/** Returns the token balance of an address in base units. Rejects an RPC of another chain. */
export const tokenBalance = async (
  context: Context,
  query: { readonly rpcUrl: string; readonly network: string; readonly asset: string; readonly address: string }
): Promise<bigint> => {
  const { address, asset, network, rpcUrl } = query
  const served = await networkOf(context, rpcUrl)
  if (network !== served)
    throw rpcFailure(`The RPC serves chain ${served}, but the server takes payments on ${network}.`)
  const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, "0")}`
  const balance = await request(context, rpcUrl, "eth_call", [{ to: asset, data }, "latest"])
  if (balance === "0x") throw rpcFailure(`No token at ${asset} on ${network}.`)
  return BigInt(balance)
}
