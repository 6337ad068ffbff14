/** The block time is one second: the number of a block is its time in unix seconds. */
const BLOCK_MILLIS = 1_000
/**
 * The number of blocks that must follow a block before it counts as confirmed. A reorganization replaces at most this
 * many.
 */
export const CONFIRMATIONS = 2
/** The number of blocks from the finalized block to the head. */
export const FINALITY = 4

/**
 * A signed authorization: any sender may submit it. It transfers `value` once, between its two times (unix seconds).
 */
export interface Authorization {
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly nonce: string
  readonly validAfter: number
  readonly validBefore: number
}

export type ChainCall =
  | { readonly kind: "transfer"; readonly authorization: Authorization }
  | { readonly kind: "cancel"; readonly authorization: Authorization }

interface Transaction {
  readonly hash: string
  readonly call: ChainCall
}

/** A transaction in a block. If it `reverted`, it changed nothing. */
export interface MinedTransaction extends Transaction {
  readonly block: number
  readonly reverted: boolean
}

const keyOf = ({ from, nonce }: Pick<Authorization, "from" | "nonce">): string => `${from} ${nonce}`

/**
 * A chain with one token that accepts each authorization once (EIP-3009). Times are in milliseconds. Blocks are mined
 * up to the time that each call passes, and a transaction is in the block after the one in which it was sent.
 */
export class SimulatedChain {
  readonly #balances = new Map<string, bigint>()
  #mined: Array<MinedTransaction> = []
  #waiting: Array<{ readonly transaction: Transaction; readonly sentAt: number }> = []
  #head = 0
  #count = 0

  /** Adds to the initial balance of a wallet. */
  fund(wallet: string, amount: bigint): void {
    this.#balances.set(wallet, (this.#balances.get(wallet) ?? 0n) + amount)
  }

  /** Returns the balance of a wallet after the blocks up to `now`. */
  balance(now: number, wallet: string): bigint {
    this.head(now)
    return this.#balanceOf(wallet)
  }

  head(now: number): number {
    const head = Math.max(this.#head, Math.floor(now / BLOCK_MILLIS))
    const waiting = this.#waiting
    this.#waiting = []
    for (const { sentAt, transaction } of waiting) {
      const block = Math.max(this.#head, Math.floor(sentAt / BLOCK_MILLIS)) + 1
      if (block > head) this.#waiting.push({ transaction, sentAt })
      else this.#mine(transaction, block)
    }
    return (this.#head = head)
  }

  /** Sends a transaction to the network, now or at a later time, and returns its hash. */
  send(now: number, call: ChainCall, sentAt: number = now): string {
    this.head(now)
    const hash = `0x${(++this.#count).toString(16).padStart(64, "0")}`
    this.#waiting.push({ transaction: { hash, call }, sentAt })
    return hash
  }

  /** Returns the mined transaction that used an authorization, if there is one. */
  use(now: number, authorization: Pick<Authorization, "from" | "nonce">): MinedTransaction | undefined {
    this.head(now)
    return this.#useOf(authorization)
  }

  /** Returns a mined transaction that did not revert. */
  find(now: number, hash: string): MinedTransaction | undefined {
    this.head(now)
    return this.#mined.find((mined) => mined.hash === hash && !mined.reverted)
  }

  isWaiting(hash: string): boolean {
    return this.#waiting.some(({ transaction }) => transaction.hash === hash)
  }

  /** Returns the transfers by authorization, oldest first. */
  transfers(now: number): ReadonlyArray<MinedTransaction> {
    this.head(now)
    return this.#moved()
  }

  isConfirmed(now: number, { block }: MinedTransaction): boolean {
    return this.head(now) >= block + CONFIRMATIONS
  }

  isFinal(now: number, { block }: MinedTransaction): boolean {
    return this.finalized(now) >= block
  }

  /** Returns the number of the finalized block, which is also its time. */
  finalized(now: number): number {
    return this.head(now) - FINALITY
  }

  /**
   * Replaces the last blocks by new ones. Their transactions are mined again in the first new block, the latest first,
   * followed by those that were waiting. If `forgets` is true, all these transactions are lost, as in a network that
   * drops them.
   */
  reorganise(now: number, depth: number, forgets: boolean): void {
    const last = this.head(now) - Math.min(depth, CONFIRMATIONS)
    const taken = this.#mined.filter(({ block }) => block > last).toReversed()
    this.#mined = this.#mined.filter(({ block }) => block <= last)
    const again = [...taken, ...this.#waiting.flatMap(({ sentAt, transaction }) => (sentAt <= now ? transaction : []))]
    this.#waiting = this.#waiting.filter(({ sentAt }) => sentAt > now)
    if (!forgets) for (const { call, hash } of again) this.#mine({ call, hash }, last + 1)
  }

  #useOf(authorization: Pick<Authorization, "from" | "nonce">): MinedTransaction | undefined {
    const key = keyOf(authorization)
    return this.#mined.find(({ call, reverted }) => !reverted && keyOf(call.authorization) === key)
  }

  #moved(): ReadonlyArray<MinedTransaction> {
    return this.#mined.filter(({ call, reverted }) => call.kind === "transfer" && !reverted)
  }

  #balanceOf(wallet: string): bigint {
    let balance = this.#balances.get(wallet) ?? 0n
    for (const { call } of this.#moved()) {
      const { from, to, value } = call.authorization
      if (to === wallet) balance += value
      if (from === wallet) balance -= value
    }
    return balance
  }

  #mine(transaction: Transaction, block: number): void {
    const { authorization, kind } = transaction.call
    const reverted =
      this.#useOf(authorization) !== undefined ||
      (kind === "transfer" &&
        (block <= authorization.validAfter ||
          block >= authorization.validBefore ||
          this.#balanceOf(authorization.from) < authorization.value))
    this.#mined.push({ ...transaction, block, reverted })
  }
}
