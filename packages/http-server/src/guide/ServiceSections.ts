import { REALTIME_PATH } from "@agentos/api"
import {
  ATTACHMENT_LIMIT,
  ATTACHMENTS_LIMIT_BYTES,
  BODY_LIMIT_BYTES,
  type EventType,
  RECIPIENT_LIMIT,
  SenderPolicy,
  SUBJECT_LIMIT
} from "@agentos/core"
import type { GuideSection } from "./GuideBlock.ts"
import { type GuideContext, serviceBlocks } from "./GuideContext.ts"
import { phoneSections } from "./PhoneSections.ts"

const MIB = 1024 * 1024

const email = (context: GuideContext): ReadonlyArray<GuideSection> => [
  {
    anchor: "mailboxes",
    title: "Mailboxes",
    blocks: [
      ...serviceBlocks("mailboxes", context),
      {
        text: "Local parts are converted to lower case. Role names (postmaster, abuse, admin, …) are reserved. Mail to a plus-tag (`ada+news@…`) is delivered to the mailbox `ada`. A local part stays reserved permanently to the wallet that first had it, so no one else receives your mail after a deletion."
      },
      {
        text: `\`senderPolicy\` decides from which senders a mailbox receives mail. \`mode\` is \`anyone\` (the default), \`authenticated\` (only mail that passes DMARC, by an aligned signature or SPF) or \`listed\` (only senders in \`allow\`). \`allow\` and \`block\` each hold at most ${SenderPolicy.SENDER_LIST_LIMIT} addresses or domains. A domain includes its subdomains; addresses compare in any case; there are no wildcards. An update replaces the whole policy, and an omitted part takes its default.`
      },
      {
        points: [
          "The sender is the address in From, which the message shows as `from` and which DMARC proves. The envelope sender does not count.",
          "`block` precedes `allow`, and `allow` precedes the mode: in mode `authenticated` it also admits senders whose domain has no DMARC policy. The From of such a domain can be forged.",
          "An entry of `allow` does not admit mail that fails DMARC: its From may be forged.",
          "Mail that no recipient admits is refused with SMTP 550. If another recipient admits it, yours does not receive it, and there is no bounce. While the sender can't be checked, because its DNS does not answer, the mail is deferred with 451.",
          "Delivery reports about your messages are not subject to the policy."
        ]
      }
    ]
  },
  {
    anchor: "sending",
    title: "Sending",
    blocks: [
      ...serviceBlocks("sending", context),
      {
        points: [
          `Limits: ${RECIPIENT_LIMIT} recipients in to, cc and bcc together; ${SUBJECT_LIMIT} characters in the subject; ${BODY_LIMIT_BYTES / MIB} MiB each for text and html.`,
          `Attachments: ${ATTACHMENT_LIMIT} files, ${ATTACHMENTS_LIMIT_BYTES / MIB} MiB together after decoding. Each has filename (no path), contentType (not multipart or message) and contentBase64 (padded, without line breaks). The record of the message describes each with attachmentId, sizeBytes and sha256.`,
          "`inReplyTo` is the messageId of a message of yours. The reply gets its In-Reply-To and References headers and its threadId. Recipients and subject are yours to give.",
          "The response has the outcome for each recipient: some may be refused while others are accepted. Recipients that are refused temporarily (4xx) are `queued`: the server retries them for 24 hours from the payment, without charge, and sends nothing again to the others.",
          "Each recipient has a status: `sent` (the relay accepted it), `queued` (it is retried) or `failed` (the relay refused it permanently, or for 24 hours), then `delivered`, `bounced` or `complained` once a report about it has arrived. Many servers never report a delivery. The status of the message is the first of sent, queued, delivered, complained, bounced, failed that one of its recipients has.",
          "An address that bounced permanently or complained is suppressed for your tenant: it returns 400 before anything is charged.",
          "A message keeps one Message-ID for all attempts. If the connection breaks right after the message was handed over, the message is sent again with the same id, and receivers drop the duplicate."
        ]
      }
    ]
  },
  {
    anchor: "reading",
    title: "Reading",
    blocks: [
      ...serviceBlocks("reading", context),
      {
        points: [
          "`sender` and `recipients` give names beside the addresses. A name is only a claim, also where `authentication` proves the address.",
          "`extractedText` is the new part of a received text, without quotes and signature, as Gmail, Outlook, Apple Mail and Thunderbird write them. It is a guess, and null where there is no text, nothing new or too much text: read `text` then.",
          "`attachments` describes each file. `GET /api/v1/email/messages/{messageId}/attachments/{attachmentId}` returns its bytes, and `…/raw` the received message as it arrived (message/rfc822). Both are free. Compare the bytes with `sha256`.",
          "A browser saves such a file and never shows it: Content-Disposition is `attachment`, with a safe form of the sender's filename. Content-Type is the sender's if it is a common document, image, audio or video type that no browser runs; otherwise it is application/octet-stream. Treat every file as hostile.",
          "Some servers delete raw mail after a time. The answer for its files is then 404, while text and html remain. A message that you sent has no raw form: 404."
        ]
      },
      {
        text: "Filters of a list: `mailboxId`, `threadId`, `direction`, `from` (an address), `after` (inclusive), `before` (exclusive) and `q`. A message matches all that you give. `q` finds messages with all of its words, in any case, in the subject, the names, the addresses and the text: the first 256 KiB of it. A word is a run of letters and digits; in scripts without spaces, such as Chinese, two neighboring characters. Everything else separates words, so quotes and operators have no meaning."
      },
      {
        text: "Lists are newest first and omit bodies. `messageId` returns one complete message. Do not poll for mail: you receive an `email.received` event (see Events). `from` is unproven by itself: `authentication` has the results of SPF, DKIM and DMARC. Its `domain` is the domain of `from` if an aligned signature or SPF proves it, and null otherwise. Act on codes and links only if `domain` is the one that you expect."
      }
    ]
  }
]

