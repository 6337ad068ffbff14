import { EXIT, Failure, plainLine } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { readConfig } from "../config/ConfigFile.ts"
import { resolveSettings } from "../config/Settings.ts"
import { isRecord, parseJson } from "../file/Json.ts"
import { readIfExists } from "../file/PrivateFile.ts"
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

/** Returns the host of an RPC URL, whose path may contain a key. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "the RPC URL")

/** Sends a JSON-RPC request and returns its answer. Errors name the host only. */
export const requestJson = async (
  { host }: Context,
  url: string,
  method: string,
  params: ReadonlyArray<unknown>
): Promise<unknown> => {
  try {
    const response = await fetch(url, {
      method: "POST",
      // The balance must come from the configured RPC.
      redirect: "error",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.any([host.signal, AbortSignal.timeout(TIMEOUT_MILLIS)])
    })
    return JSON.parse((await readBody(response, ANSWER_LIMIT_BYTES)).toString())
  } catch (error) {
    if (host.signal.aborted) throw error
    throw rpcFailure(`Cannot read the chain: ${hostOf(url)} did not return a JSON-RPC response.`)
  }
}

/** Returns the message of the error in an answer; undefined without one. */
export const errorIn = (answer: unknown): string | undefined => {
  const error = isRecord(answer) && isRecord(answer["error"]) ? answer["error"]["message"] : undefined
  return typeof error === "string" ? plainLine(error).slice(0, 200) : undefined
}

/** Returns the word in hex in the answer to a method. */
export const wordIn = (answer: unknown, url: string, method: string): string => {
  const result = isRecord(answer) ? answer["result"] : undefined
  if (typeof result === "string" && RESULT.test(result)) return result
  const error = errorIn(answer)
  const why = error === undefined ? "." : `: ${error}`
  throw rpcFailure(`Cannot read the chain: ${hostOf(url)} returned no result for ${method}${why}`)
}

/** Sends a JSON-RPC request whose result is a word in hex. */
export const request = async (
  context: Context,
  url: string,
  method: string,
  params: ReadonlyArray<unknown>
): Promise<string> => wordIn(await requestJson(context, url, method, params), url, method)

/** Returns the network of an RPC as its CAIP-2 id. */
export const networkOf = async (context: Context, rpcUrl: string): Promise<string> =>
  `eip155:${BigInt(await request(context, rpcUrl, "eth_chainId", []))}`

/** Returns the RPCs of the sandbox that the profile is of. */
const sandboxRpcs = async (context: Context): Promise<Readonly<Record<string, string>>> => {
  const { profile } = await resolveSettings(context)
  const { sandboxFile } = (await readConfig(context.host)).profiles[profile.value] ?? {}
  const sandbox = sandboxFile === undefined ? undefined : parseJson((await readIfExists(sandboxFile)) ?? "")
  const chains = isRecord(sandbox) && Array.isArray(sandbox["chains"]) ? (sandbox["chains"] as Array<unknown>) : []
  return Object.fromEntries(
    chains.flatMap((chain) => (isRecord(chain) ? [[String(chain["network"]), String(chain["rpcUrl"])] as const] : []))
  )
}

/**
 * Returns the RPC of each of these networks: the given one for its own network, and those of the sandbox or public ones for others. A network
 * without one is left out. An RPC of no network of them is that of all, so that its reader finds the difference.
 */
export const rpcUrlsOf = async (
  context: Context,
  networks: ReadonlyArray<string>,
  rpcUrl: string | undefined
): Promise<ReadonlyMap<string, string>> => {
  const own = rpcUrl === undefined || networks.length < 2 ? networks[0] : await networkOf(context, rpcUrl)
  const others = { ...PUBLIC_RPC, ...(networks.length < 2 ? {} : await sandboxRpcs(context)) }
  const found = networks.map((network) => {
    const isOwn = network === own || !networks.includes(own ?? "")
    return [network, (isOwn ? rpcUrl : undefined) ?? others[network]] as const
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
