import { Effect, Schema } from "effect"
import { encodeAbiParameters, type Hex, keccak256, numberToHex, pad, stringToHex } from "viem"
import { sendJson, serve } from "./HttpFake.ts"

/** A log of the fake chain. */
export interface FakeLog {
  readonly block: number
  readonly transaction: Hex
  readonly logIndex: number
  readonly address: string
  readonly topics: ReadonlyArray<Hex>
  readonly data: Hex
}

/** The current state of the fake chain, which tests change. */
export interface FakeChainState {
  chainId: number
  latest: number
  finalized: { number: number; timestamp: number }
  decimals: number
  symbol: string
  domainSeparator: Hex
  /** The block from which a nonce counts as used: by `nonce` for any wallet, or by `wallet nonce` in lower case. */
  readonly usedFrom: Map<string, number>
  /** Balances by address in lower case. */
  readonly balances: Map<string, bigint>
  readonly logs: Array<FakeLog>
  /** True if logs and receipts lag behind the state. */
  logsLag: boolean
  /** True if a simulated transfer fails. */
  transfersFail: boolean
  /** Returns the time of a block, in unix seconds. */
  timeOf: (block: number) => number
  /** The oldest block whose state is available. */
  stateFrom: number
  /** True if the contract exists. */
  hasContract: boolean
  /** True if transferWithAuthorization of the contract takes the signature as bytes too. */
  takesBytes: boolean
  /** Other contracts by address in lower case: each returns the answer to a call, or throws the node's message. */
  readonly contracts: Map<string, (data: Hex) => Hex>
  /** The HTTP status of every response. */
  status: number
  /** The methods whose requests get no response. */
  readonly silent: Set<string>
}

const selector = (signature: string): string => keccak256(stringToHex(signature)).slice(0, 10)
export const topicOf = (signature: string): Hex => keccak256(stringToHex(signature))
export const AUTHORIZATION_USED = topicOf("AuthorizationUsed(address,bytes32)")
export const AUTHORIZATION_CANCELED = topicOf("AuthorizationCanceled(address,bytes32)")
export const TRANSFER = topicOf("Transfer(address,address,uint256)")

const TRANSFER_WITH_AUTHORIZATION =
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
const TRANSFER_WITH_BYTES = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)"
const UNKNOWN_SELECTOR = "0x00000000"

const HexText = Schema.TemplateLiteral(["0x", Schema.String])
const RpcCall = Schema.Struct({
  id: Schema.Number,
  method: Schema.String,
  params: Schema.optionalKey(Schema.Array(Schema.Unknown))
})
const decodeCalls = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Union([RpcCall, Schema.NonEmptyArray(RpcCall)]))
)
const decodeContractCall = Schema.decodeUnknownSync(Schema.Struct({ to: HexText, data: HexText }))
const LogFilter = Schema.Struct({
  address: Schema.String,
  topics: Schema.Array(Schema.Union([HexText, Schema.Array(HexText), Schema.Null])),
  fromBlock: HexText,
  toBlock: HexText
})
const decodeLogFilter = Schema.decodeUnknownSync(LogFilter)

const word = (value: number | bigint | boolean): Hex => numberToHex(BigInt(value), { size: 32 })

/** A node that answers the requests of the payment rail from a state that the test sets. */
export const start = Effect.gen(function* () {
  const state: FakeChainState = {
    chainId: 402402,
    latest: 100,
    finalized: { number: 90, timestamp: 1_000 },
    decimals: 6,
    symbol: "USD₮0",
    domainSeparator: "0x",
    usedFrom: new Map(),
    balances: new Map(),
    logs: [],
    logsLag: false,
    transfersFail: false,
    timeOf: (block) => 1_000 + block,
    stateFrom: 0,
    hasContract: true,
    takesBytes: true,
    contracts: new Map(),
    status: 200,
    silent: new Set()
  }
  const server = yield* serve((request, response) => {
    const calls = decodeCalls(request.body)
    if ([calls].flat().some(({ method }) => state.silent.has(method))) return
    if (state.status !== 200) return sendJson(response, { message: `no, not for ${request.path}` }, state.status)
    sendJson(response, "method" in calls ? reply(state, calls) : calls.map((call) => reply(state, call)))
  })
  return { state, url: server.url, seen: server.seen }
})

const reply = (state: FakeChainState, call: typeof RpcCall.Type) => {
  try {
    return { jsonrpc: "2.0", id: call.id, result: answer(state, call) }
  } catch (error) {
    return { jsonrpc: "2.0", id: call.id, error: { code: -32000, message: String(error) } }
  }
}