const CALL_FIELDS = "callId, phoneNumberId, direction, fromNumber, toNumber, answeredAt"
const PAYMENT_FIELDS =
  "operationId, serviceId, endpoint, requestId, price, baseUnits, network, token, payer, payTo, transaction (null where nothing was paid), paymentState"

/** When each event occurs, and the fields of its payload besides type and eventId. */
const EVENTS: Readonly<Record<EventType, readonly [string, string]>> = {
  "email.received": [
    "mail arrived at an active mailbox",
    "mailboxId, emailId, from, subject, receivedAt, authentication (spf, dkim, dmarc and domain, the proven domain of from or null; null for mail that could not be parsed); never the body"
  ],
  "phone.call.started": ["a call was answered", CALL_FIELDS],
  "phone.call.ended": ["a call ended", `${CALL_FIELDS}, endedAt, endReason, connectedSeconds`],
  "phone.number.expiring": [
    "5, 3 and 1 days before a number expires",
    "phoneNumberId, number, daysBefore, expiresAt, renewalDeadline, price, renewalEndpoint, requestBody, releaseWarning"
  ],
  "phone.number.renewed": ["a number was renewed", "phoneNumberId, number, expiresAt, operationId"],
  "phone.number.suspended": ["a number expired", "phoneNumberId, number, expiresAt"],
  "phone.number.released": [
    "a number was released",
    "phoneNumberId, number, reason (expired or release_requested), releasedAt"
  ],
  "phone.number.reconciled": [
    "the carrier no longer has a number that was not released here",
    "phoneNumberId, number, finding, releasedAt"
  ],
  "payment.completed": ["a paid operation was fulfilled", PAYMENT_FIELDS],
  "payment.failed": [
    "an operation ended unpaid, or its payment is being refunded",
    `${PAYMENT_FIELDS}, reason (kind, message)`
  ],
  "payment.refunded": [
    "a refund has arrived on the chain",
    `${PAYMENT_FIELDS}, amount; transaction is that of the refund, paymentTransaction that of the payment`
  ],
  "events.webhook.paused": [
    "your event webhook did not accept an event for three days, and is paused",
    "webhookId, url, pausedAt, undeliveredEventId, error"
  ]
}

