import { REALTIME_PATH } from "@agentos/api"
import { BODY_LIMIT_BYTES, type EventType, RECIPIENT_LIMIT, SUBJECT_LIMIT } from "@agentos/core"
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
        text: "Local parts are folded to lower case; names of operators (postmaster, abuse, admin, …) are reserved. Mail to a plus-tag (`ada+news@…`) reaches the mailbox itself. A local part stays with the wallet that first had it, for ever: after a deletion nobody else gets your mail."
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
          `At most ${RECIPIENT_LIMIT} recipients in to, cc and bcc together; a subject of ${SUBJECT_LIMIT} characters; text and html of ${BODY_LIMIT_BYTES / MIB} MiB each.`,
          "The answer has the outcome for each recipient: some may have been refused while others were taken.",
          "An address that bounced for good, or complained, is suppressed for you: it is refused with 400 before anything is charged.",
          "A message has one Message-ID in every attempt. When a connection breaks right after the message was handed over, it is sent again under that id, by which receivers drop the copy."
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
        text: "Lists are newest first and leave out bodies; `messageId` gives one message whole. Do not poll for mail: `email.received` events tell you of it (see Events). `from` is a claim until it is proven: `authentication` has the verdicts of SPF, DKIM and DMARC, and its `domain` is the domain of `from` when an aligned signature or SPF proves it, null otherwise. Act on codes and links only where `domain` is the one that you expect."
      }
    ]
  }
]

const CALL_FIELDS = "callId, phoneNumberId, direction, fromNumber, toNumber, answeredAt"
const PAYMENT_FIELDS =
  "operationId, serviceId, endpoint, requestId, price, baseUnits, network, token, payer, payTo, transaction (null where nothing was paid), paymentState"

/** When each event occurs, and the fields of its payload besides type and eventId. */
const EVENTS: Readonly<Record<Exclude<EventType, "email.bounced" | "email.complained">, readonly [string, string]>> = {
  "email.received": [
    "mail came to an active mailbox",
    "mailboxId, emailId, from, subject, receivedAt, authentication (spf, dkim, dmarc and domain, the proven domain of from or null; null as a whole for mail that could not be read); never the body"
  ],
  "phone.call.started": ["a call was answered", CALL_FIELDS],
  "phone.call.ended": ["a call is over", `${CALL_FIELDS}, endedAt, endReason, connectedSeconds`],
  "phone.number.expiring": [
    "5, 3 and 1 days before a number's end",
    "phoneNumberId, number, daysBefore, expiresAt, renewalDeadline, price, renewalEndpoint, requestBody, releaseWarning"
  ],
  "phone.number.renewed": ["a number was renewed", "phoneNumberId, number, expiresAt, operationId"],
  "phone.number.suspended": ["a number's time is over", "phoneNumberId, number, expiresAt"],
  "phone.number.released": [
    "a number was given back",
    "phoneNumberId, number, reason (expired or release_requested), releasedAt"
  ],
  "phone.number.reconciled": [
    "the carrier no longer has a number that nobody gave back",
    "phoneNumberId, number, finding, releasedAt"
  ],
  "payment.completed": ["an operation was paid for and done", PAYMENT_FIELDS],
  "payment.failed": [
    "an operation was not paid for, or what was paid goes back",
    `${PAYMENT_FIELDS}, reason (kind, message)`
  ]
}

const events = (context: GuideContext): ReadonlyArray<GuideSection> => [
  {
    anchor: "events",
    title: "Events",
    blocks: [
      {
        text: "What happens to you, such as mail that arrives, is kept as an event until you acknowledge it: at least once, in order, for 30 days. Get them over the WebSocket, or read them by REST; acknowledge each once you have handled it durably."
      },
      ...serviceBlocks("events", context),
      {
        text: "`GET /api/v1/events?limit=100` shows what waits, oldest first, and takes nothing from a socket. `POST /api/v1/events/{eventId}/acknowledge` is the older form of `events.ack`. These are all types there are, with what a payload has besides type and eventId; read a message by its emailId."
      },
      {
        header: ["Type", "When", "Payload"],
        rows: Object.entries(EVENTS).map(([type, [when, payload]]) => [`\`${type}\``, when, payload])
      },
      {
        text: "`source` is the provider that told of it, or `agentos.internal` where it is a transition of this service itself."
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
          "Get a credential: `data.realtime` has token, expiresAt and websocketUrl.",
          `Connect to websocketUrl (\`${REALTIME_PATH}\`), and within 5 seconds send \`{"type":"session.authenticate","token":"…"}\`. Add \`"mode":"observe"\` to watch without taking anything.`,
          "The server sends session.ready, then an event.delivery for each event that waits, in order, then session.replay.complete, then new ones as they happen.",
          'Send `{"type":"event.ack","eventId":"…","deliveryId":"…"}` after you have handled one. The answer is event.acknowledged; or event.ack_stale when the delivery\'s lease was lost, and the event will come again.',
          "At most 64 deliveries are unacknowledged at a time. Answer pings; a session that goes away gives its events back at once."
        ]
      },
      {
        text: "Close codes: 4400 a message that is none, 4401 not authenticated or revoked, 4408 reading too slowly, 4429 too many frames before authentication, 1011 the session failed and 1012 the server restarts: connect again; 1013 too many sockets. When a socket breaks over an acknowledgement, use `POST /api/v1/events/ack`; again is as good as once."
      }
    ]
  }
]

const domains = (context: GuideContext): GuideSection => ({
  anchor: "domains",
  title: "Domains",
  blocks: serviceBlocks("domains", context)
})

/** Returns one section for each part of the catalog. */
export const serviceSections = (context: GuideContext): ReadonlyArray<GuideSection> => [
  ...email(context),
  ...events(context),
  ...phoneSections(context),
  domains(context)
]
