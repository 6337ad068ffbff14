/** The exit codes. Scripts depend on them, so they never change. */
export const EXIT = {
  ok: 0,
  failure: 1,
  cancelled: 2,
  usage: 3,
  authentication: 4,
  notFound: 5,
  conflict: 6,
  payment: 7,
  paymentUnknown: 8,
  provider: 9,
  interrupted: 130
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The description of each exit code in help and in the reference. */
export const EXIT_MEANING: Readonly<Record<ExitCode, string>> = {
  0: "success",
  1: "failure",
  2: "cancelled",
  3: "usage error, or a request that the server rejected as invalid",
  4: "authentication: no token, an invalid token, or not your resource",
  5: "not found",
  6: "conflict",
  7: "payment declined, or over budget",
  8: "payment outcome unknown: do not pay again",
  9: "provider failure, or service unavailable",
  130: "interrupted"
}

/** The codes of failures that a program itself reports, beside the error codes of an API. */
const OWN_EXIT = {
  USAGE: EXIT.usage,
  CONFIGURATION: EXIT.usage,
  CANCELLED: EXIT.cancelled,
  INTERRUPTED: EXIT.interrupted,
  NOT_LOGGED_IN: EXIT.authentication,
  WRONG_PASSWORD: EXIT.authentication,
  WRONG_WALLET: EXIT.usage,
  NOT_FOUND: EXIT.notFound,
  EXISTS: EXIT.conflict,
  LOCKED: EXIT.conflict,
  OVER_BUDGET: EXIT.payment,
  PAYMENT_DECLINED: EXIT.payment,
  OUTCOME_UNKNOWN: EXIT.paymentUnknown,
  UNREACHABLE: EXIT.failure,
  UNEXPECTED_ANSWER: EXIT.failure,
  FAILED: EXIT.failure
} as const satisfies Readonly<Record<string, ExitCode>>
export type OwnCode = keyof typeof OWN_EXIT

/** The state of a payment in the words of the API. */
export type PaymentState = "none" | "pending" | "unknown" | "settled" | "refund_due" | "refunded"

/** One problem with one field of a request. */
export interface FailureIssue {
  readonly path: string
  readonly message: string
}

interface FailureParts {
  /** An `OwnCode`, or a code of the API with `exit`. */
  readonly code: string
  /** Whole sentences. */
  readonly message: string
  readonly requestId?: string | undefined
  /** Absent if the command does not pay. */
  readonly paymentState?: PaymentState | undefined
  readonly retryable?: boolean | undefined
  /** Command lines to run next. */
  readonly next?: ReadonlyArray<string> | undefined
  readonly issues?: ReadonlyArray<FailureIssue> | undefined
}

/** The reason why a command fails. It decides the exit code and the error that is printed. */
export class Failure extends Error {
  override readonly name = "Failure"
  readonly exit: ExitCode
  readonly parts: FailureParts

  constructor(parts: FailureParts & { readonly exit: ExitCode })
  constructor(parts: FailureParts & { readonly code: OwnCode })
  constructor(parts: FailureParts & { readonly exit?: ExitCode }) {
    super(parts.message)
    const own: Readonly<Record<string, ExitCode | undefined>> = OWN_EXIT
    this.exit = parts.exit ?? own[parts.code] ?? EXIT.failure
    this.parts = parts
  }

  /** Returns the same failure with other parts. */
  with(parts: Partial<FailureParts> & { readonly exit?: ExitCode }): Failure {
    return new Failure({ ...this.parts, exit: this.exit, ...parts })
  }
}

/** An invalid command line. Unless `next` says otherwise, the report points to the help of the command. */
export const usageError = (message: string, next: ReadonlyArray<string> = []): Failure =>
  new Failure({ code: "USAGE", message, next })

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Returns the code of a system error, for example ENOENT. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined
