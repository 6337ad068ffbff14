import type { components } from "./generated/Components.ts"
import type { Answer } from "./http/Answer.ts"

type WireError = components["schemas"]["Error"]["error"]

/** A call to make next. Without `body` it has none, or that of the failed call. */
export type NextCall = NonNullable<WireError["next"]>

export type WireErrorCode = WireError["code"]

/**
 * The errors of the client itself. `WALLET_FAILED`, `JOURNAL_FAILED` and `TOKENS_FAILED`: that option threw `cause`.
 * `PAYMENT_UNSUPPORTED`: the terms are invalid, expired, or for a token that is not
 * accepted. `PAYMENT_OUTCOME_UNKNOWN`: it may have been charged; make the same call again to resume it. `PAYMENT_VOID`: it
 * bought nothing, and is not sent again.
 */
export type ClientErrorCode =
  | "INVALID_OPTION"
  | "WALLET_REQUIRED"
  | "WALLET_FAILED"
  | "SPEND_LIMIT_EXCEEDED"
  | "PAYMENT_NOT_APPROVED"
  | "PAYMENT_UNSUPPORTED"
  | "PAYMENT_OUTCOME_UNKNOWN"
  | "PAYMENT_VOID"
  | "JOURNAL_FAILED"
  | "TOKENS_FAILED"
  | "UNREACHABLE"
  | "UNEXPECTED_ANSWER"
  | "TIMEOUT"
  | "CLOSED"

export type ErrorCode = WireErrorCode | ClientErrorCode

/** Whether the failed call moved money. `refund_due`: it was charged, and is being refunded. */
export type MoneyMoved = "no" | "yes" | "refund_due" | "refunded" | "unknown"

/** Null if the server named no delay. */
interface Delay {
  readonly retryAfterSeconds: number | null
}

interface DetailsByCode {
  readonly INVALID_REQUEST: { readonly issues: NonNullable<WireError["issues"]> }
  readonly ONBOARDING_REQUIRED: { readonly onboarding: WireError["onboarding"] | null }
  readonly PAYMENT_PENDING: Delay
  /** The transaction that lets Permit2 move the tokens of the wallet; it sends it once. Null if the server named none. */
  readonly PERMIT2_ALLOWANCE_REQUIRED: { readonly transaction: WireError["transaction"] | null }
  readonly RATE_LIMITED: Delay
  readonly QUOTA_EXCEEDED: Delay
  readonly PROVIDER_TEMPORARY_FAILURE: Delay
  readonly SERVICE_UNAVAILABLE: Delay
  readonly SPEND_LIMIT_EXCEEDED: {
    readonly limit: "perCall" | "perDay"
    /** The limit, the price, and the most that the last 24 hours may have cost, in USDT. */
    readonly limitAmount: string
    readonly price: string
    readonly spentLastDay: string
  }
  readonly PAYMENT_UNSUPPORTED: {
    /** `refused`: a scheme, network, token or validity that is not accepted. */
    readonly reason: "invalid" | "refused" | "expired"
  }
  readonly PAYMENT_OUTCOME_UNKNOWN: { readonly paymentId: string }
  readonly PAYMENT_VOID: { readonly paymentId: string }
}

export type ErrorDetails<Code extends ErrorCode> = Code extends keyof DetailsByCode
  ? DetailsByCode[Code]
  : Readonly<Record<never, never>>

interface CommonParts<Code extends ErrorCode> {
  readonly code: Code
  readonly message: string
  readonly status?: number | null
  readonly requestId?: string | null
  readonly moneyMoved?: MoneyMoved
  readonly isRetryable?: boolean
  readonly nextCalls?: ReadonlyArray<NextCall>
  readonly answer?: Answer
  readonly cause?: unknown
}

/** The parts of an error. A code that has details needs them. */
export type ErrorParts<Code extends ErrorCode> = CommonParts<Code> &
  ([Code] extends [keyof DetailsByCode]
    ? { readonly details: ErrorDetails<Code> }
    : { readonly details?: ErrorDetails<Code> })

class CodedError<Code extends ErrorCode> extends Error {
  /** The name in stack traces. */
  static override readonly name = "AgentOsError"
  override readonly name = "AgentOsError"
  readonly code: Code
  readonly details: ErrorDetails<Code>
  readonly status: number | null
  readonly requestId: string | null
  readonly moneyMoved: MoneyMoved
  readonly isRetryable: boolean
  readonly nextCalls: ReadonlyArray<NextCall>
  /** The answer of the server that is this error; null without an answer. Not shown when the error is printed. */
  declare readonly answer: Answer | null

  constructor(parts: ErrorParts<Code>) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.code = parts.code
    this.details = parts.details ?? ({} as ErrorDetails<Code>)
    this.status = parts.status ?? null
    this.requestId = parts.requestId ?? null
    this.moneyMoved = parts.moneyMoved ?? "no"
    this.isRetryable = parts.isRetryable ?? false
    this.nextCalls = parts.nextCalls ?? []
    Object.defineProperty(this, "answer", { value: parts.answer ?? null })
  }
}

/** Every failure of the client. `switch (error.code)` narrows `details`. */
export type AgentOsError = { readonly [Code in ErrorCode]: CodedError<Code> }[ErrorCode]
export const AgentOsError = CodedError as {
  new <Code extends ErrorCode>(parts: ErrorParts<Code>): CodedError<Code>
  readonly prototype: AgentOsError
}

/** @internal Returns the text of any thrown value, without a full stop at its end. */
export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\.$/, "")
