import {
  type CheckError,
  type ContentNotStored,
  type CredentialRefused,
  NUMBER_PURCHASES,
  type PaymentError,
  type SignInRefused,
  type SignInRequired,
  type WalletUnknown,
  type ResourceKind,
  Usdt,
  type WrongCredential
} from "@agentos/core"
import { Match } from "effect"
import type { ErrorParts, FailedRequest } from "./ErrorEnvelope.ts"
import { callOf, findOf, listOf, paymentOf, readOf, retryOf, startOf } from "./NextCalls.ts"

/** Every error that the domain returns for a request. */
export type DomainError =
  | CheckError
  | ContentNotStored
  | CredentialRefused
  | WrongCredential
  | PaymentError
  | SignInRequired
  | SignInRefused
  | WalletUnknown

/** RFC 6750, section 3. */
const challengeBearer = { "WWW-Authenticate": 'Bearer error="invalid_token"' }

const signIn = callOf("auth.token")

const retryAfter = (seconds: number) => ({ "Retry-After": `${seconds}` })

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** Maps each domain error to its response. The compiler checks that none is missing. */
export const domainErrorParts = (error: DomainError, request: FailedRequest): ErrorParts =>
  Match.valueTags(error, {
    InvalidRequest: ({ issues, message }): ErrorParts => ({
      code: "INVALID_REQUEST",
      message: sentence(message),
      issues
    }),
    ResourceNotFound: ({ id, kind }): ErrorParts => ({
      code: "RESOURCE_NOT_FOUND",
      message:
        kind === "webhook"
          ? "No event webhook is set. POST /api/v1/events/webhook with a url sets one."
          : notFoundMessage(kind, id),
      next: findOf(kind)
    }),
    ResourceNotOwned: ({ id, kind }): ErrorParts => ({
      code: "RESOURCE_NOT_OWNED",
      message: `The ${kind} ${id} belongs to another tenant. Use one of your own.${howToList(kind)}`,
      next: findOf(kind)
    }),
    ContentNotStored: ({ message }): ErrorParts => ({
      code: "RESOURCE_NOT_FOUND",
      message: sentence(message),
      next: findOf("attachment")
    }),
    NumberReleased: ({ country, phoneNumberId }): ErrorParts => ({
      code: "NUMBER_RELEASED",
      message: `The number ${phoneNumberId} has been released or has expired. Buy another number.`,
      next: callOf(NUMBER_PURCHASES[country])
    }),
    NumberExpiring: ({ phoneNumberId }): ErrorParts => ({
      code: "NUMBER_EXPIRING",
      message: `The number ${phoneNumberId} expires before this operation would end. Renew the number first.`,
      next: callOf("phone.number.renew.30d")
    }),
    AllowanceExhausted: ({ phoneNumberId }): ErrorParts => ({
      code: "ALLOWANCE_EXHAUSTED",
      message: `The call ended because its number ${phoneNumberId} had no inbound minutes left. Buy inbound minutes, so that the number can receive calls.`,
      next: callOf("phone.call.inbound.add.10m")
    }),
    ProviderUnavailable: ({ message, retryAfterSeconds }): ErrorParts => ({
      code: "PROVIDER_TEMPORARY_FAILURE",
      message: `${sentence(message)} Retry in ${retryAfterSeconds} s.`,
      retryable: true,
      next: retryOf(request),
      headers: retryAfter(retryAfterSeconds)
    }),
    Conflict: ({ message, read }): ErrorParts => ({
      code: "CONFLICT",
      message: sentence(message),
      // Nothing to read explains it: the request itself has to change.
      next: read === undefined ? retryOf(request) : readOf(read)
    }),
    QuotaExceeded: ({ message, quota, retryAfterSeconds }): ErrorParts => ({
      code: "QUOTA_EXCEEDED",
      message: sentence(message),
      retryable: true,
      quota,
      next: callOf("limits.list"),
      headers: retryAfter(retryAfterSeconds)
    }),
    CredentialRefused: ({ message }): ErrorParts => ({
      code: "AUTH_REQUIRED",
      message: `${sentence(message)} Sign in with your wallet to get its current token, which is free: ${signIn.method} ${signIn.path}.`,
      next: signIn,
      headers: challengeBearer
    }),
    WrongCredential: ({ message }): ErrorParts => ({
      code: "INVALID_TOKEN",
      message: sentence(message),
      headers: challengeBearer
    }),
    SignInRequired: ({ challenge }): ErrorParts => ({
      code: "PAYMENT_REQUIRED",
      message:
        "Sign in with your wallet. No payment is needed. Sign the message in the extension sign-in-with-x of the PAYMENT-REQUIRED header, then repeat the request with SIGN-IN-WITH-X.",
      next: retryOf(request),
      headers: { "PAYMENT-REQUIRED": challenge }
    }),
    SignInRefused: ({ message }): ErrorParts => ({
      code: "AUTH_REQUIRED",
      message: `${sentence(message)} Nothing was changed. Repeat the request without SIGN-IN-WITH-X to get a new message to sign.`,
      next: retryOf(request),
      headers: { "WWW-Authenticate": "SIGN-IN-WITH-X" }
    }),
    WalletUnknown: ({ wallet }): ErrorParts => ({
      code: "RESOURCE_NOT_FOUND",
      message: `The wallet ${wallet} has bought nothing here, so it has no access token. Call a start-here service to get one.`,
      next: startOf(request)
    }),
    PaymentRequired: ({ challenge, endedOperationId, reason, remedy }): ErrorParts => ({
      code: "PAYMENT_REQUIRED",
      message:
        endedOperationId === undefined
          ? reason === null
            ? `${priceOf(request)} Pay the challenge in the PAYMENT-REQUIRED header, then repeat the identical request with PAYMENT-SIGNATURE and Idempotency-Key.`
            : `Payment refused: ${sentence(reason)} ${remedy ?? SIGN_ANEW}`
          : `Payment refused: ${sentence(reason ?? "it was not made")} Operation ${endedOperationId} has ended, and its payment can no longer be used. Sign a new payment for the challenge in the PAYMENT-REQUIRED header, then repeat the request with PAYMENT-SIGNATURE and a new Idempotency-Key.`,
      paymentState: "none",
      ...(endedOperationId === undefined ? {} : { operationId: endedOperationId }),
      next: retryOf(request),
      headers: { "PAYMENT-REQUIRED": challenge }
    }),
    AllowanceRequired: ({ message, transaction }): ErrorParts => ({
      code: "PERMIT2_ALLOWANCE_REQUIRED",
      message: `${sentence(message)} Then repeat the identical request. Nothing was charged.`,
      paymentState: "none",
      transaction,
      next: retryOf(request)
    }),
    IdempotencyConflict: ({ message, paymentState }): ErrorParts => ({
      code: "IDEMPOTENCY_CONFLICT",
      message: `${sentence(message)}${paymentState === "none" ? "" : " This request charged nothing."} ${
        paymentState === "unknown"
          ? "Another request may have charged the payment. Repeat that request with its own key, payment and access token. Do not sign another payment."
          : "Repeat the original request with its own key and payment, or use a new key and a new payment for a new operation."
      }`,
      paymentState,
      next: callOf("payment.status")
    }),
    PayerMismatch: ({ payer, paymentState }): ErrorParts => ({
      code: "FORBIDDEN",
      message: `The payment is signed by ${payer}, which is not the wallet of this access token. Pay from the token's wallet, or send the access token of the wallet that pays. Sign in with it to get that token, which is free: ${signIn.method} ${signIn.path}.`,
      next: signIn,
      paymentState
    }),
    TenantSuspended: ({ reason }): ErrorParts => ({
      code: "FORBIDDEN",
      message: `Your account is suspended: ${sentence(reason)} You can still read and acknowledge events. Contact the operator of this service.`
    }),
    SaleStopped: ({ network, reason, retryAfterSeconds, serviceId }): ErrorParts => ({
      code: "SERVICE_UNAVAILABLE",
      message:
        network === undefined
          ? `The operator has stopped the sale of ${serviceId}: ${sentence(reason)} Retry in ${retryAfterSeconds} s, or see the catalog for the services that are available. Operations that are already paid continue.`
          : `The operator has stopped payments on ${network}: ${sentence(reason)} The payment was not submitted. Repeat the request without it for a challenge on another network, or retry with it in ${retryAfterSeconds} s.`,
      retryable: true,
      next: network === undefined ? callOf("discovery.services") : retryOf(request),
      headers: retryAfter(retryAfterSeconds)
    }),
    PaymentPending: ({ operationId, paymentState, refusal, retryAfterSeconds }): ErrorParts => ({
      code: "PAYMENT_PENDING",
      message: `${refusal === undefined ? `Operation ${operationId} is in progress.` : `The payment of operation ${operationId} was refused: ${sentence(refusal)} Until it expires, others can still submit it.`} Repeat the identical request with the same Idempotency-Key and PAYMENT-SIGNATURE in ${retryAfterSeconds} s. Do not sign another payment.`,
      retryable: true,
      paymentState,
      operationId,
      next: retryOf(request),
      headers: retryAfter(retryAfterSeconds)
    }),
    OperationDelayed: ({ message, operationId, paymentState, retryAfterSeconds }): ErrorParts => ({
      code: "PROVIDER_TEMPORARY_FAILURE",
      message: `${sentence(message)} Repeat the identical request with the same Idempotency-Key and PAYMENT-SIGNATURE in ${retryAfterSeconds} s. You are charged at most once.`,
      retryable: true,
      paymentState,
      operationId: operationId ?? undefined,
      next: retryOf(request),
      headers: retryAfter(retryAfterSeconds)
    }),
    AnswerExpired: ({ operationId }): ErrorParts => ({
      code: "ANSWER_EXPIRED",
      message: `Operation ${operationId} was paid and fulfilled, and its response is no longer kept. This request charged nothing and did nothing again. Use a new key and a new payment for a new operation.`,
      paymentState: "settled",
      operationId,
      next: paymentOf(operationId)
    }),
    PaymentReturned: ({ operationId, paymentState, receipt }): ErrorParts => ({
      code: "IDEMPOTENCY_CONFLICT",
      message:
        paymentState === "refunded"
          ? `Operation ${operationId}: this payment reached the chain before the server claimed it, so it bought nothing. It has been refunded to the wallet that paid. Use a new key and a new payment for a new operation.`
          : `Operation ${operationId}: this payment reached the chain before the server claimed it, so it bought nothing. It is being refunded to the wallet that paid. Do not sign another payment. Repeat the identical request to see when the refund is complete.`,
      paymentState,
      operationId,
      next: paymentState === "refunded" ? paymentOf(operationId) : retryOf(request),
      headers: paymentResponse(receipt)
    }),
    OperationRejected: ({ message, operationId, paymentState, receipt }): ErrorParts => ({
      code: "PROVIDER_REJECTED",
      message: `${sentence(message)} Operation ${operationId} failed permanently. Its payment ${paymentState === "refunded" ? "has been" : "is being"} refunded to the wallet that paid.`,
      paymentState,
      operationId,
      next: paymentOf(operationId),
      headers: paymentResponse(receipt)
    })
  })

const SIGN_ANEW =
  "Sign a new payment for the challenge in the PAYMENT-REQUIRED header, then repeat the identical request with it as PAYMENT-SIGNATURE, and with Idempotency-Key."

/** The signed receipt of a refund, once it is known. */
const paymentResponse = (receipt: string | null): Readonly<Record<string, string>> =>
  receipt === null ? {} : { "payment-response": receipt }

const priceOf = ({ entry }: FailedRequest): string =>
  entry === null || entry.price === null
    ? "Payment required."
    : `Payment required: ${Usdt.toDecimal(entry.price)} USDT.`

/** Returns the message about an id that no resource of the kind has. */
export const notFoundMessage = (kind: ResourceKind, id: string): string => `No such ${kind}: ${id}.${howToList(kind)}`

/** Names the call that lists the caller's own resources of a kind, if there is one. */
const howToList = (kind: ResourceKind): string => {
  const list = listOf(kind)
  return list === undefined ? "" : ` ${list.method} ${list.path} lists the valid ids.`
}
