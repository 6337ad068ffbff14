/** The next block comes a second after the last: the number of a block is its time in unix seconds. */
const BLOCK_MILLIS = 1_000
/** How many blocks must follow another before anything is concluded from it. A reorganisation takes no more than these. */
export const CONFIRMATIONS = 2
/** How far the finalized block is behind the head. */
export const FINALITY = 4

/** What somebody signed: it moves `value` once, between its two moments (unix seconds), whoever submits it. */
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

/** A transaction in a block. One that `reverted` changed nothing. */
export interface MinedTransaction extends Transaction {
  readonly block: number
  readonly reverted: boolean
}

const keyOf = ({ from, nonce }: Pick<Authorization, "from" | "nonce">): string => `${from} ${nonce}`

/**
 * A chain with one token that honours each authorization once (EIP-3009). Moments are in milliseconds; blocks are
 * mined as the time that the caller names goes by, and a transaction is in the block after the one it was sent in.
 */
export class SimulatedChain {
  readonly #balances = new Map<string, bigint>()
  #mined: Array<MinedTransaction> = []
  #waiting: Array<{ readonly transaction: Transaction; readonly sentAt: number }> = []
  #head = 0
  #count = 0

  /** How much a wallet has before anything is mined. */
  fund(wallet: string, amount: bigint): void {
    this.#balances.set(wallet, (this.#balances.get(wallet) ?? 0n) + amount)
  }

  /** What a wallet has by the blocks up to now. */
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

  /** Hands a transaction to the network, now or at a later moment, and gives its hash. */
  send(now: number, call: ChainCall, sentAt: number = now): string {
    this.head(now)
    const hash = `0x${(++this.#count).toString(16).padStart(64, "0")}`
    this.#waiting.push({ transaction: { hash, call }, sentAt })
    return hash
  }

  /** The transaction that used an authorization up, if a block has one. */
  use(now: number, authorization: Pick<Authorization, "from" | "nonce">): MinedTransaction | undefined {
    this.head(now)
    return this.#useOf(authorization)
  }

  /** A transaction that a block has, and that did what it says. */
  find(now: number, hash: string): MinedTransaction | undefined {
    this.head(now)
    return this.#mined.find((mined) => mined.hash === hash && !mined.reverted)
  }

  isWaiting(hash: string): boolean {
    return this.#waiting.some(({ transaction }) => transaction.hash === hash)
  }

  /** Transfers by authorization, oldest first. */
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

  /** The finalized block, which is its time as well. */
  finalized(now: number): number {
    return this.head(now) - FINALITY
  }

  /**
   * Puts other blocks in the place of the last ones. What was in them is mined again in the first of the new ones, the
   * latest first and what waited before with it; or is forgotten, as a network forgets.
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
