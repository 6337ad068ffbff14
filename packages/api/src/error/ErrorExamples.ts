import {
  AllowanceExhausted,
  AllowanceRequired,
  AnswerExpired,
  Conflict,
  CredentialRefused,
  type ErrorCode,
  IdempotencyConflict,
  invalid,
  isStartHere,
  NumberExpiring,
  NumberReleased,
  onboardingService,
  OperationDelayed,
  OperationRejected,
  PayerMismatch,
  PaymentPending,
  PaymentRequired,
  ProviderUnavailable,
  type ResourceKind,
  ResourceNotFound,
  QuotaExceeded,
  ResourceNotOwned,
  SignInRefused,
  SignInRequired,
  TenantSuspended,
  WalletUnknown,
  WrongCredential
} from "@agentos/core"
import { EVENT_EXAMPLES } from "../example/EventExamples.ts"
import { CALL, MAILBOX, OPERATION_ID, PHONE_NUMBER, REQUEST_ID } from "../example/ResourceExamples.ts"
import { inputsOf } from "../operation/Inputs.ts"
import type { ApiOperation } from "../operation/ApiOperation.ts"
import type { ErrorEnvelope } from "./ErrorEnvelope.ts"
import {
  BodyTooLarge,
  CrossSiteSignIn,
  HeadersTooLarge,
  InternalError,
  MediaTypeUnsupported,
  MethodNotAllowed,
  OnboardingRequired,
  RateLimited,
  RequestTimedOut,
  ServiceUnavailable,
  UpgradeRequired,
  UriTooLong
} from "./RequestError.ts"
import { type ApiError, toWireError } from "./WireError.ts"

const CAPABILITIES = { email: true, phone: true }
const WALLET = EVENT_EXAMPLES["payment.completed"].payload.payer
const RETRY_AFTER_SECONDS = 5

/** approve(Permit2, 2^256 - 1) of Ethereum's USDT. */
const APPROVAL = {
  network: "eip155:1",
  to: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
  data: `0x095ea7b3000000000000000000000000000000000022d473030f116ddee9f6b43ac78ba3${"f".repeat(64)}`
}

/** The kind of resource that an input identifies. */
const KINDS: Readonly<Record<string, ResourceKind>> = {
  mailboxId: "mailbox",
  messageId: "message",
  phoneNumberId: "number",
  callId: "call",
  eventId: "event",
  operationId: "operation",
  serviceId: "service"
}

/** Returns the resource that an operation names first, with the id of its example; the webhook if it names none. */
const resourceOf = (operation: ApiOperation): { readonly kind: ResourceKind; readonly id: string } => {
  const [found] = inputsOf(operation).flatMap(({ name, schema }) => {
    const kind = KINDS[name]
    const { examples } = schema
    const [id] = Array.isArray(examples) ? examples : []
    return kind === undefined || typeof id !== "string" ? [] : [{ kind, id: kind === "service" ? `${id}.x` : id }]
  })
  return found ?? { kind: "webhook", id: "" }
}

const isPaid = ({ entry }: ApiOperation): boolean => entry.price !== null
const isSignIn = ({ entry }: ApiOperation): boolean => entry.authentication === "sign-in-with-x"

/** Returns an invalid request: without a required property, or with an unknown query parameter. */
const invalidRequest = (operation: ApiOperation): ApiError => {
  const required = inputsOf(operation).find((input) => input.in === "body" && input.required)
  return required === undefined
    ? invalid("page", "unknown query parameter `page`")
    : invalid(required.name, `missing property \`${required.name}\``)
}

const conflict = ({ name }: ApiOperation): ApiError =>
  name === "extendCall"
    ? new Conflict({
        message: `The call ${CALL.callId} has ended. Only a call in progress can be extended.`,
        read: { kind: "call", id: CALL.callId }
      })
    : new Conflict({
        message: `localPart is already taken: ${MAILBOX.address}. Choose another one, or send your access token if the mailbox was yours.`
      })

