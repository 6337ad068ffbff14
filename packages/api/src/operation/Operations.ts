import { CATALOG, type CatalogEntry, type OperationName } from "@agentos/core"
import {
  AUTH_OPERATIONS,
  DISCOVERY_OPERATIONS,
  DOMAIN_OPERATIONS,
  LIMIT_OPERATIONS,
  PAYMENT_OPERATIONS
} from "./DiscoveryOperations.ts"
import { EMAIL_OPERATIONS } from "./EmailOperations.ts"
import { EVENT_OPERATIONS } from "./EventOperations.ts"
import type { ApiOperation } from "./ApiOperation.ts"
import { PHONE_OPERATIONS } from "./PhoneOperations.ts"

/** Every operation by name: exactly those of the catalog. */
export const OPERATIONS = {
  ...DISCOVERY_OPERATIONS,
  ...EMAIL_OPERATIONS,
  ...PHONE_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...DOMAIN_OPERATIONS,
  ...AUTH_OPERATIONS,
  ...PAYMENT_OPERATIONS,
  ...LIMIT_OPERATIONS
} satisfies { readonly [Name in OperationName]: ApiOperation<Name> }

/** The tags of the OpenAPI document, each with its operations. Every operation has one. */
export const TAGS: ReadonlyArray<{
  readonly name: string
  readonly description: string
  readonly operations: ReadonlyArray<OperationName>
}> = [
  {
    name: "Discovery",
    description: "Services, prices and how to start.",
    operations: ["describeApi", "listServices", "getService"]
  },
  {
    name: "Authentication",
    description: "Access tokens, for the wallet that owns them.",
    operations: ["recoverToken", "revokeTokens"]
  },
  { name: "Payments", description: "The state of payments.", operations: ["readPaymentStatus", "getPayment"] },
  {
    name: "Mailboxes",
    description: "Addresses that receive and send mail.",
    operations: ["createMailbox", "listMailboxes", "updateMailbox", "deleteMailbox"]
  },
  {
    name: "Messages",
    description: "Sent and received mail.",
    operations: ["sendMessage", "queryMessages", "getRawMessage"]
  },
  { name: "Attachments", description: "The files of messages.", operations: ["getAttachment"] },
  {
    name: "Suppressions",
    description: "Addresses that you can't write to.",
    operations: ["listSuppressions", "liftSuppression"]
  },
  {
    name: "Phone numbers",
    description: "Numbers and their inbound minutes.",
    operations: [
      "purchaseUsNumber",
      "purchaseCanadaNumber",
      "renewNumber",
      "addInboundMinutes",
      "listNumbers",
      "releaseNumber",
      "listVoices"
    ]
  },
  {
    name: "Calls",
    description: "Outbound and inbound calls, and their transcripts.",
    operations: ["callOneMinute", "callFiveMinutes", "extendCall", "listCalls", "getCall", "getTranscript"]
  },
  {
    name: "Events",
    description: "The durable events of a tenant.",
    operations: [
      "getRealtimeToken",
      "listEvents",
      "getEvent",
      "acknowledgeEvent",
      "acknowledgeAllEvents",
      "replayEvents",
      "acknowledgeEventById"
    ]
  },
  {
    name: "Webhooks",
    description: "The endpoint that receives your events.",
    operations: ["setEventWebhook", "getEventWebhook", "deleteEventWebhook", "listWebhookDeliveries"]
  },
  { name: "Limits", description: "The quotas of your wallet.", operations: ["listLimits"] },
  { name: "Domains", description: "Reserved in this version and never available.", operations: ["registerDomain"] }
]

/** Returns the tag of an operation. */
export const tagOf = (name: OperationName): string => {
  const tag = TAGS.find(({ operations: names }) => names.includes(name))
  if (tag === undefined) throw new Error(`${name} has no tag`)
  return tag.name
}

/** Returns the operation of a catalog entry. */
export const operationOf = ({ operationId }: CatalogEntry): ApiOperation => OPERATIONS[operationId]

/** Every operation in the order of the catalog. */
export const operations: ReadonlyArray<ApiOperation> = CATALOG.map(operationOf)
