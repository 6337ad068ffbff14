import { type Address, createPublicClient, http, parseAbi } from "viem"

/** A transfer of the token. Addresses and nonces are in lower case. */
export interface Movement {
  readonly from: string
  readonly to: string
  readonly value: bigint
  /** Nonce of the authorization, or undefined for a transfer without one. */
  readonly nonce: string | undefined
  readonly transaction: `0x${string}`
}

const EVENTS = parseAbi([
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)"
])
export const AUTHORIZATION_USED = EVENTS[1]
const BLOCKS_AT_ONCE = 2_000n

/** Reads the transfers of a token on a chain. Each call continues where the last one ended. */
export class TokenLog {
  private readonly client
  private readonly asset: Address
  private readonly movements: Array<Movement> = []
  private nextBlock: bigint
  private reading: Promise<unknown> = Promise.resolve()

  constructor(chain: { readonly rpcUrl: string; readonly asset: Address }, firstBlock = 0n) {
    this.client = createPublicClient({ transport: http(chain.rpcUrl, { retryCount: 3 }), cacheTime: 0 })
    this.asset = chain.asset
    this.nextBlock = firstBlock
  }

  /** Returns all transfers, oldest first. The event of an authorization directly precedes its transfer (EIP-3009). */
  read(): Promise<ReadonlyArray<Movement>> {
    const reading = this.reading.then(() => this.readOn())
    this.reading = reading.catch(() => undefined)
    return reading
  }

  private async readOn(): Promise<ReadonlyArray<Movement>> {
    const newest = await this.client.getBlockNumber()
    while (this.nextBlock <= newest) {
      const fromBlock = this.nextBlock
      const toBlock = fromBlock + BLOCKS_AT_ONCE - 1n < newest ? fromBlock + BLOCKS_AT_ONCE - 1n : newest
      const logs = await this.client.getLogs({ address: this.asset, events: EVENTS, fromBlock, toBlock, strict: true })
      logs.forEach((log, index) => {
        if (log.eventName !== "Transfer") return
        const before = logs[index - 1]
        const used =
          before?.eventName === "AuthorizationUsed" &&
          before.transactionHash === log.transactionHash &&
          before.logIndex === log.logIndex - 1 &&
          before.args.authorizer === log.args.from
        this.movements.push({
          from: log.args.from.toLowerCase(),
          to: log.args.to.toLowerCase(),
          value: log.args.value,
          nonce: used ? before.args.nonce.toLowerCase() : undefined,
          transaction: log.transactionHash
        })
      })
      this.nextBlock = toBlock + 1n
    }
    return [...this.movements]
  }

  /** Returns the time of the newest final block in unix seconds. */
  async finalSeconds(): Promise<bigint> {
    return (await this.client.getBlock({ blockTag: "finalized" })).timestamp
  }
}