const temporaryFailure = (operation: ApiOperation): ApiError => {
  if (isPaid(operation)) {
    const message = "The provider is unavailable; the operation will be retried."
    return new OperationDelayed({
      operationId: OPERATION_ID,
      paymentState: "settled",
      message,
      retryAfterSeconds: RETRY_AFTER_SECONDS
    })
  }
  const message = isSignIn(operation)
    ? "The chain can't be read."
    : "The number is suspended, but the carrier has not confirmed its release yet: timeout."
  return new ProviderUnavailable({ message, retryAfterSeconds: RETRY_AFTER_SECONDS })
}

/** Returns an error with each code, as an operation returns it. */
const SAMPLES: { readonly [Code in ErrorCode]: (operation: ApiOperation) => ApiError } = {
  INVALID_REQUEST: invalidRequest,
  AUTH_REQUIRED: (operation) =>
    isSignIn(operation)
      ? new SignInRefused({ message: "The sign-in message was already used" })
      : new CredentialRefused({ message: "The access token is not valid." }),
  INVALID_TOKEN: () =>
    new WrongCredential({
      message: "A realtime token is valid for the WebSocket only. Send the access token here."
    }),
  PAYMENT_REQUIRED: (operation) =>
    isSignIn(operation) ? new SignInRequired({ challenge: "" }) : new PaymentRequired({ challenge: "", reason: null }),
  FORBIDDEN: (operation) => {
    if (isSignIn(operation))
      return new CrossSiteSignIn({ publicUrl: "https://agentos.example", setting: "signInOrigins" })
    return isPaid(operation)
      ? new PayerMismatch({ payer: WALLET, paymentState: "none" })
      : new TenantSuspended({ reason: "complaints about unsolicited mail" })
  },
  RESOURCE_NOT_OWNED: (operation) => new ResourceNotOwned(resourceOf(operation)),
  RESOURCE_NOT_FOUND: (operation) =>
    isSignIn(operation) ? new WalletUnknown({ wallet: WALLET }) : new ResourceNotFound(resourceOf(operation)),
  METHOD_NOT_ALLOWED: ({ entry: { method, path } }) => new MethodNotAllowed({ method: "PUT", path, allowed: [method] }),
  REQUEST_TIMEOUT: () => new RequestTimedOut(),
  CONFLICT: conflict,
  IDEMPOTENCY_CONFLICT: () =>
    new IdempotencyConflict({
      message: "This Idempotency-Key and payment were already used for a request with another body or query.",
      paymentState: "settled"
    }),
  ANSWER_EXPIRED: () => new AnswerExpired({ operationId: OPERATION_ID }),
  PAYMENT_PENDING: () =>
    new PaymentPending({
      operationId: OPERATION_ID,
      paymentState: "settled",
      retryAfterSeconds: RETRY_AFTER_SECONDS
    }),
  ALLOWANCE_EXHAUSTED: () => new AllowanceExhausted({ phoneNumberId: PHONE_NUMBER.phoneNumberId }),
  NUMBER_EXPIRING: () => new NumberExpiring({ phoneNumberId: PHONE_NUMBER.phoneNumberId }),
  NUMBER_RELEASED: () => new NumberReleased({ phoneNumberId: PHONE_NUMBER.phoneNumberId, country: "US" }),
  PERMIT2_ALLOWANCE_REQUIRED: () =>
    new AllowanceRequired({
      message:
        `The wallet ${WALLET} must let Permit2 move its tokens on ${APPROVAL.network}, once. It allows 0 base units now. ` +
        `Send a transaction from it to ${APPROVAL.to}, without value, with the data ${APPROVAL.data}.`,
      transaction: APPROVAL
    }),
  PAYLOAD_TOO_LARGE: ({ entry }) => new BodyTooLarge({ limitBytes: isStartHere(entry) ? 16_384 : 65_536 }),
  URI_TOO_LONG: () => new UriTooLong({ limitBytes: 8_192 }),
  UNSUPPORTED_MEDIA_TYPE: () =>
    new MediaTypeUnsupported({
      message: "Content-Type text/plain is not supported. Send JSON, with Content-Type: application/json."
    }),
  UPGRADE_REQUIRED: () => new UpgradeRequired(),
  ONBOARDING_REQUIRED: ({ entry }) =>
    new OnboardingRequired({ startWith: onboardingService(entry, CAPABILITIES)?.serviceId ?? "email.mailbox.create" }),
  RATE_LIMITED: () => new RateLimited({ retryAfterSeconds: 2, limit: "1200 requests in 60 s from one address" }),
  QUOTA_EXCEEDED: ({ name }) =>
    name === "sendMessage"
      ? new QuotaExceeded({
          quota: "mail_recipients_per_day",
          message:
            "The message has 3 recipients, but 1 of your 200 a day are left. Send to fewer, or after 2026-02-01T00:00:00.000Z. The limit grows with use.",
          retryAfterSeconds: 43_200
        })
      : new QuotaExceeded({
          quota: "calls_at_once",
          message: "The number has reached its limit of 5 concurrent outbound calls. Wait until one ends.",
          retryAfterSeconds: 10
        }),
  HEADERS_TOO_LARGE: () => new HeadersTooLarge({ limitBytes: 32_768 }),
  INTERNAL_ERROR: (operation) => new InternalError({ withPayment: isPaid(operation) }),
  PROVIDER_TEMPORARY_FAILURE: temporaryFailure,
  PROVIDER_REJECTED: () =>
    new OperationRejected({
      operationId: OPERATION_ID,
      paymentState: "refund_due",
      message: "The provider refused the request permanently.",
      receipt: null
    }),
  SERVICE_UNAVAILABLE: ({ entry }) => new ServiceUnavailable({ ever: entry.capability !== "never" })
}