const events = (context: GuideContext): ReadonlyArray<GuideSection> => [
  {
    anchor: "events",
    title: "Events",
    blocks: [
      {
        text: "Arriving mail, calls, payments and changes of your numbers are stored as durable events until you acknowledge them. Events are delivered at least once, in order, for 30 days. Receive them over the WebSocket or read them by REST. Acknowledge each event after you have handled it durably."
      },
      ...serviceBlocks("events", context),
      {
        text: "`GET /api/v1/events?limit=100` lists the pending events, oldest first, without leasing them: a WebSocket session still receives them. `pending` is the number that wait, up to 10,000; if `nextCursor` is not null, pass it as `cursor` to read on. Events of a deleted mailbox expire with it. `POST /api/v1/events/{eventId}/acknowledge` is an alias of `events.ack`. The table lists all types, with the fields of each payload besides type and eventId. Read a message by its emailId."
      },
      {
        header: ["Type", "When", "Payload"],
        rows: Object.entries(EVENTS).map(([type, [when, payload]]) => [`\`${type}\``, when, payload])
      },
      {
        text: "`source` is the provider that reported the event, or `agentos.internal` for a state transition of this service."
      }
    ]
  },
  {
    anchor: "realtime",
    title: "Realtime",
    blocks: [
      ...serviceBlocks("realtime", context),
      {
        steps: [
          "Get a realtime token: `data.realtime` has token, expiresAt and websocketUrl.",
          `Connect to websocketUrl (\`${REALTIME_PATH}\`), and within 5 seconds send \`{"type":"session.authenticate","token":"…"}\`. Add \`"mode":"observe"\` to watch events without leasing them, or \`"mode":"voice"\` to answer calls (see Voice sessions).`,
          "The server sends session.ready, then an event.delivery for each pending event in order, then session.replay.complete, then new events as they occur.",
          'Send `{"type":"event.ack","eventId":"…","deliveryId":"…"}` after you have handled an event. The reply is event.acknowledged, or event.ack_stale with a `reason` if nothing was acknowledged.',
          "`lease_lost`: the lease of the delivery that you named has ended, and the event is delivered again unless another session acknowledges it. `expired`: the event is older than 30 days, and is not delivered again.",
          "A session has at most 64 unacknowledged deliveries. Answer pings. When a session closes, its events are released immediately.",
          "A delivery counts as failed when its session closes or its lease lapses before the acknowledgement, unless the server restarts. After 50 of them, and one day or more after its creation, the event is `failed`: it is not delivered again, but can still be listed, read and acknowledged. All unacknowledged events of a session count, so acknowledge each event as soon as you have handled it."
        ]
      },
      {
        text: "Close codes: 4400 invalid message, 4401 not authenticated or token revoked, 4408 reading too slowly, 4429 too many frames before authentication, 1011 session failed (reconnect), 1012 server restarting (reconnect), 1013 too many sockets. If a socket fails during an acknowledgement, use `POST /api/v1/events/ack`, which is idempotent."
      }
    ]
  }
]

const webhooks = (context: GuideContext): GuideSection => ({
  anchor: "webhooks",
  title: "Event webhooks",
  blocks: [
    {
      text: "An event webhook is a session that needs no socket: the server posts each event to your https URL. You have at most one. To set it again replaces the URL and types, makes a new secret, and resumes a paused endpoint."
    },
    ...serviceBlocks("webhooks", context),
    {
      steps: [
        "`POST /api/v1/events/webhook` with `url`, and `types` if you want only some. Store `signingSecret` (`whsec_…`): it is shown once. After it is replaced, the previous secret signs too for 24 hours.",
        "Each request has the event record as its JSON body, and is signed per Standard Webhooks (https://www.standardwebhooks.com): webhook-id, webhook-timestamp and webhook-signature. Verify it with one of its libraries, and reject old timestamps. webhook-id is the eventId, and the same for each attempt: use it to ignore an event that you have handled.",
        "Answer 2xx within 15 seconds after you have handled the event durably: that acknowledges it. Any other answer, a redirect included, is retried after 5 s, 10 s, 20 s and so on, up to every 8 hours.",
        "You receive one request at a time, oldest event first. A retried event arrives after later ones: its `deliveryCount` is greater than 1. While 64 events wait for a retry, no other is sent. After three failures in a row, requests pause for up to 5 minutes.",
        "If an event is not accepted for three days, the endpoint is paused, and an `events.webhook.paused` event is stored. No event is lost: all that you have not acknowledged stay pending until they expire. Fix the endpoint, then set it again."
      ]
    },
    {
      text: "`GET /api/v1/events/webhook/deliveries` shows the last 100 attempts with status and error. Failed attempts never turn an event `failed`. Sockets and REST work beside a webhook: an event that another session holds is not posted meanwhile."
    }
  ]
})

const domains = (context: GuideContext): GuideSection => ({
  anchor: "domains",
  title: "Domains",
  blocks: serviceBlocks("domains", context)
})

/** Returns one section for each part of the catalog. */
export const serviceSections = (context: GuideContext): ReadonlyArray<GuideSection> => [
  ...email(context),
  ...events(context),
  webhooks(context),
  ...phoneSections(context),
  domains(context)
]
