import { AgentOsError, type MoneyMoved } from "@agentos/client"

export type Json = Readonly<Record<string, unknown>>

export interface ToolResult {
  readonly isError: boolean
  /** JSON. Text from strangers is only in fields named `untrusted`. */
  readonly data: Json
  /** The error of the client behind a failure, for the host. */
  readonly error?: AgentOsError
}

const MONEY: Readonly<Record<MoneyMoved, string>> = {
  no: "No money moved.",
  yes: "The payment was charged.",
  refund_due: "The payment was charged and is being refunded.",
  refunded: "The payment was charged and refunded.",
  unknown: "The payment may have been charged."
}

/** Returns the next step after an error, for a model. */
const nextAfter = (error: AgentOsError): string => {
  switch (error.code) {
    case "SPEND_LIMIT_EXCEEDED":
      return "Tell the person you work for: only they can raise the limit. Do not try a cheaper way around it."
    case "PAYMENT_NOT_APPROVED":
      return "The person you work for did not approve the payment. Do not repeat the call unless they ask you to."
    case "WALLET_REQUIRED":
      return "Tell the person you work for: this needs a wallet, which they have to set up."
    case "PAYMENT_OUTCOME_UNKNOWN":
      return `Do not call this tool with other input. Call resume_payment with paymentId ${error.details.paymentId}: nothing is charged twice.`
    case "PERMIT2_ALLOWANCE_REQUIRED":
      return "Tell the person you work for: before its first payment on that network, their wallet must send one transaction, for example by agentctl wallet allow."
    case "PAYMENT_REQUIRED":
      return "Do not repeat the call. Tell the person you work for: the wallet needs USDT on one of the networks of the server."
    case "PAYMENT_UNSUPPORTED":
      return "Tell the person you work for. The server asks for a payment that cannot be made safely."
    case "JOURNAL_FAILED":
      return "Tell the person you work for: the record of payments could not be written."
    case "AUTH_REQUIRED":
    case "ONBOARDING_REQUIRED":
      return "Nothing was bought here yet. Call create_mailbox or buy_phone_number first; if neither is offered, tell the person you work for."
    case "INVALID_OPTION":
    case "INVALID_REQUEST":
      return "Correct the input and call the tool again."
    case "RESOURCE_NOT_FOUND":
    case "RESOURCE_NOT_OWNED":
      return "Check the id: it must come from a result of these tools."
    case "CONFLICT":
      return "Change the input that is in conflict, then call the tool again."
    case "RATE_LIMITED":
    case "QUOTA_EXCEEDED":
    case "PROVIDER_TEMPORARY_FAILURE":
    case "SERVICE_UNAVAILABLE": {
      const { retryAfterSeconds } = error.details
      return `Call the tool again ${retryAfterSeconds === null ? "later" : `in ${retryAfterSeconds} seconds`}.`
    }
    default:
      return error.isRetryable
        ? "The same call may succeed later."
        : "Do not repeat the same call. Tell the person you work for if you cannot continue."
  }
}

/** Whether a call failed because the wallet has bought nothing here yet. */
export const isNewcomer = (error: unknown): boolean =>
  error instanceof AgentOsError && (error.code === "AUTH_REQUIRED" || error.code === "ONBOARDING_REQUIRED")

const messageOf = (error: AgentOsError): string =>
  error.code === "INVALID_REQUEST" && error.details.issues.length > 0
    ? `${error.message} ${error.details.issues.map(({ message, path }) => `${path}: ${message}`).join(" ")}`
    : error.message

/** Returns the result of a call that failed: what happened, whether money moved, and what to do next. */
export const failed = (thrown: unknown): ToolResult => {
  if (!(thrown instanceof AgentOsError)) throw thrown
  // A journal may refuse a payment for a reason of its own, such as a limit.
  const error = thrown.code === "JOURNAL_FAILED" && thrown.cause instanceof AgentOsError ? thrown.cause : thrown
  const { code, moneyMoved } = error
  return {
    isError: true,
    error,
    data: { error: { code, message: messageOf(error), moneyMoved, money: MONEY[moneyMoved], next: nextAfter(error) } }
  }
}

/** Returns the result of a call whose input does not match the schema of its tool. Nothing was sent. */
export const invalidInput = (issues: ReadonlyArray<string>, example: Json): ToolResult => ({
  isError: true,
  data: {
    error: {
      code: "INVALID_INPUT",
      message: `The input is invalid. ${issues.join(" ")}`,
      moneyMoved: "no",
      money: MONEY.no,
      next: `Correct the input and call the tool again, for example with ${JSON.stringify(example)}`
    }
  }
})
