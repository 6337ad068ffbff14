import {
  LimitRecord,
  PaymentNetworkRecord,
  PaymentStatusRecord,
  plainText,
  SendingPauseRecord,
  Uuid,
  WalletAddress
} from "@agentos/core"
import { Schema } from "effect"
import { ACCESS_TOKEN, MAILBOX, OPERATION_ID, PAYMENT } from "../example/ResourceExamples.ts"
import { ApiDescription, apiDescription } from "./ApiDescription.ts"
import { operation } from "./ApiOperation.ts"
import { ServiceRecord } from "./ServiceRecord.ts"

const SERVICE_ID_LIMIT = 128

/** The record of `deleteMailbox` on a server with both halves of the service. */
const SERVICE: typeof ServiceRecord.Encoded = {
  serviceId: "email.mailbox.delete",
  method: "POST",
  path: "/api/v1/email/mailboxes/delete",
  price: { amount: "0.01", asset: "USDT" },
  authentication: "bearer",
  startHere: false,
  available: true,
  marketplaceListing: true,
  guide: "/docs#mailboxes",
  purpose: "Deletes a mailbox and all its messages. Its address stays reserved to your wallet.",
  inputs: [
    {
      name: "mailboxId",
      in: "body",
      required: true,
      type: "string",
      format: "uuid",
      example: MAILBOX.mailboxId,
      description: "Id of your mailbox."
    }
  ],
  errors: [
    "INVALID_REQUEST",
    "AUTH_REQUIRED",
    "INVALID_TOKEN",
    "PAYMENT_REQUIRED",
    "FORBIDDEN",
    "CONFLICT",
    "IDEMPOTENCY_CONFLICT",
    "PAYMENT_PENDING",
    "ANSWER_EXPIRED",
    "PERMIT2_ALLOWANCE_REQUIRED",
    "RATE_LIMITED",
    "PROVIDER_TEMPORARY_FAILURE",
    "PROVIDER_REJECTED",
    "SERVICE_UNAVAILABLE",
    "ONBOARDING_REQUIRED",
    "RESOURCE_NOT_FOUND",
    "RESOURCE_NOT_OWNED",
    "URI_TOO_LONG",
    "HEADERS_TOO_LARGE",
    "INTERNAL_ERROR",
    "REQUEST_TIMEOUT",
    "PAYLOAD_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE"
  ],
  nextActions: [
    {
      serviceId: "email.mailbox.create",
      method: "POST",
      path: "/api/v1/email/mailboxes",
      why: "Create a mailbox with the same address, or another one."
    }
  ]
}

/** The description of a server in production, with two of its services. */
const DESCRIPTION: typeof ApiDescription.Encoded = {
  ...apiDescription("production", { email: true, phone: true }, [
    {
      network: "eip155:196",
      asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
      payTo: "0x52908400098527886E0F7030069857D2E4169EE7",
      maxTimeoutSeconds: 900,
      extra: { name: "USDT", version: "1" }
    }
  ]),
  services: [
    {
      serviceId: "email.mailbox.create",
      method: "POST",
      path: "/api/v1/email/mailboxes",
      price: { amount: "0.25", asset: "USDT" },
      available: true
    },
    {
      serviceId: "email.mailbox.list",
      method: "GET",
      path: "/api/v1/email/mailboxes/query",
      price: null,
      available: true
    }
  ]
}

const PAYMENT_NETWORKS: ReadonlyArray<typeof PaymentNetworkRecord.Encoded> = [
  {
    network: "eip155:196",
    asset: "0x779Ded0c9e1022225f8E0630b35a9b54bE713736",
    name: "USD\u20AE0",
    symbol: "USDT",
    transferMethod: "eip3009",
    decimals: 6,
    payTo: "0x52908400098527886E0F7030069857D2E4169EE7",
    balance: { amount: "4.75", baseUnits: "4750000" },
    allowance: null,
    permitNonce: null
  },
  {
    network: "eip155:56",
    asset: "0x55d398326f99059fF775485246999027B3197955",
    name: "Tether USD",
    symbol: "USDT",
    transferMethod: "permit2",
    decimals: 18,
    payTo: "0x52908400098527886E0F7030069857D2E4169EE7",
    balance: { amount: "12.50", baseUnits: "12500000000000000000" },
    allowance: { amount: "0.00", baseUnits: "0" },
    permitNonce: null
  }
]

