import { AgentOsError } from "../AgentOsError.ts"
import type { components } from "../generated/Components.ts"
import type { Http } from "../http/Http.ts"
import { dataOf } from "../http/WireError.ts"
import type { PaymentOption, Settings } from "../Options.ts"
import { decimalOf, heldOf } from "./Amount.ts"
import { allowanceOf, type ChallengeOption } from "./Challenge.ts"
import { decimalsOf } from "./KnownTokens.ts"
import { approvalOf } from "./Permit2.ts"

type Schemas = components["schemas"]

/** The funds of a wallet in an accepted token on one network. */
export interface NetworkFunds {
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  readonly assetName: string | null
  /** As the server names it: `USDT`, unless the server accepts another token at par. */
  readonly symbol: string
  readonly transferMethod: "eip3009" | "permit2"
  /** In USDT; null if the server could not read it. */
  readonly balance: string | null
  /** The amount in USDT that Permit2 may move; null if it was not read, or with `eip3009`, which needs none. */
  readonly allowance: string | null
  /** As in PaymentOption. `signature` only if the server could read the nonce of the wallet's permits. */
  readonly allowanceBy: PaymentOption["allowanceBy"]
  /** Why the balance was not read; null if it was. */
  readonly reason: string | null
  /** With `permit2`: the transaction, without value, by which the wallet lets Permit2 move any amount, once. */
  readonly approval: Schemas["WalletTransaction"] | null
}

/** The funds with amounts in millionths of a USDT. */
interface Reading extends Omit<NetworkFunds, "allowance" | "balance"> {
  readonly balance: bigint | null
  readonly allowance: bigint | null
  /** Whether the allowance is not 0, also below a millionth. */
  readonly hasAllowance: boolean
  /** The nonce of the next permit; null if it was not read, or if the token takes none. */
  readonly permitNonce: bigint | null
}

type Options = readonly [ChallengeOption, ...ReadonlyArray<ChallengeOption>]

/** How long the rest of the last choice's funds is relied on. */
const CHOICE_MILLIS = 5 * 60_000
/** How long a payment may be under way, so that the balance that the server reads still has its amount. */
const UNDER_WAY_MILLIS = 30_000
/** Longer than a server caches its reads of a chain. */
const SERVER_CACHE_MILLIS = 1_100

const isSame = (one: Pick<Reading, "asset" | "network">, other: Pick<Reading, "asset" | "network">): boolean =>
  one.network === other.network && one.asset.toLowerCase() === other.asset.toLowerCase()

const numberOf = (text: string | null | undefined): bigint | null =>
  /^\d{1,78}$/.test(text ?? "") ? BigInt(text!) : null

/** Returns an amount in millionths of a USDT, rounded down; null if it is missing. */
const unitsOf = (amount: Schemas["TokenAmount"] | null | undefined, decimals: number): bigint | null => {
  const units = numberOf(amount?.baseUnits)
  return units === null ? null : heldOf(units, decimals)
}

const readingOf = (record: Schemas["PaymentNetwork"], decimals: number): Reading => {
  const { asset, name, network, reason = "The server returned no balance." } = record
  const balance = unitsOf(record.balance, decimals)
  const permitNonce = numberOf(record.permitNonce)
  const allowanceBy = allowanceOf(record.transferMethod, permitNonce !== null)
  const isPermit2 = allowanceBy !== "none"
  return {
    network,
    asset,
    assetName: name,
    symbol: record.symbol ?? "USDT",
    transferMethod: isPermit2 ? "permit2" : "eip3009",
    balance,
    allowance: unitsOf(record.allowance, decimals),
    hasAllowance: !/^0*$/.test(record.allowance?.baseUnits ?? ""),
    allowanceBy,
    permitNonce,
    reason: balance === null ? reason : null,
    approval: isPermit2 ? approvalOf(network, asset) : null
  }
}

/** Returns the most that a payment can move; null if it was not read. */
const spendableOf = ({ allowance, allowanceBy, balance }: Reading, mayPermit: boolean): bigint | null => {
  if (balance === null || allowanceBy === "none" || (mayPermit && allowanceBy === "signature")) return balance
  return allowance !== null && allowance < balance ? allowance : balance
}

