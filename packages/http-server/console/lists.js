import { read } from "./api.js"
import { element, shown } from "./dom.js"

/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("./dialog.js").Hand} Hand */
/** @typedef {Readonly<Record<string, any>>} Row */

/**
 * A page that lists something.
 * @typedef {object} List
 * @property {string} name in the address
 * @property {string} title
 * @property {string} path below /internal
 * @property {(data: any) => ReadonlyArray<Row>} [rows] if they are not `items`
 * @property {ReadonlyArray<{ readonly name: string, readonly label: string, readonly options?: ReadonlyArray<string> }>} [filters]
 * @property {ReadonlyArray<import("./dom.js").Column<Row>>} columns
 * @property {Readonly<Record<string, string>>} [query] that the filters complete
 * @property {ReadonlyArray<Hand>} [hands] that concern no row
 * @property {(row: Row) => ReadonlyArray<Hand>} [rowHands]
 */

/**
 * A page about one thing.
 * @typedef {object} Detail
 * @property {(id: string) => string} title
 * @property {(id: string) => string} path
 * @property {(record: Row, id: string) => ReadonlyArray<Hand>} hands
 * @property {(record: Row, id: string) => ReadonlyArray<List>} [lists] that follow
 */

/** @param {string} page @param {string | null} id @param {string} [text] @returns {Child} */
const link = (page, id, text = id ?? "") =>
  id === null ? "–" : element("a", { href: `#/${page}/${encodeURIComponent(id)}` }, text)

/** The ends of an id, which is in full in the link. @param {string} id */
const short = (id) => `${id.slice(0, 8)}…${id.slice(-6)}`

/** @param {string} title @param {string} field @returns {import("./dom.js").Column<Row>} */
const column = (title, field) => ({ title, of: (row) => shown(row[field]) })

/**
 * Sends events again to one webhook, or to all that fail.
 * @param {{ readonly webhookId?: string }} body
 * @returns {Hand}
 */
const redelivery = (body) => ({
  label: body.webhookId === undefined ? "Redeliver to all that fail" : "Redeliver",
  path: "webhooks/redeliver",
  body,
  consequence:
    "Ends pauses and delays, and sends each event since the time that was not accepted, oldest first, under its id. Up to 1,000 events.",
  fields: [{ name: "since", label: "Since, for example 2026-01-31T12:00:00Z" }]
})

const STATES = [
  "",
  "open",
  "claimed",
  "settling",
  "settled",
  "fulfilling",
  "refused",
  "refund_due",
  "fulfilled",
  "refunded",
  "unpaid"
]

/** @type {List} */
const operations = {
  name: "operations",
  title: "Operations",
  path: "operations",
  filters: [
    { name: "state", label: "State", options: STATES },
    { name: "tenant", label: "Tenant: id or wallet" },
    { name: "olderThanMinutes", label: "Older than, minutes" }
  ],
  columns: [
    { title: "Operation", of: ({ operationId }) => link("operations", operationId) },
    column("Service", "serviceId"),
    column("State", "state"),
    { title: "Price", isNumber: true, of: ({ price }) => `${price.amount} ${price.asset}` },
    { title: "Payer", of: ({ payer }) => link("tenants", payer, short(payer)) },
    column("Claimed", "createdAt"),
    { title: "Next attempt", of: ({ nextAttempt }) => nextAttempt?.kind ?? "–" },
    { title: "Last failed attempt", of: ({ failedAttempt }) => failedAttempt?.reason ?? "–" }
  ]
}

/** @type {List} */
const tenants = {
  name: "tenants",
  title: "Tenants",
  path: "tenants",
  filters: [{ name: "matching", label: "Wallet, id, mailbox or number" }],
  columns: [
    { title: "Wallet", of: ({ tenantId, wallet }) => link("tenants", tenantId, wallet) },
    column("Tenant", "tenantId"),
    column("Since", "createdAt"),
    { title: "Suspended", of: ({ suspension }) => suspension?.reason ?? "–" }
  ]
}

const waitingFilters = [
  { name: "tenant", label: "Tenant: id or wallet" },
  { name: "olderThanMinutes", label: "Older than, minutes" }
]

/** @type {List} */
const inbound = {
  name: "inbound",
  title: "Mail in",
  path: "mail/inbound",
  filters: [{ name: "state", label: "State", options: ["", "waiting", "failed"] }, ...waitingFilters],
  columns: [
    column("Mail", "inboundMailId"),
    column("State", "state"),
    { title: "From", of: ({ envelope }) => envelope.mailFrom || "<>" },
    { title: "To", of: ({ envelope }) => shown(envelope.rcptTo) },
    column("Received", "receivedAt"),
    { title: "Bytes", isNumber: true, of: ({ sizeBytes }) => sizeBytes },
    { title: "Attempts", isNumber: true, of: ({ attempts }) => attempts },
    column("Failure", "failure")
  ],
  rowHands: ({ inboundMailId: id }) => [
    {
      label: "Replay",
      path: `mail/inbound/${id}/replay`,
      consequence: "The mail is delivered at once, as if it were new."
    },
    {
      label: "Drop",
      path: `mail/inbound/${id}/drop`,
      consequence: "Deletes the mail, permanently. Its mailboxes do not get it, and its sender is not told.",
      fields: [{ name: "reason", label: "Why it is dropped" }],
      typed: "drop"
    }
  ]
}

