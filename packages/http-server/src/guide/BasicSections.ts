import { API_CATALOG_PATH, ASYNCAPI_PATH, OPENAPI_PATH, X402_PATH } from "@agentos/api"
import { IDEMPOTENCY_KEY_LIMIT, SERVICES } from "@agentos/core"
import type { GuideSection } from "./GuideBlock.ts"
import { type GuideContext, serviceBlocks, serviceRow } from "./GuideContext.ts"

const discovery = (context: GuideContext): GuideSection => ({
  anchor: "discovery",
  title: "Services and prices",
  blocks: [
    {
      text: `This is a REST API for autonomous agents, served at \`${context.publicUrl}\`. It provides real mailboxes and real phone numbers, and charges a fixed price per call in USDT through x402. The paying wallet is the account: there is no sign-up.`
    },
    {
      text:
        context.environment === "sandbox"
          ? "This server is a sandbox: it uses its own local chain with test money, and nothing it sends leaves the machine."
          : "This server is in production: calls cost real money and reach real people."
    },
    {
      header: ["Service", "Call", "Price", "Authentication", "Available here"],
      rows: SERVICES.map((entry) => serviceRow(entry, context))
    },
    {
      text: `\`GET /api/v1/services\` returns the same as data, with inputs, errors and next actions. \`GET /api/v1/services/{serviceId}\` returns one service. \`GET ${OPENAPI_PATH}\` describes every type and limit as OpenAPI 3.1, with examples, and \`GET ${ASYNCAPI_PATH}\` the messages of the WebSocket as AsyncAPI 3.`
    },
    {
      text: `\`GET /api/v1\` lists the accepted networks and tokens with their recipients. For directories and crawlers: \`x-payment-info\` in the OpenAPI document, \`${X402_PATH}\` and \`${API_CATALOG_PATH}\` (RFC 9727).`
    },
    {
      text: "A successful response is `{data, requestId, guide}`, an error is `{error, guides}`. The requestId is also in the X-Request-Id header. Quote it when you report a problem. Browsers may call the API from a page of any origin, without cookies."
    }
  ]
})

const payments = ({ publicUrl }: GuideContext): GuideSection => ({
  anchor: "payments",
  title: "How to pay",
  blocks: [
    {
      steps: [
        "Send the request without payment. The response is 402 with a PAYMENT-REQUIRED header: base64 of an x402 version 2 challenge, scheme `exact`, with the price, the token and the networks to choose from. It is valid for 15 minutes, and only for this method, path, query and body.",
        "Show the price to your principal, get approval, and let an x402 client sign the payment. No money has moved yet.",
        `Repeat the identical request, byte for byte, with the headers PAYMENT-SIGNATURE (the signed payment) and Idempotency-Key (a unique text of 1 to ${IDEMPOTENCY_KEY_LIMIT} characters that you choose, a new one for each operation).`,
        "The response is 200 or 201 with a PAYMENT-RESPONSE header, the receipt. You are charged once, and only if the service is delivered: if a paid operation can't be completed, the payment is refunded on the chain."
      ]
    },
    {
      code: `curl -i ${publicUrl}/api/v1/email/mailboxes -H 'Content-Type: application/json' -d '{"localPart":"ada"}'
# 402, PAYMENT-REQUIRED: …
curl -i ${publicUrl}/api/v1/email/mailboxes -H 'Content-Type: application/json' -d '{"localPart":"ada"}' \\
  -H 'PAYMENT-SIGNATURE: …' -H 'Idempotency-Key: mailbox-ada-1'
# 201, PAYMENT-RESPONSE: …`
    },
    {
      points: [
        "After a lost response, a 409 PAYMENT_PENDING, a 502 PROVIDER_TEMPORARY_FAILURE or a 500, repeat the same request with the same Idempotency-Key and the same PAYMENT-SIGNATURE. Do not sign again: the first payment may have settled. A completed operation returns the same response each time, byte for byte.",
        "You need not retry: a claimed operation continues without you. It is fulfilled, ends without a charge, or is refunded from the service's refund wallet. Once you have a token, you receive one `payment.completed` or `payment.failed` event for each operation, and `payment.refunded` when a refund has arrived (see Events).",
        "A client that sends x402's `payment-identifier` (16 to 128 characters of A-Z a-z 0-9 _ -) may omit Idempotency-Key: the identifier is then the key. A request with both uses the header.",
        "The same key with another body or payment, or the same payment with another key, returns 409 IDEMPOTENCY_CONFLICT.",
        "If a third party submits your payment to the chain before the server has claimed it, it buys nothing and is refunded to your wallet: repeat the identical request, even after the challenge has expired. The response is 409 IDEMPOTENCY_CONFLICT with `refund_due`, later with `refunded`.",
        "`error.paymentState` is the state of the payment: `none` (not charged), `pending` or `unknown` (repeat the request unchanged), `settled`, `refund_due` (the refund is under way), `refunded`.",
        "Bind the payment to the challenge if your client lets you choose the authorization's nonce: `extra.nonceTag` (8 bytes), then the first 24 bytes of SHA-256 over the ASCII text of `extra.binding`. A bound payment can't be used for another request, even if it is intercepted. A nonce with the tag that does not match the challenge is refused. A random nonce works too.",
        "Challenges carry signed offers, and PAYMENT-RESPONSE a signed receipt, also after a refund (x402 extension `offer-receipt`, as JWS with Ed25519). Their `kid` is a did:web: the keys are at `/.well-known/did.json`. A receipt names payer, service, transaction and time. That of a refund has the refund's transaction, and the payment's as `refundOf`.",
        "`extra.signatures` lists who can pay: `eoa` is a key, `eip1271` a smart account, and `eip6492` a smart account that is not deployed yet and whose factory is accepted. A payment with another signature is refused with a new challenge, and nothing is charged.",
        "For operations with a token, pay from the token's own wallet.",
        "Client libraries: `@x402/axios` works without configuration. `@x402/fetch` refuses unknown assets and amounts above $1 until you call its `setSpendControls`: allow this server's asset and the approved price. `x402-axios` (without the scope) supports only protocol version 1 and can't read these challenges."
      ]
    }
  ]
})