export const DISCOVERY_OPERATIONS = {
  describeApi: operation("describeApi", {
    tag: "Discovery",
    summary: "Describe the API",
    data: ApiDescription,
    hasEntityTag: true,
    description:
      "Read it first: it says whether money is real (`environment`), which networks and tokens are accepted (`payment.accepts`), and with which services a wallet without a token starts.",
    example: { data: DESCRIPTION }
  }),

  listServices: operation("listServices", {
    tag: "Discovery",
    summary: "List services",
    data: Schema.Struct({
      items: Schema.Array(ServiceRecord).annotateKey({ description: "All services, in the order of the catalog." })
    }),
    hasEntityTag: true,
    description:
      "`available` says whether this server offers the service. It is false while the operator has stopped the sale. The catalog is the same for every client and changes only with the server and with stopped sales, so it can be cached with its ETag.",
    example: { data: { items: [SERVICE] } }
  }),

  /** An unknown id is answered with 404, so any text is accepted. */
  getService: operation("getService", {
    tag: "Discovery",
    summary: "Get a service",
    params: Schema.Struct({
      serviceId: plainText(SERVICE_ID_LIMIT).annotateKey({
        description: "Id of a service in the catalog.",
        examples: ["email.mailbox.create"]
      })
    }),
    data: Schema.Struct({ service: ServiceRecord.annotateKey({ description: "The service." }) }),
    hasEntityTag: true,
    description: "The record is the one that the list of all services has under this id.",
    example: { params: { serviceId: SERVICE.serviceId }, data: { service: SERVICE } }
  })
}

/** Reserved in this version. Always fails. */
export const DOMAIN_OPERATIONS = {
  registerDomain: operation("registerDomain", {
    tag: "Domains",
    summary: "Register a domain",
    data: Schema.Never,
    description:
      "The path is reserved for a later version of this API. A request to it changes nothing, and nothing is charged."
  })
}

const signedIn = {
  data: Schema.Struct({
    authentication: Schema.Struct({
      accessToken: Schema.String.annotateKey({ description: "The current access token of the wallet." })
    }).annotateKey({ description: "How the wallet authenticates from now on." })
  }),
  example: { data: { authentication: { accessToken: ACCESS_TOKEN } } }
} as const

const SIGN_IN =
  "The first request returns 402 with a message to sign in its PAYMENT-REQUIRED header: x402's extension sign-in-with-x, without payment terms. Sign it with the wallet, then repeat the request with SIGN-IN-WITH-X."

export const AUTH_OPERATIONS = {
  recoverToken: operation("recoverToken", {
    tag: "Authentication",
    summary: "Get your access token",
    ...signedIn,
    description: `Use it when the token is lost. ${SIGN_IN} The first sign-in of a wallet replaces the token that its first purchase returned, and pauses its event webhook, unless the request carries that token.`
  }),
  revokeTokens: operation("revokeTokens", {
    tag: "Authentication",
    summary: "Revoke access tokens",
    ...signedIn,
    description: `Use it when someone else may know a token. ${SIGN_IN} Older access tokens, realtime tokens and realtime sessions end on every server within 5 seconds. Paid requests that were already accepted are still fulfilled. The event webhook stays: set it with rotateSecret if someone else may know its secret.`
  })
}

const status = {
  data: Schema.Struct({ payment: PaymentStatusRecord.annotateKey({ description: "The state of the payment." }) })
} as const