/** @type {List} */
const outbound = {
  name: "outbound",
  title: "Mail out",
  path: "mail/outbound",
  filters: [
    { name: "state", label: "State", options: ["", "scheduled", "deferred", "sending", "unknown"] },
    ...waitingFilters
  ],
  columns: [
    column("Message", "messageId"),
    column("State", "state"),
    { title: "Tenant", of: ({ tenantId }) => link("tenants", tenantId, short(tenantId)) },
    { title: "To", of: ({ recipients }) => shown(recipients.map((/** @type {Row} */ { address }) => address)) },
    column("Due", "dueAt"),
    { title: "Attempts", isNumber: true, of: ({ attempts }) => attempts },
    { title: "Payment", of: ({ operationId }) => link("operations", operationId) }
  ],
  rowHands: ({ messageId: id, state }) => [
    ...(state === "deferred"
      ? [
          {
            label: "Retry now",
            path: `mail/outbound/${id}/retry`,
            consequence: "Sends the message at once to the recipients that it has not reached."
          }
        ]
      : []),
    ...(state === "deferred" || state === "scheduled"
      ? [
          {
            label: "Cancel",
            path: `mail/outbound/${id}/cancel`,
            consequence: "Ends the message for the recipients that it has not reached. A scheduled one is refunded.",
            typed: "cancel"
          }
        ]
      : [])
  ]
}

/** @type {List} */
const webhooks = {
  name: "webhooks",
  title: "Webhooks",
  path: "webhooks",
  filters: [
    { name: "state", label: "State", options: ["", "due", "failing", "paused"] },
    { name: "tenant", label: "Tenant: id or wallet" }
  ],
  columns: [
    column("Webhook", "webhookId"),
    column("Host", "host"),
    column("State", "state"),
    { title: "Tenant", of: ({ tenantId }) => link("tenants", tenantId, short(tenantId)) },
    { title: "Failures", isNumber: true, of: ({ failures }) => failures },
    { title: "Waiting", isNumber: true, of: ({ waitingRetries }) => waitingRetries },
    column("Last delivery", "lastDelivery")
  ],
  rowHands: ({ webhookId }) => [redelivery({ webhookId })],
  hands: [redelivery({})]
}

/** @type {List} */
const jobs = {
  name: "jobs",
  title: "Jobs",
  path: "jobs",
  columns: [
    column("Job", "name"),
    column("Due", "dueAt"),
    column("Last success", "succeededAt"),
    column("Failure", "failure"),
    { title: "Runs", isNumber: true, of: ({ runs }) => runs },
    { title: "Failures", isNumber: true, of: ({ failures }) => failures }
  ],
  rowHands: ({ name }) => [{ label: "Run now", path: `jobs/${name}/run`, consequence: `Runs ${name}, due or not.` }]
}

/** The fields that name one scope. */
const SCOPE = [
  { name: "service", label: "Service; all without one", isOptional: true },
  { name: "network", label: "Or a network, for example eip155:56", isOptional: true },
  { name: "country", label: "Or the country of numbers, US or CA", isOptional: true }
]

/** @type {List} */
const selling = {
  name: "selling",
  title: "Selling",
  path: "selling",
  rows: ({ stops }) => stops,
  columns: [
    { title: "Stopped", of: ({ network, service }) => network ?? service },
    column("Since", "at"),
    column("Reason", "reason")
  ],
  hands: [
    {
      label: "Stop selling",
      path: "selling/stop",
      consequence:
        "No customer can buy the service, pay on the network, or buy a number of the country; without any, nobody can buy anything at all. Reads, mail in, refunds and acknowledgements go on, and so do the numbers that customers have.",
      fields: [{ name: "reason", label: "Reason, which customers see" }, ...SCOPE]
    },
    {
      label: "Sell again",
      path: "selling/start",
      consequence: "Ends the stop of what you name, or without a name that of all services.",
      fields: SCOPE
    }
  ]
}

/** @type {List} */
const audit = {
  name: "audit",
  title: "Audit",
  path: "audit",
  filters: [
    { name: "actor", label: "Actor" },
    { name: "target", label: "Target" }
  ],
  columns: [
    column("At", "at"),
    column("Actor", "actor"),
    column("Action", "action"),
    column("Target", "target"),
    column("Outcome", "outcome"),
    { title: "Reason", of: ({ failure, reason }) => failure ?? reason ?? "–" }
  ]
}