/** Returns the path of the example's request. */
const pathOf = ({ entry, example }: ApiOperation): string => {
  const values: Readonly<Record<string, unknown>> = { ...(example?.params as object | undefined) }
  return entry.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
}

/** Returns the body with which the server answers a request for an operation that fails with this code. */
export const errorExample = (code: ErrorCode, operation: ApiOperation): ErrorEnvelope =>
  toWireError(SAMPLES[code](operation), {
    requestId: REQUEST_ID,
    method: operation.entry.method,
    path: pathOf(operation),
    entry: operation.entry,
    capabilities: CAPABILITIES,
    paymentState: "none"
  }).body

/** The errors that mean something else for an operation that a wallet signs in to. */
const OF_SIGN_IN: ReadonlySet<ErrorCode> = new Set([
  "AUTH_REQUIRED",
  "PAYMENT_REQUIRED",
  "FORBIDDEN",
  "RESOURCE_NOT_FOUND",
  "PROVIDER_TEMPORARY_FAILURE"
])

/** Returns how an error of an operation differs from that of others: by the resource, or by its meaning. */
const subjectOf = (code: ErrorCode, operation: ApiOperation): string | undefined => {
  if (isSignIn(operation) && OF_SIGN_IN.has(code)) return "SIGN_IN"
  if (code === "RESOURCE_NOT_FOUND" || code === "RESOURCE_NOT_OWNED") return resourceOf(operation).kind.toUpperCase()
  if (code === "CONFLICT" && operation.name === "extendCall") return "CALL"
  return code === "SERVICE_UNAVAILABLE" && operation.entry.capability === "never" ? "RESERVED" : undefined
}

/**
 * Returns the name of the example of an error. Operations share an example if theirs differ at most by the path and the
 * inputs of the request: free and paid ones have one each, and so has each kind of resource.
 */
export const errorExampleName = (code: ErrorCode, operation: ApiOperation): string =>
  [code, subjectOf(code, operation), isPaid(operation) ? "PAID" : undefined].filter(Boolean).join("_")
