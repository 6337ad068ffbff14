import { type Address, createPublicClient, type Hex, http, parseAbi } from "viem"
import { AUTHORIZATION_FORMS, type TransferMethod } from "./Authorization.ts"

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
const BLOCKS_AT_ONCE = 2_000n

interface LoggedChain {
  readonly rpcUrl: string
  readonly asset: Address
  readonly transferMethod?: TransferMethod
}

/** Reads the transfers of a token on a chain. Each call continues where the last one ended. */
export class TokenLog {
  private readonly client
  private readonly chain: LoggedChain
  private readonly movements: Array<Movement> = []
  private nextBlock: bigint
  private reading: Promise<unknown> = Promise.resolve()

  constructor(chain: LoggedChain, firstBlock = 0n) {
    this.client = createPublicClient({ transport: http(chain.rpcUrl, { retryCount: 3 }), cacheTime: 0 })
    this.chain = chain
    this.nextBlock = firstBlock
  }

  /**
   * Returns all transfers, oldest first. The event of an authorization directly precedes its transfer (EIP-3009). Permit2 has no
   * such event: there the input of the transaction names the nonce.
   */
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
      const { asset: address } = this.chain
      const logs = await this.client.getLogs({ address, events: EVENTS, fromBlock, toBlock, strict: true })
      const permitted = await this.permittedNonces(logs)
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
          nonce: used ? before.args.nonce.toLowerCase() : permitted.get(log.transactionHash),
          transaction: log.transactionHash
        })
      })
      this.nextBlock = toBlock + 1n
    }
    return [...this.movements]
  }

  /** Returns the nonce of each transaction that settles an authorization of Permit2. */
  private async permittedNonces(
    logs: ReadonlyArray<{ readonly transactionHash: Hex }>
  ): Promise<ReadonlyMap<Hex, string | undefined>> {
    if (this.chain.transferMethod !== "permit2") return new Map()
    const { decode } = AUTHORIZATION_FORMS.permit2
    const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))]
    const read = async (hash: Hex) => [hash, decode((await this.client.getTransaction({ hash })).input)?.nonce] as const
    return new Map(await Promise.all(hashes.map(read)))
  }

  /** Returns the time of the newest final block in unix seconds. */
  async finalSeconds(): Promise<bigint> {
    return (await this.client.getBlock({ blockTag: "finalized" })).timestamp
  }
}
