import type { ErrorBody } from "@agentos/api"
import { EXIT, type ExitCode } from "./ExitCode.ts"

/** Failures that begin here, and not at the server. */
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

/** What became of the money: as the API says it. */
export type PaymentState = NonNullable<ErrorBody["paymentState"]>

/** A part of the input that is wrong. */
export interface FailureIssue {
  readonly path: string
  readonly message: string
}

interface FailureParts {
  /** Of the API, or one of this program's own. */
  readonly code: OwnCode | ErrorBody["code"]
  /** What happened, in whole sentences. */
  readonly message: string
  /** The server's id of the request; null where none was answered. */
  readonly requestId?: string | undefined
  /** Absent where no money was concerned. */
  readonly paymentState?: PaymentState | undefined
  readonly retryable?: boolean | undefined
  /** What to run next: whole command lines. */
  readonly next?: ReadonlyArray<string> | undefined
  readonly issues?: ReadonlyArray<FailureIssue> | undefined
}

/** Why a command ends without having done what it was asked to do: it decides the exit code and what is printed. */
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
}