/** @type {List} */
const operators = {
  name: "operators",
  title: "Operators",
  path: "operators",
  columns: [column("Name", "name"), column("Role", "role"), column("Since", "createdAt"), column("Until", "expiresAt")],
  hands: [
    {
      label: "Add an operator",
      path: "operators",
      consequence: "The answer shows the token, once.",
      fields: [
        { name: "name", label: "Name" },
        { name: "role", label: "Role", options: ["read", "support", "money"] },
        { name: "expiresInDays", label: "Expires in days", type: "number", isOptional: true }
      ]
    }
  ],
  rowHands: ({ name }) => [
    {
      label: "Rotate the token",
      path: `operators/${name}/rotate`,
      consequence: "The old token ends at once. The answer shows the new one, once.",
      fields: [{ name: "expiresInDays", label: "Expires in days", type: "number", isOptional: true }]
    },
    { label: "Remove", path: `operators/${name}/remove`, consequence: "The token ends at once.", typed: name }
  ]
}

/** The columns of a timeline. @type {ReadonlyArray<import("./dom.js").Column<Row>>} */
export const TIMELINE = [
  column("At", "at"),
  column("Event", "event"),
  column("Transaction", "transaction"),
  column("By", "actor"),
  column("Outcome", "outcome"),
  column("Reason", "reason")
]

/** The pages of the menu. */
export const LISTS = [operations, tenants, inbound, outbound, webhooks, jobs, selling, audit, operators]

/** @type {(tenant: string) => List} */
const callsOf = (tenant) => ({
  name: "calls",
  title: "Calls",
  path: `tenants/${tenant}/calls`,
  columns: [
    { title: "Call", of: ({ callId }) => link("calls", callId) },
    column("Direction", "direction"),
    column("State", "state"),
    column("Placed", "createdAt"),
    { title: "Seconds", isNumber: true, of: ({ connectedSeconds }) => connectedSeconds },
    column("Ended by", "endReason")
  ]
})

/** @type {(tenant: string) => List} */
const suppressionsOf = (tenant) => ({
  name: "suppressions",
  title: "Suppressed addresses",
  path: `tenants/${tenant}/suppressions`,
  columns: [column("Address", "address"), column("Reason", "reason"), column("Since", "createdAt")],
  rowHands: ({ address }) => [
    {
      label: "Lift",
      path: `tenants/${tenant}/suppressions/lift`,
      body: { address },
      consequence: `The tenant can write to ${address} again.`
    }
  ]
})

/** @type {Detail} */
const operation = {
  title: (id) => `Operation ${id}`,
  path: (id) => `operations/${id}`,
  hands: ({ nextAttempt, state }, id) => [
    ...(nextAttempt === null
      ? []
      : [
          {
            label: "Retry now",
            path: `operations/${id}/retry`,
            consequence: "A server takes the operation over at once. It charges nothing a second time."
          }
        ]),
    ...(state === "refund_due"
      ? [
          {
            label: "Record a refund",
            path: `operations/${id}/refund`,
            consequence: "Records a refund that you sent from your own wallet. The chain must show it.",
            fields: [{ name: "transaction", label: "Transaction: 0x and 64 digits" }]
          }
        ]
      : [])
  ]
}

/** @type {Detail} */
const tenant = {
  title: (id) => `Tenant ${id}`,
  path: (id) => `tenants/${id}`,
  hands: ({ sendingPause, suspension, wallet }, id) => [
    suspension === null
      ? {
          label: "Suspend",
          path: `tenants/${id}/suspend`,
          consequence: "The tenant can buy and send nothing. It sees the reason.",
          fields: [{ name: "reason", label: "Reason, which the tenant sees" }]
        }
      : { label: "Resume", path: `tenants/${id}/resume`, consequence: "Ends the suspension." },
    ...(sendingPause === null
      ? []
      : [
          {
            label: "Resume sending",
            path: `tenants/${id}/resume-sending`,
            consequence: "Ends the pause after bounces or complaints, and forgets those."
          }
        ]),
    {
      label: "Revoke tokens",
      path: `tenants/${id}/revoke-tokens`,
      consequence: "Ends the tenant's access tokens and sessions. Its wallet can sign in again."
    },
    {
      label: "Erase",
      path: `tenants/${id}/erase`,
      consequence: "Erases the content and the personal data of the tenant, permanently. The ledger stays.",
      typed: wallet,
      preview: () => read(`tenants/${id}/erasure`)
    }
  ],
  lists: ({ tenantId }) => [
    { ...operations, query: { tenant: tenantId }, filters: [] },
    callsOf(tenantId),
    suppressionsOf(tenantId)
  ]
}

/** The pages about one thing, by the name in the address. @type {Readonly<Record<string, Detail>>} */
export const DETAILS = {
  operations: operation,
  tenants: tenant,
  calls: { title: (id) => `Call ${id}`, path: (id) => `calls/${id}`, hands: () => [] }
}
