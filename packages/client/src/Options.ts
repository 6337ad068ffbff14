import { AgentOsError, messageOf } from "./AgentOsError.ts"
import { unitsOf } from "./payment/Amount.ts"
import { accountOf, type EthersWallet, type WalletAccount, walletFailed } from "./payment/Account.ts"
import type { PaymentJournal } from "./payment/Journal.ts"

/** One way to pay for a call. */
export interface PaymentOption {
  /** In USDT, for example "0.25". */
  readonly price: string
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  /** As the server names the token; null without a name. */
  readonly assetName: string | null
  /** Of the token, as this client knows them: 6, unless the token is known or listed with others. */
  readonly decimals: number
  /**
   * How the wallet lets Permit2 move the amount, if it may not yet: by a signature with the payment, for its amount alone (permit of
   * EIP-2612), or by one transaction before the first payment. Transfers by EIP-3009 need none.
   */
  readonly allowanceBy: "none" | "signature" | "transaction"
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  /** Milliseconds since 1970; null if the option does not expire. */
  readonly expiresAt: number | null
}

export interface PaymentQuote extends PaymentOption {
  readonly operationId: string
}

/** A wait before a request is sent again. */
export interface Retry {
  /** The reason. Its `answer` is null if the answer was lost. */
  readonly error: AgentOsError
  readonly delayMillis: number
  /** The payment that is sent again; null for a request without one. */
  readonly paymentId: string | null
}

/** Amounts in USDT, for example "1.00". A missing limit does not limit. */
export interface SpendLimits {
  readonly perCall?: string
  /** In any 24 hours. A payment with an unknown outcome counts. */
  readonly perDay?: string
}

/** A store for access tokens; a Map is one. The key names the server and the wallet. Keep tokens secret. */
export interface TokenStore {
  readonly get: (key: string) => string | null | undefined | Promise<string | null | undefined>
  readonly set: (key: string, token: string) => unknown
}

/** A token that counts as USDT. */
export interface AcceptedAsset {
  readonly network: string
  readonly asset: string
  /** Default: 6. */
  readonly decimals?: number
}

export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after the time, or as soon as the signal is aborted. */
  readonly sleep: (millis: number, signal?: AbortSignal) => Promise<void>
}

export interface WebSocketLike {
  readonly readyState: number
  readonly send: (text: string) => void
  readonly close: (code?: number, reason?: string) => void
  readonly addEventListener: (
    type: "open" | "message" | "close" | "error",
    listener: (event: {
      readonly type?: string
      readonly data?: unknown
      readonly code?: number
      readonly reason?: string
      readonly message?: string
    }) => void
  ) => void
  /** Shows the server's pings. With it, a connection without one for 45 s is replaced; else after 5 silent minutes. */
  readonly on?: (event: "ping", listener: () => void) => unknown
  /** Stops reading while 256 messages wait. */
  readonly pause?: () => void
  readonly resume?: () => void
  /** Ends a connection without waiting for its server. */
  readonly terminate?: () => void
}

/** A connection of a stream opened or closed, or sockets are blocked, so that events are polled for a minute. */
export type ConnectionChange =
  | { readonly state: "open" }
  | { readonly state: "closed"; readonly reason: string; readonly retryMillis: number }
  | { readonly state: "blocked"; readonly reason: string }

export interface AgentOsOptions {
  /**
   * Pays and signs in. Without it, only free calls work. A function opens it for its first signature, after `onPayment` has
   * approved; `journal` and `tokens` must be those of this wallet. It may have the `address` as a property, which is not known
   * before otherwise: then the first network is paid on, wherever the money is.
   */
  readonly wallet?: WalletAccount | EthersWallet | WalletOpener | (WalletOpener & { readonly address: string })
  /** Limits of automatic payments. A wallet needs `spend`, `onPayment` or both. */
  readonly spend?: SpendLimits
  /** Approves each payment within the limits, before it is signed. */
  readonly onPayment?: (quote: PaymentQuote) => boolean | Promise<boolean>
  /** Remembers payments across crashes. Default: in the memory of this process. */
  readonly journal?: PaymentJournal
  /** Default: in the memory of this client. */
  readonly tokens?: TokenStore
  /** Whether the wallet signs in when the access token is missing or was revoked. Default: true. */
  readonly signIn?: boolean
  /** Called before each wait. If it returns false, the request is not sent again, and a payment that was sent stays open. */
  readonly onRetry?: (retry: Retry) => boolean | void
  /** The network to pay on, if the server offers several. Default: the first that is accepted. */
  readonly network?: string
  /** Tokens that are accepted beside the known contracts of USDT. */
  readonly assets?: ReadonlyArray<AcceptedAsset>
  /** Default: that of the environment. It must not pay by itself; that of mppx is unwrapped. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Default: that of the environment, which Node has since version 22. The class of the package `ws` also shows pings. */
  readonly WebSocket?: new (url: string) => WebSocketLike
  /** Called for each connection of a stream: when it opens, and when it closes or is blocked, with the reason. */
  readonly onConnection?: (change: ConnectionChange) => void
  readonly clock?: Clock
}

/** Opens a wallet, for example by a password. */
export type WalletOpener = () => Promise<WalletAccount | EthersWallet>

/** A wallet that may not be open yet. */
interface Wallet {
  /** Undefined until it is open. */
  readonly address: string | undefined
  /** Opens it once. */
  readonly open: () => Promise<WalletAccount>
}

/** The options with their defaults. */
export interface Settings {
  readonly baseUrl: string
  readonly wallet: Wallet | undefined
  /** Base units of USDT (millionths); null without a limit. */
  readonly limits: { readonly perCall: bigint | null; readonly perDay: bigint | null }
  readonly onPayment: AgentOsOptions["onPayment"]
  readonly journal: PaymentJournal | undefined
  readonly tokens: TokenStore
  readonly signIn: boolean
  /** Returns whether to send again. */
  readonly onRetry: (retry: Retry) => boolean
  readonly network: string | undefined
  readonly assets: ReadonlyArray<AcceptedAsset> | undefined
  readonly fetch: NonNullable<AgentOsOptions["fetch"]>
  readonly WebSocket: NonNullable<AgentOsOptions["WebSocket"]>
  readonly onConnection: AgentOsOptions["onConnection"]
  readonly clock: Clock
}

const invalid = (message: string): AgentOsError => new AgentOsError({ code: "INVALID_OPTION", message })

const retryFailed = (cause: unknown, { paymentId }: Retry): AgentOsError => {
  const message = `onRetry failed: ${messageOf(cause)}.`
  if (cause instanceof AgentOsError) return cause
  if (paymentId === null) return new AgentOsError({ code: "INVALID_OPTION", message, cause })
  return new AgentOsError({
    code: "PAYMENT_OUTCOME_UNKNOWN",
    message: `${message} The payment may have been charged. Make the same call again to resume it.`,
    details: { paymentId },
    moneyMoved: "unknown",
    isRetryable: true,
    cause
  })
}

type Fetch = NonNullable<AgentOsOptions["fetch"]>

/** mppx replaces the global fetch by one that pays, and keeps the original one under this symbol. */
const WRAPPED_BY_MPPX = Symbol.for("mppx.fetch.wrapper")

/** Returns a fetch that does not pay by itself, because this client pays, within its limits. */
const unpaidFetch = (fetch: Fetch & { readonly [WRAPPED_BY_MPPX]?: unknown }): Fetch => {
  const original = fetch[WRAPPED_BY_MPPX]
  return typeof original === "function" ? (original as Fetch) : fetch
}

const webSocketOf = (options: AgentOsOptions): NonNullable<AgentOsOptions["WebSocket"]> => {
  const found = options.WebSocket ?? (globalThis as { WebSocket?: AgentOsOptions["WebSocket"] }).WebSocket
  if (found !== undefined) return found
  throw invalid(
    "This environment has no WebSocket, over which mail, calls and events arrive. Use Node 22 or later, or pass WebSocket of the package ws to AgentOs.connect. Nothing was paid."
  )
}

/** Whether a host name refers to this machine, whose server needs no https. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  /^127(?:\.\d{1,3}){3}$/.test(hostname)

const baseUrlOf = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw invalid(
      `The base URL must be an https URL, for example "https://agentos.example", not ${JSON.stringify(text)}.`
    )
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw invalid("The base URL must begin with https://, because access tokens are sent to it.")
  return url.href.replace(/\/+$/, "")
}

const limitOf = (name: string, text: string | undefined): bigint | null => {
  if (text === undefined) return null
  const units = unitsOf(text)
  if (units === undefined)
    throw invalid(`spend.${name} must be an amount in USDT such as "1.00", not ${JSON.stringify(text)}.`)
  return units
}

const walletOf = (wallet: NonNullable<AgentOsOptions["wallet"]>): Wallet => {
  if (typeof wallet !== "function") {
    const account = accountOf(wallet)
    return { address: account.address, open: () => Promise.resolve(account) }
  }
  let opened: Promise<WalletAccount> | undefined
  const open = async () => {
    try {
      return accountOf(await wallet())
    } catch (error) {
      opened = undefined
      throw walletFailed("The wallet could not be opened", error)
    }
  }
  return { address: "address" in wallet ? wallet.address : undefined, open: () => (opened ??= open()) }
}

/* oxlint-disable no-restricted-properties -- the defaults are the clock and the timers of the environment */
/** The clock and the timers of the environment. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (millis, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener("abort", done)
        resolve()
      }
      const timer = setTimeout(done, millis)
      signal?.addEventListener("abort", done)
    })
}
/* oxlint-enable no-restricted-properties */

/** Checks the options. Throws INVALID_OPTION. */
export const settingsOf = (baseUrl: string, options: AgentOsOptions): Settings => {
  const { onPayment, spend, wallet } = options
  if (wallet !== undefined && spend === undefined && onPayment === undefined)
    throw invalid('A wallet needs a limit: pass spend, for example { perCall: "6.00", perDay: "10.00" }, or onPayment.')
  return {
    baseUrl: baseUrlOf(baseUrl),
    wallet: wallet && walletOf(wallet),
    limits: { perCall: limitOf("perCall", spend?.perCall), perDay: limitOf("perDay", spend?.perDay) },
    onPayment,
    journal: options.journal,
    tokens: options.tokens ?? new Map<string, string>(),
    signIn: options.signIn ?? true,
    onRetry: (retry) => {
      try {
        return options.onRetry?.(retry) !== false
      } catch (error) {
        throw retryFailed(error, retry)
      }
    },
    network: options.network,
    assets: options.assets,
    fetch: (url, init) => unpaidFetch(options.fetch ?? fetch)(url, init),
    WebSocket: webSocketOf(options),
    onConnection: options.onConnection,
    clock: options.clock ?? systemClock
  }
}
