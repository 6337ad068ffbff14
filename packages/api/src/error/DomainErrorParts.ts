import { type CheckError, type CredentialRefused, type PaymentError, Usdt, type WrongCredential } from "@agentos/core"
import { Match } from "effect"
import type { ErrorParts, FailedRequest } from "./ErrorParts.ts"
import { again, callOf, listOf } from "./NextCalls.ts"

/** Every error that the domain returns for a request. */
export type DomainError = CheckError | CredentialRefused | WrongCredential | PaymentError

/** RFC 6750, section 3. */
const challengeBearer = { "WWW-Authenticate": 'Bearer error="invalid_token"' }

const retryAfter = (seconds: number) => ({ "Retry-After": `${seconds}` })

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** Maps each domain error to its response. The compiler checks that none is missing. */
export const domainErrorParts = (error: DomainError, request: FailedRequest): ErrorParts =>
  Match.valueTags(error, {
    InvalidRequest: ({ issues, message }): ErrorParts => {
      const [only, ...more] = issues
      const text = only !== undefined && more.length === 0 && only.path !== "" ? `${only.path}: ${message}` : message
      return { code: "INVALID_REQUEST", message: sentence(text), issues }
    },
    ResourceNotFound: ({ id, kind }): ErrorParts => ({
      code: "RESOURCE_NOT_FOUND",
      message: `There is no ${kind} ${id}.`,
      next: listOf(kind)
    }),
    ResourceNotOwned: ({ id, kind }): ErrorParts => ({
      code: "RESOURCE_NOT_OWNED",
      message: `The ${kind} ${id} belongs to another tenant; use one of your own.`,
      next: listOf(kind)
    }),
    NumberReleased: ({ phoneNumberId }): ErrorParts => ({
      code: "NUMBER_RELEASED",
      message: `The number ${phoneNumberId} is given back or its time is over, for good. Buy another.`,
      next: callOf("phone.number.us.30d")
    }),
    NumberExpiring: ({ phoneNumberId }): ErrorParts => ({
      code: "NUMBER_EXPIRING",
      message: `This would last longer than the entitlement of the number ${phoneNumberId}. Renew it first.`,
      next: callOf("phone.number.renew.30d")
    }),
    AllowanceExhausted: ({ phoneNumberId }): ErrorParts => ({
      code: "ALLOWANCE_EXHAUSTED",
      message: `Inbound calls last as long as the inbound minutes of their number ${phoneNumberId}. Buy minutes.`,
      next: callOf("phone.call.inbound.add.10m")
    }),
    ProviderUnwell: ({ message, retryAfterSeconds }): ErrorParts => ({
      code: "PROVIDER_TEMPORARY_FAILURE",
      message: `${sentence(message)} Try again in ${retryAfterSeconds} s.`,
      retryable: true,
      next: again(request),
      headers: retryAfter(retryAfterSeconds)
    }),
    Conflict: ({ message }): ErrorParts => ({ code: "CONFLICT", message: sentence(message) }),
    CredentialRefused: ({ message }): ErrorParts => ({
      code: "AUTH_REQUIRED",
      message: `${sentence(message)} Send the access token that a start-here service gave you, or begin with one.`,
      next: callOf("email.mailbox.create"),
      headers: challengeBearer
    }),
    WrongCredential: ({ message }): ErrorParts => ({
      code: "INVALID_TOKEN",
      message: sentence(message),
      headers: challengeBearer
    }),
    PaymentRequired: ({ challenge, reason }): ErrorParts => ({
      code: "PAYMENT_REQUIRED",
      message: `${reason === null ? costs(request) : `The payment was not taken: ${sentence(reason)}`} Pay the challenge in the PAYMENT-REQUIRED header, and repeat the identical request with PAYMENT-SIGNATURE and an Idempotency-Key.`,
      next: again(request),
      headers: { "PAYMENT-REQUIRED": challenge }
    }),
    IdempotencyConflict: ({ message, paymentState }): ErrorParts => ({
      code: "IDEMPOTENCY_CONFLICT",
      message: `${sentence(message)} Repeat the original request with its own key and payment, or use a new key and payment for a new operation.`,
      paymentState
    }),
    PayerMismatch: ({ payer }): ErrorParts => ({
      code: "FORBIDDEN",
      message: `The payment is signed by ${payer}, which is not the wallet of this access token. Pay from the token's wallet, or call with the payer's own token.`
    }),
    TenantSuspended: ({ reason }): ErrorParts => ({
      code: "FORBIDDEN",
      message: `The operator of this service has suspended your account: ${sentence(reason)} You can still read and acknowledge. Contact the operator.`
    }),
    PaymentPending: ({ operationId, paymentState, retryAfterSeconds }): ErrorParts => ({
      code: "PAYMENT_PENDING",
      message: `Operation ${operationId} is under way. Repeat the identical request, with the same Idempotency-Key and PAYMENT-SIGNATURE, in ${retryAfterSeconds} s; do not sign another payment.`,
      retryable: true,
      paymentState,
      next: again(request),
      headers: retryAfter(retryAfterSeconds)
    }),
    OperationDelayed: ({ message, paymentState, retryAfterSeconds }): ErrorParts => ({
      code: "PROVIDER_TEMPORARY_FAILURE",
      message: `${sentence(message)} Repeat the identical request, with the same Idempotency-Key and PAYMENT-SIGNATURE, in ${retryAfterSeconds} s: it is charged once at most.`,
      retryable: true,
      paymentState,
      next: again(request),
      headers: retryAfter(retryAfterSeconds)
    }),
    PaymentReturned: ({ operationId, paymentState }): ErrorParts => ({
      code: "IDEMPOTENCY_CONFLICT",
      message:
        paymentState === "refunded"
          ? `Operation ${operationId}: this payment bought nothing, because it reached the chain before the server had claimed it, and has been returned to the wallet that made it. Use a new key and payment for a new operation.`
          : `Operation ${operationId}: this payment reached the chain before the server had claimed it. It bought nothing, and is being returned to the wallet that made it. Do not sign another payment for it; repeat the identical request to see when it has been returned.`,
      paymentState,
      next: paymentState === "refunded" ? undefined : again(request)
    }),
    OperationRejected: ({ message, operationId, paymentState }): ErrorParts => ({
      code: "PROVIDER_REJECTED",
      message: `${sentence(message)} Operation ${operationId} can't be done; its payment ${paymentState === "refunded" ? "has gone back" : "goes back"} to the wallet that made it.`,
      paymentState
    })
  })

const costs = ({ entry }: FailedRequest): string =>
  entry === null || entry.price === null ? "This has to be paid." : `This costs ${Usdt.toDecimal(entry.price)} USDT.`
