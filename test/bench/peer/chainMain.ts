import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { domainSeparator, numberToHex, pad, toEventSelector, toFunctionSelector } from "viem"
import { answerParent } from "../compare/ChildModule.ts"
import { HOST, portOf } from "./Peer.ts"

type Hex = `0x${string}`

/** The token of the chain, as EIP-712 describes it. */
export interface ChainOptions {
  readonly chainId: number
  readonly asset: Hex
  readonly name: string
  readonly version: string
  readonly decimals: number
}

/** Counters of the chain and the facilitator. */
export interface ChainCounts {
  readonly settled: number
}

const AUTHORIZATION_USED = toEventSelector("AuthorizationUsed(address,bytes32)")
const TRANSFER = toEventSelector("Transfer(address,address,uint256)")
const BALANCE_OF = toFunctionSelector("balanceOf(address)")
const AUTHORIZATION_STATE = toFunctionSelector("authorizationState(address,bytes32)")
const DOMAIN_SEPARATOR = toFunctionSelector("DOMAIN_SEPARATOR()")
const DECIMALS = toFunctionSelector("decimals()")

/** A settled authorization. Each is in a block of its own. */
interface Settled {
  readonly from: Hex
  readonly to: Hex
  readonly value: Hex
  readonly nonce: Hex
}

interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: string
  readonly nonce: Hex
}

interface PaymentBody {
  readonly paymentPayload: { readonly payload: { readonly authorization: Authorization } }
  readonly paymentRequirements: { readonly network: string }
}

interface RpcBody {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

const word = (value: number | bigint): Hex => numberToHex(value, { size: 32 })
/** A hash that contains the number of the block. */
const hashOf = (block: number): Hex => numberToHex(block + 1, { size: 32 })
const blockOf = (hash: Hex): number => Number(BigInt(hash)) - 1
const keyOf = (payer: string, nonce: string): string => (payer + nonce).toLowerCase()

/** A chain with one token, of which every wallet has enough. It answers from memory and checks no signature. */
class Chain {
  readonly #options: ChainOptions
  readonly #settled: Array<Settled> = []
  readonly #blocks = new Map<string, number>()

  constructor(options: ChainOptions) {
    this.#options = options
  }

  get counts(): ChainCounts {
    return { settled: this.#settled.length }
  }

  /** Returns the hash of the transaction, or undefined if the authorization is used. */
  settle({ from, nonce, to, value }: Authorization): Hex | undefined {
    const key = keyOf(from, nonce)
    if (this.#blocks.has(key)) return undefined
    const lower = (hex: Hex) => hex.toLowerCase() as Hex
    const block = this.#settled.push({
      from: lower(from),
      to: lower(to),
      value: word(BigInt(value)),
      nonce: lower(nonce)
    })
    this.#blocks.set(key, block)
    return hashOf(block)
  }

  answer(method: string, params: ReadonlyArray<unknown>): unknown {
    switch (method) {
      case "eth_chainId":
        return numberToHex(this.#options.chainId)
      case "eth_blockNumber":
        return numberToHex(this.#settled.length)
      case "eth_getBlockByNumber":
        return this.#block(params[0] as string)
      case "eth_call":
        return this.#call(params[0] as { readonly data: Hex }, params[1] as string)
      case "eth_getTransactionReceipt":
        return this.#receipt(blockOf(params[0] as Hex))
      case "eth_getLogs":
        return this.#logs(params[0] as LogFilter)
      default:
        throw new Error(`no answer to ${method}`)
    }
  }

  #block(tag: string): object {
    const number = tag.startsWith("0x") ? Number(tag) : this.#settled.length
    const timestamp = numberToHex(Math.floor(Date.now() / 1_000))
    return { number: numberToHex(number), hash: hashOf(number), timestamp, transactions: [] }
  }

  #call({ data }: { readonly data: Hex }, tag: string): Hex {
    const { asset, chainId, decimals, name, version } = this.#options
    const selector = data.slice(0, 10)
    if (selector === BALANCE_OF) return word(10n ** 30n)
    if (selector === DECIMALS) return word(decimals)
    if (selector === DOMAIN_SEPARATOR) {
      return domainSeparator({ domain: { name, version, chainId, verifyingContract: asset } })
    }
    if (selector === AUTHORIZATION_STATE) {
      const block = this.#blocks.get(keyOf(`0x${data.slice(34, 74)}`, `0x${data.slice(74)}`))
      return word(block !== undefined && (!tag.startsWith("0x") || block <= Number(tag)) ? 1 : 0)
    }
    // A transfer succeeds.
    return "0x"
  }

  #logsOf(block: number): ReadonlyArray<object> {
    const settled = this.#settled[block - 1]
    if (settled === undefined) return []
    const { from, nonce, to, value } = settled
    const common = {
      address: this.#options.asset,
      blockNumber: numberToHex(block),
      blockHash: hashOf(block),
      transactionHash: hashOf(block),
      transactionIndex: "0x0",
      removed: false
    }
    return [
      { ...common, logIndex: "0x0", topics: [AUTHORIZATION_USED, pad(from), nonce], data: "0x" },
      { ...common, logIndex: "0x1", topics: [TRANSFER, pad(from), pad(to)], data: value }
    ]
  }

  #receipt(block: number): object | null {
    const logs = this.#logsOf(block)
    if (logs.length === 0) return null
    const hash = hashOf(block)
    return { blockNumber: numberToHex(block), blockHash: hash, transactionHash: hash, status: "0x1", type: "0x2", logs }
  }

  #logs({ fromBlock, toBlock, topics: [event, payer, nonce] }: LogFilter): ReadonlyArray<object> {
    const [first, last] = [Math.max(1, Number(fromBlock)), Math.min(this.#settled.length, Number(toBlock))]
    if (event !== TRANSFER) {
      const block = this.#blocks.get(keyOf(`0x${String(payer).slice(26)}`, String(nonce)))
      return block === undefined || block < first || block > last ? [] : this.#logsOf(block).slice(0, 1)
    }
    // A query for transfers from wallets asks for refunds, and none is made.
    if (payer !== null) return []
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => this.#logsOf(first + index)[1]!)
  }
}

interface LogFilter {
  readonly fromBlock: string
  readonly toBlock: string
  readonly topics: ReadonlyArray<unknown>
}

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString()) as unknown)
}

/** A JSON-RPC node and the facilitator of its token, which answer at once. */
answerParent(async (options: ChainOptions): Promise<number> => {
  const chain = new Chain(options)
  const network = `eip155:${options.chainId}`
  const reply = ({ id, method, params }: RpcBody) => ({ jsonrpc: "2.0", id, result: chain.answer(method, params) })
  const answer = (path: string, body: unknown): unknown => {
    if (path === "/supported")
      return { kinds: [{ x402Version: 2, scheme: "exact", network }], extensions: [], signers: {} }
    if (path === "/counts") return chain.counts
    if (path === "/rpc")
      return Array.isArray(body) ? (body as ReadonlyArray<RpcBody>).map(reply) : reply(body as RpcBody)
    const { authorization } = (body as PaymentBody).paymentPayload.payload
    if (path === "/verify") return { isValid: true, payer: authorization.from }
    const transaction = chain.settle(authorization)
    return transaction === undefined
      ? { success: false, errorReason: "nonce_already_used", transaction: "", network, payer: authorization.from }
      : { success: true, transaction, network, payer: authorization.from }
  }
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const text = JSON.stringify(answer(request.url ?? "", body))
      response
        .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
        .end(text)
    })
  })
  server.listen(0, HOST)
  await once(server, "listening")
  return portOf(server)
})