export const PAYMENT_OPERATIONS = {
  listPaymentNetworks: operation("listPaymentNetworks", {
    tag: "Payments",
    summary: "List payment networks",
    query: Schema.Struct({
      wallet: Schema.optionalKey(
        Schema.String.check(
          Schema.isPattern(/^0x[0-9a-fA-F]{40}$/, { expected: "a wallet address: 0x and 40 hexadecimal digits" })
        )
      ).annotateKey({
        description: "Address of a wallet whose balances are read.",
        examples: ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"]
      })
    }),
    data: Schema.Struct({
      items: Schema.Array(PaymentNetworkRecord).annotateKey({
        description: "The networks, in the order of the server's preference."
      })
    }),
    description:
      "With `wallet`, each network shows the wallet's balance, and for `permit2` its allowance, as the chain showed them at most a second ago. A client picks the first network with enough of both, and names it in `Accept-Payment`. A network whose chain can't be read has `balance` null and a reason.",
    example: {
      query: { wallet: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
      data: { items: PAYMENT_NETWORKS }
    }
  }),

  /** The payment is the header PAYMENT-SIGNATURE. */
  readPaymentStatus: operation("readPaymentStatus", {
    tag: "Payments",
    summary: "Check a payment",
    ...status,
    description:
      "For a client that lost a response or crashed after signing: follow `payment.advice` until it is done or pay. Send the PAYMENT-SIGNATURE header of the original request byte for byte. A header that was encoded anew shows the state and the advice only. It needs no token.",
    example: { data: { payment: PAYMENT } }
  }),

  getPayment: operation("getPayment", {
    tag: "Payments",
    summary: "Get an operation's payment",
    params: Schema.Struct({
      operationId: Uuid.GivenUuid.annotateKey({
        description: "Id of your operation, from the answer to a paid request or from a payment event.",
        examples: ["019ab1cb-1c5d-7f39-8f6f-02a8a0c1d9b4"]
      })
    }),
    ...status,
    description:
      "The operation id is in the response of a paid request, in its events and in `PAYMENT_PENDING` messages. Follow `payment.advice` until it is done or pay.",
    example: { params: { operationId: OPERATION_ID }, data: { payment: PAYMENT } }
  })
}

const MEBIBYTE = 1024 ** 2

export const LIMIT_OPERATIONS = {
  listLimits: operation("listLimits", {
    tag: "Limits",
    data: Schema.Struct({
      items: Schema.Array(LimitRecord).annotateKey({ description: "The limits, those of mail first." }),
      sendingPause: Schema.NullOr(SendingPauseRecord).annotateKey({
        description: "The pause of your sending after too many bounces or complaints. Null if it is not paused."
      }),
      callableCountries: Schema.Array(Schema.String).annotateKey({
        description: "Countries and territories that may be called (ISO 3166-1 alpha-2)."
      }),
      wallet: WalletAddress.annotateKey({ description: "The wallet of the access token, in lower case." })
    }),
    summary: "List limits",
    description:
      "The values are those of this server and of this moment. A request above a limit fails before anything is charged: with `QUOTA_EXCEEDED` and Retry-After, or with `CONFLICT` if only a deletion helps. The rate limits of requests are in the headers RateLimit and RateLimit-Policy instead.",
    example: {
      data: {
        items: [
          {
            name: "mail_recipients_per_day",
            scope: "wallet",
            description:
              "Recipients of sent messages in a day (UTC). It doubles after each day on which half of it was used.",
            limit: 200,
            used: 12,
            resetsAt: "2026-02-01T00:00:00.000Z"
          },
          {
            name: "mailbox_bytes",
            scope: "mailbox",
            description: "Bytes of the messages in one mailbox.",
            limit: 1_024 * MEBIBYTE,
            used: null,
            resetsAt: null
          }
        ],
        sendingPause: null,
        callableCountries: ["CA", "US"],
        wallet: "0x857b06519e91e3a54538791bdbb0e22373e36b66"
      }
    }
  })
}