const answer = (state: FakeChainState, { method, params = [] }: typeof RpcCall.Type): unknown => {
  const visible = state.logsLag ? [] : state.logs
  switch (method) {
    case "eth_chainId":
      return numberToHex(state.chainId)
    case "eth_blockNumber":
      return numberToHex(state.latest)
    case "eth_getBlockByNumber":
      if (params[0] === "finalized") return block(state.finalized.number, state.finalized.timestamp)
      return blockAt(state, params[0] === "latest" ? state.latest : Number(params[0]))
    case "eth_call": {
      const { data, to } = decodeContractCall(params[0])
      const other = state.contracts.get(to.toLowerCase())
      return other === undefined
        ? contractAnswer(state, data, params[1] === "latest" ? state.latest : Number(params[1]))
        : other(data)
    }
    case "eth_getCode":
      return state.contracts.has(String(params[0]).toLowerCase()) ? "0x5f" : "0x"
    case "eth_getLogs":
      return logsOf(visible, logFilter(state, params[0]))
    case "eth_getTransactionReceipt": {
      const logs = visible.filter((log) => log.transaction === params[0])
      const first = logs[0]
      return first === undefined ? null : receipt(first.transaction, first.block, logs)
    }
    default:
      throw new Error(`the fake chain knows no ${method}`)
  }
}

const blockAt = (state: FakeChainState, number: number): unknown => {
  if (number > state.latest) throw new Error("header not found")
  return block(number, state.timeOf(number))
}

const contractAnswer = (state: FakeChainState, data: Hex, at: number): Hex => {
  if (!state.hasContract) return "0x"
  if (data.startsWith(selector("decimals()"))) return word(state.decimals)
  if (data.startsWith(selector("symbol()"))) return encodeAbiParameters([{ type: "string" }], [state.symbol])
  if (data.startsWith(selector("balanceOf(address)"))) return word(state.balances.get(`0x${data.slice(-40)}`) ?? 0n)
  if (data.startsWith(selector("DOMAIN_SEPARATOR()"))) return state.domainSeparator
  if (data.startsWith(selector(TRANSFER_WITH_AUTHORIZATION))) {
    if (state.transfersFail) throw new Error("execution reverted")
    return "0x"
  }
  if (data.startsWith(UNKNOWN_SELECTOR)) throw new Error("execution reverted")
  if (data.startsWith(selector(TRANSFER_WITH_BYTES))) {
    if (state.takesBytes && !state.transfersFail) return "0x"
    throw new Error(state.takesBytes ? "execution reverted: invalid signature" : "execution reverted")
  }
  if (!data.startsWith(selector("authorizationState(address,bytes32)"))) throw new Error("no such function")
  if (at > state.latest) throw new Error("header not found")
  if (at < state.stateFrom) throw new Error("missing trie node")
  const [authorizer, nonce] = [`0x${data.slice(34, 74)}`, `0x${data.slice(-64)}`]
  const usedFrom = state.usedFrom.get(`${authorizer} ${nonce}`) ?? state.usedFrom.get(nonce)
  return word(usedFrom !== undefined && usedFrom <= at)
}

const logFilter = (state: FakeChainState, filter: unknown): typeof LogFilter.Type => {
  const decoded = decodeLogFilter(filter)
  if (Number(decoded.toBlock) > state.latest) throw new Error("block range extends beyond current head block")
  return decoded
}

const logsOf = (
  logs: ReadonlyArray<FakeLog>,
  { address, fromBlock, toBlock, topics }: typeof LogFilter.Type
): unknown =>
  logs
    .filter(
      (log) =>
        log.address.toLowerCase() === address.toLowerCase() &&
        topics.every((wanted, at) => wanted === null || [wanted].flat().some((topic) => topic === log.topics[at])) &&
        log.block >= Number(fromBlock) &&
        log.block <= Number(toBlock)
    )
    .map(wireLog)

const wireLog = (log: FakeLog): unknown => ({
  address: log.address.toLowerCase(),
  topics: log.topics,
  data: log.data,
  blockNumber: numberToHex(log.block),
  blockHash: word(log.block),
  transactionHash: log.transaction,
  transactionIndex: "0x0",
  logIndex: numberToHex(log.logIndex),
  removed: false
})

const receipt = (transaction: Hex, blockNumber: number, logs: ReadonlyArray<FakeLog>): unknown => ({
  transactionHash: transaction,
  blockNumber: numberToHex(blockNumber),
  blockHash: word(blockNumber),
  transactionIndex: "0x0",
  status: "0x1",
  type: "0x2",
  from: pad("0x1", { size: 20 }),
  to: pad("0x2", { size: 20 }),
  contractAddress: null,
  cumulativeGasUsed: "0x1",
  gasUsed: "0x1",
  effectiveGasPrice: "0x1",
  logsBloom: "0x",
  logs: logs.map(wireLog)
})

const block = (number: number, timestamp: number): unknown => ({
  number: numberToHex(number),
  timestamp: numberToHex(timestamp),
  hash: word(number),
  parentHash: word(Math.max(0, number - 1)),
  transactions: [],
  gasLimit: "0x1",
  gasUsed: "0x0",
  size: "0x1",
  difficulty: "0x0",
  uncles: []
})