const paymentStatus = (context: GuideContext): GuideSection => ({
  anchor: "payment-status",
  title: "State of a payment",
  blocks: [
    {
      text: "After a crash, the signed PAYMENT-SIGNATURE header and the request that it was made for are enough to continue: read the status of the payment, and follow `payment.advice` until it is `done` or `pay`. You are charged once at most."
    },
    ...serviceBlocks("payment-status", context),
    {
      header: ["Advice", "What to do", "When"],
      rows: [
        [
          "`retry_same`",
          "Repeat the original request unchanged, with the same PAYMENT-SIGNATURE and Idempotency-Key.",
          "No operation holds the payment. It can still be used; or others submitted it to the chain, and the repeated request has it refunded."
        ],
        [
          "`wait`",
          "Read the status again after `retryAfterSeconds`. Do not sign another payment.",
          "An operation holds the payment and continues without you; or the payment can't be repeated any more, but the chain can't prove yet that it expired; or the chain can't be read."
        ],
        [
          "`done`",
          "Nothing. If it was fulfilled (`settled`), the repeated request returns the answer, without a charge.",
          "The operation is fulfilled or refunded."
        ],
        [
          "`pay`",
          "Sign a new payment if you still want the service.",
          "The chain proves that this payment moved no money to the service and never will."
        ]
      ]
    },
    {
      code: `curl -X POST ${context.publicUrl}/api/v1/payments/status -H 'PAYMENT-SIGNATURE: …'
# {"data":{"payment":{"paymentState":"settled","advice":"done","transaction":"0x…",…}},…}`
    },
    {
      points: [
        "`paymentState` has the values of `error.paymentState`. `amount` is in base units of the token. `reason` says why a payment was refused or is refunded. `refund` is null until the chain shows the refund.",
        "Send the header byte for byte. A header that was encoded anew, with the same authorization, returns only paymentState and advice. A header that is malformed, is not signed by its payer, or pays another service returns 400.",
        "A request that `retry_same` suggests may be refused with 402, for example because the wallet's balance is too low. Read the status again before you sign another payment: until the refused one expires, others can still submit it.",
        "A payment that is valid for a long time, because a clock was wrong, can be cancelled on the chain with `cancelAuthorization` of its token. Then the advice is `pay`."
      ]
    }
  ]
})

const authentication = (context: GuideContext): GuideSection => ({
  anchor: "authentication",
  title: "How to authenticate",
  blocks: [
    {
      points: [
        "A start-here service (`email.mailbox.create`, `phone.number.us.30d`, `phone.number.ca.30d`) needs no token. Its response contains yours as `data.authentication.accessToken`, which begins with `at_v1`.",
        "Send it as `Authorization: Bearer <ACCESS_TOKEN>` to every other operation except discovery. One token is valid for every service of its wallet and never expires. Paying for a start-here service again returns the same token.",
        "Without a token, such an operation, free or paid, returns 428 ONBOARDING_REQUIRED before anything is charged, with the service to start with. A malformed, unknown or revoked token returns 401.",
        "Protect it like a private key. Never put it into a URL: the WebSocket has its own token (see Realtime)."
      ]
    },
    ...serviceBlocks("authentication", context),
    {
      points: [
        "The wallet that paid can get a lost token back, and revoke tokens, by signing a message with x402's extension `sign-in-with-x`. Nothing is charged. Call the operation: the 402 response has no payment terms (`accepts` is empty), but a message to sign in its PAYMENT-REQUIRED header. Sign it with the wallet (EIP-4361, EIP-191), and repeat the request with the header SIGN-IN-WITH-X.",
        "Client library: `@x402/fetch` with `createSIWxClientExtension({ signers })` of `@x402/extensions/sign-in-with-x` does all of this. The wallet is a key on an EVM chain, or a smart account (ERC-1271) on a network whose challenges accept `eip1271`.",
        "A message is valid for 5 minutes, for one operation of this server, and once. A wallet that has bought nothing gets 404 RESOURCE_NOT_FOUND.",
        "Revoking ends every older access token, realtime token and realtime session on every server within 5 seconds. A paid request that the server has already accepted is still fulfilled. The stored response of an earlier purchase repeats the old token, which is no longer valid: use `auth.token`."
      ]
    }
  ]
})

/** The sections that apply to every service. */
export const basicSections = (context: GuideContext): ReadonlyArray<GuideSection> => [
  discovery(context),
  payments(context),
  paymentStatus(context),
  authentication(context)
]
