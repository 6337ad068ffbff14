import { OPENAPI_PATH } from "@agentos/api"
import { IDEMPOTENCY_KEY_LIMIT, SERVICES } from "@agentos/core"
import type { GuideSection } from "./GuideBlock.ts"
import { type GuideContext, serviceRow } from "./GuideContext.ts"

const discovery = (context: GuideContext): GuideSection => ({
  anchor: "discovery",
  title: "What there is",
  blocks: [
    {
      text: `This is a REST API for autonomous agents, served at \`${context.publicUrl}\`. It gives real mailboxes and real telephone numbers, and charges a fixed price per call in USDT through x402. The wallet that pays is the account: there is no sign-up.`
    },
    {
      text:
        context.environment === "sandbox"
          ? "This server is a sandbox: its money is that of a chain of its own, and nothing it sends leaves the machine."
          : "This server is in production: calls cost real money and reach real people."
    },
    {
      header: ["Service", "Call", "Price", "Authentication", "Available here"],
      rows: SERVICES.map((entry) => serviceRow(entry, context))
    },
    {
      text: `\`GET /api/v1/services\` gives the same as data, with inputs, errors and next actions; \`GET /api/v1/services/{serviceId}\` one of them; \`GET ${OPENAPI_PATH}\` every shape and limit as OpenAPI 3.1.`
    },
    {
      text: "Every success is `{data, requestId, guide}`, every failure `{error, guides}`. The requestId is also the X-Request-Id header: name it when you ask for help."
    }
  ]
})

const payments = ({ publicUrl }: GuideContext): GuideSection => ({
  anchor: "payments",
  title: "How to pay",
  blocks: [
    {
      steps: [
        "Send the request without payment. The answer is 402 with a PAYMENT-REQUIRED header: base64 of an x402 version 2 challenge, scheme `exact`, which names the price, the token and the networks to choose from. It holds for 15 minutes, and for this very method, path, query and body.",
        "Quote the price, get your principal's approval, and let an x402 client sign it. Nothing has moved yet.",
        `Repeat the identical request, byte for byte, with the headers PAYMENT-SIGNATURE (what the client made) and Idempotency-Key (any text of yours of 1 to ${IDEMPOTENCY_KEY_LIMIT} characters, a new one for each new operation).`,
        "The answer is 200 or 201 with a PAYMENT-RESPONSE header, the receipt. You are charged once, and only if the service is rendered: what is paid and can't be done is paid back on the chain."
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
        "After a lost answer, a 409 PAYMENT_PENDING, a 502 PROVIDER_TEMPORARY_FAILURE or a 500, repeat the same request with the same Idempotency-Key and the same PAYMENT-SIGNATURE. Do not sign again: the first payment may have settled. A finished operation gives the same answer each time, byte for byte.",
        "You need not come back: what is claimed goes on without you, and ends as goods, as no charge, or as money back from the service's refund wallet. Once you have a token, `payment.completed` or `payment.failed` tells of each operation once (see Events).",
        "The same key with another body or payment, and the same payment with another key, are refused with 409 IDEMPOTENCY_CONFLICT.",
        "Should anybody submit your payment to the chain before the server has claimed it, it buys nothing and is returned to your wallet: repeat the identical request, even after the challenge has expired. The answer is 409 IDEMPOTENCY_CONFLICT with `refund_due`, later with `refunded`.",
        "`error.paymentState` says what became of the money: `none` (not charged), `pending` or `unknown` (repeat unchanged), `settled`, `refund_due` (it goes back), `refunded`.",
        "Bind the payment to the challenge where your client lets you choose the authorization's nonce: `extra.nonceTag` (8 bytes), then the first 24 bytes of SHA-256 over the ASCII text of `extra.binding`. Whoever intercepts a bound payment can't use it for another request. A nonce with the tag that does not match the challenge is refused. A random nonce works too.",
        "On operations with a token, pay from the token's own wallet.",
        "Of the stock clients, `@x402/axios` pays as it is. `@x402/fetch` refuses assets that it does not know, and amounts above $1, until you call its `setSpendControls`: allow this server's asset and the price you have agreed to. `x402-axios` (without the scope) speaks only protocol version 1 and can't read these challenges."
      ]
    }
  ]
})

const authentication: GuideSection = {
  anchor: "authentication",
  title: "How to authenticate",
  blocks: [
    {
      points: [
        "A start-here service (`email.mailbox.create`, `phone.number.us.30d`, `phone.number.ca.30d`) needs no token. Its answer holds yours, as `data.authentication.accessToken`, beginning with `at_v1`.",
        "Send it as `Authorization: Bearer <ACCESS_TOKEN>` everywhere else but in discovery. One token opens every service of its wallet, and it has no expiry; paying for a start-here service again gives the same token again.",
        "Without a token, such an operation answers 428 ONBOARDING_REQUIRED, free or paid, before anything is charged, and names the service to begin with. A token that is malformed, unknown or revoked is answered with 401.",
        "Keep it as you keep a private key. It never belongs in a URL; the WebSocket has a credential of its own (see Realtime)."
      ]
    }
  ]
}

/** The sections that apply to every service. */
export const basicSections = (context: GuideContext): ReadonlyArray<GuideSection> => [
  discovery(context),
  payments(context),
  authentication
]