/** Chooses where the wallet pays: the first offer, in the server's order, for which it has the money. */
export class Funds {
  readonly #settings: Settings
  readonly #http: Http
  /** Whether the wallet signs with a key, as far as is known. */
  #signsPermits = true
  #chosen: { readonly option: ChallengeOption; left: bigint; readonly until: number } | undefined
  /** The payments of the last seconds, whose amounts other calls at the same time do not count on. */
  #underWay: ReadonlyArray<{ readonly option: ChallengeOption; readonly until: number }> = []

  constructor(settings: Settings, http: Http) {
    this.#settings = settings
    this.#http = http
  }

  /** Returns the funds of a wallet in the accepted tokens, in the server's order. */
  async read(wallet: string, signal?: AbortSignal): Promise<ReadonlyArray<NetworkFunds>> {
    const text = (amount: bigint | null) => (amount === null ? null : decimalOf(amount))
    return (await this.#read(wallet, signal)).map(
      ({ allowance, balance, hasAllowance: _, permitNonce: __, ...funds }) => ({
        ...funds,
        balance: text(balance),
        allowance: text(allowance)
      })
    )
  }

  /**
   * Returns the first option for which the wallet has enough. Asks the server only about several, and not while the last choice
   * has enough. An option whose funds are not read is next, so that without an answer it is the first one. Throws
   * PERMIT2_ALLOWANCE_REQUIRED or PAYMENT_REQUIRED if the wallet can't pay for any, also when asked again.
   */
  async choose(
    options: Options,
    wallet: string | undefined,
    signal: AbortSignal | undefined
  ): Promise<ChallengeOption> {
    const [only, ...others] = options
    const isChecked = only.allowanceBy === "signature" && !this.#signsPermits
    if (wallet === undefined || (others.length === 0 && !isChecked)) return only
    const again = this.#chooseAgain(options)
    if (again !== undefined) return this.#takeUp(again)
    const { clock } = this.#settings
    let found = await this.#search(options, wallet, signal)
    if ("error" in found) {
      // Money or an allowance may have just arrived: the server caches its reads.
      await clock.sleep(SERVER_CACHE_MILLIS, signal)
      signal?.throwIfAborted()
      found = await this.#search(options, wallet, signal)
    }
    if ("error" in found) throw found.error
    const { option, spendable } = found
    const until = clock.now() + CHOICE_MILLIS
    this.#chosen = spendable === null ? undefined : { option, left: spendable - option.price, until }
    return option
  }

  /** Returns the option to pay by, with the money for it if that was read, or the reason why the wallet can't pay. */
  async #search(
    options: Options,
    wallet: string,
    signal: AbortSignal | undefined
  ): Promise<
    { readonly option: ChallengeOption; readonly spendable: bigint | null } | { readonly error: AgentOsError }
  > {
    const readings = await this.#readIfPossible(wallet, signal)
    const found = options.map((option) => {
      const reading = readings.find((one) => isSame(one, option))
      const mayPermit = option.allowanceBy === "signature" && this.#signsPermits
      return { option, reading, spendable: reading === undefined ? null : spendableOf(reading, mayPermit) }
    })
    const hasMoney = (withheld: (option: ChallengeOption) => bigint) =>
      found.find(({ option, spendable }) => spendable !== null && spendable - withheld(option) >= option.price)
    // A payment under way may be over already, so that its amount is missing twice. Then the balance decides.
    const usable =
      hasMoney((option) => this.#pendingOn(option)) ??
      found.find(({ spendable }) => spendable === null) ??
      hasMoney(() => 0n)
    if (usable !== undefined) {
      const { spendable } = usable
      const left = spendable === null ? null : spendable - this.#pendingOn(usable.option)
      this.#takeUp(usable.option)
      return { option: usable.option, spendable: left }
    }
    const unallowed = found.find(({ option, reading }) => reading!.balance! >= option.price)
    const error =
      unallowed === undefined
        ? noMoney(wallet, options[0], readings)
        : this.#noAllowance(wallet, unallowed.option, unallowed.reading!)
    return { error }
  }

  /**
   * Returns an option with the nonce of the permit that its payment brings, unless it needs none or nothing could be read. Throws
   * PERMIT2_ALLOWANCE_REQUIRED if the wallet has no allowance and can sign no permit.
   */
  async withPermit(option: ChallengeOption, wallet: string, signal: AbortSignal | undefined): Promise<ChallengeOption> {
    if (option.allowanceBy !== "signature") return option
    const reading = (await this.#readIfPossible(wallet, signal)).find((one) => isSame(one, option))
    if (reading === undefined || reading.allowance === null || reading.allowance >= option.price) return option
    const { permitNonce } = reading
    if (permitNonce === null || !this.#signsPermits) throw this.#noAllowance(wallet, option, reading)
    return { ...option, permitNonce }
  }

  /** Counts no permits from now on, because the wallet signs as a smart account. */
  withoutPermits(): void {
    this.#signsPermits = false
    this.forget()
  }

  /** Forgets the last choice, because a payment failed. */
  forget(): void {
    this.#chosen = undefined
    this.#underWay = []
  }

  /** Returns the option, whose price is withheld from the calls that follow while its payment is under way. */
  #takeUp(option: ChallengeOption): ChallengeOption {
    const now = this.#settings.clock.now()
    this.#underWay = [...this.#underWay.filter(({ until }) => until > now), { option, until: now + UNDER_WAY_MILLIS }]
    return option
  }

  #pendingOn(option: ChallengeOption): bigint {
    const now = this.#settings.clock.now()
    return this.#underWay
      .filter(({ option: other, until }) => until > now && isSame(other, option))
      .reduce((sum, { option: { price } }) => sum + price, 0n)
  }

  #chooseAgain(options: Options): ChallengeOption | undefined {
    const chosen = this.#chosen
    if (chosen === undefined || chosen.until <= this.#settings.clock.now()) return undefined
    const again = options.find((option) => isSame(option, chosen.option))
    if (again === undefined || again.price > chosen.left) return undefined
    chosen.left -= again.price
    return again
  }

  /** Returns nothing for an older server, or one that does not answer: a payment without money is refused, and charges nothing. */
  #readIfPossible(wallet: string, signal: AbortSignal | undefined): Promise<ReadonlyArray<Reading>> {
    return this.#read(wallet, signal).catch((error: unknown) => {
      if (signal?.aborted === true) throw error
      return []
    })
  }

  async #read(wallet: string, signal: AbortSignal | undefined): Promise<ReadonlyArray<Reading>> {
    const answer = await this.#http.send({ method: "GET", path: `/api/v1/payments/networks?wallet=${wallet}` }, signal)
    const items = dataOf(answer)["items"] as ReadonlyArray<Schemas["PaymentNetwork"]>
    return items.flatMap((record) => {
      const decimals = decimalsOf(record.network, record.asset, this.#settings)
      return decimals === undefined ? [] : [readingOf(record, decimals)]
    })
  }

  #noAllowance(wallet: string, { asset, network, price }: ChallengeOption, { hasAllowance }: Reading): AgentOsError {
    return new AgentOsError({
      code: "PERMIT2_ALLOWANCE_REQUIRED",
      message:
        `The wallet ${wallet} has ${decimalOf(price)} USDT on ${network} only, where it must let Permit2 move its tokens, once. ` +
        `Send the transaction in details.transaction from it, without value, which takes ${APPROVAL_GAS}. ` +
        (hasAllowance ? "Some tokens refuse to change an allowance that is not 0: set it to 0 first. " : "") +
        (this.#signsPermits
          ? "Nothing was signed."
          : "A smart account can't do that by a signature. Nothing was sent."),
      details: { transaction: approvalOf(network, asset) }
    })
  }
}

/** 21,000 of a transaction, 22,100 of a new slot in storage (EIP-2929), and the token's own code. */
const APPROVAL_GAS = "about 50,000 gas"

const noMoney = (wallet: string, { price }: ChallengeOption, readings: ReadonlyArray<Reading>) => {
  const held = readings.map(({ balance, network }) => `${decimalOf(balance ?? 0n)} on ${network}`).join(", ")
  return new AgentOsError({
    code: "PAYMENT_REQUIRED",
    message: `The price is ${decimalOf(price)} USDT, and the wallet ${wallet} has too little on each network: ${held}. Nothing was signed.`
  })
}
