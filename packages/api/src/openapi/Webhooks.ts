import { type AgentMessageRecord, EVENT_RECORDS, EventType } from "@agentos/core"
import { SchemaAST } from "effect"
import { EVENT_EXAMPLES } from "../example/EventExamples.ts"
import { CALL, PHONE_NUMBER } from "../example/ResourceExamples.ts"
import { DOCS_PATH } from "../PublicPath.ts"
import { type JsonObject, schemaRef, toJsonObject } from "../schema/JsonSchema.ts"
import type { DocumentedServer } from "./OperationDocument.ts"

/** The name of the example of an event among the components: that of its schema. */
const exampleName = (type: EventType): string => SchemaAST.resolveIdentifier(EVENT_RECORDS[type].ast) ?? type

/** One event of each type, as components. */
export const eventExamples: JsonObject = Object.fromEntries(
  EventType.literals.map((type) => [exampleName(type), { summary: type, value: toJsonObject(EVENT_EXAMPLES[type]) }])
)

/** A header of each request, with its value in the example. */
const header = (name: string, description: string, example: string): JsonObject => ({
  name,
  in: "header",
  required: true,
  description,
  example,
  schema: { type: "string" }
})

/** 2026-01-31T12:00:00Z, the time of the examples. */
const TIMESTAMP = "1769860800"

/** Of the event in the first example, with the secret in the example of `setEventWebhook`. */
const EVENT_SIGNATURE = "v1,IDgcF7vob5O7AZyzBdVXKs9DXi09yOqYOETzTyz8YnA="

const eventDelivery = ({ serverUrl }: DocumentedServer): JsonObject => ({
  post: {
    operationId: "receiveEvent",
    tags: ["Webhooks"],
    summary: "Receive an event",
    description:
      "Delivers an event to your event webhook.\n\nThe server posts each event to the URL of `setEventWebhook`, one request at a time, oldest event first. Verify the signature per Standard Webhooks (https://www.standardwebhooks.com), and reject old timestamps. Answer 2xx within 15 seconds, after you have handled the event durably: that acknowledges it. Any other answer, a redirect included, is retried after 5 s, 10 s, 20 s and so on, up to every 8 hours, for three days; then the webhook is paused.",
    externalDocs: { url: `${serverUrl}${DOCS_PATH}#webhooks` },
    security: [],
    parameters: [
      header(
        "webhook-id",
        "The eventId. It is the same for each attempt: use it to ignore an event that you have handled.",
        EVENT_EXAMPLES["email.received"].eventId
      ),
      header("webhook-timestamp", "The time of the attempt, in seconds since 1970-01-01.", TIMESTAMP),
      header(
        "webhook-signature",
        "`v1,` and the base64 of HMAC-SHA256 over webhook-id, a dot, webhook-timestamp, a dot and the raw body. The key is the base64 after `whsec_` in `signingSecret`. While two secrets are valid, the header has two signatures with a space between them; accept any.",
        EVENT_SIGNATURE
      )
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: schemaRef("EventRecord"),
          examples: Object.fromEntries(
            EventType.literals.map((type) => [type, { $ref: `#/components/examples/${exampleName(type)}` }])
          )
        }
      }
    },
    responses: {
      "2XX": { description: "The event is acknowledged. The body is ignored." },
      default: { description: "The event is delivered again later." }
    }
  }
})

/** The message in the example of the voice callback. */
export const AGENT_MESSAGE: AgentMessageRecord = {
  type: "agent.message",
  callId: CALL.callId,
  phoneNumberId: PHONE_NUMBER.phoneNumberId,
  direction: "inbound",
  from: CALL.toNumber,
  fromWithheld: null,
  to: PHONE_NUMBER.number,
  turn: { text: "When are you open?", at: "2026-01-31T12:00:09.000Z" },
  transcriptSoFar: [{ role: "agent", text: "Hello, this is Ada.", at: "2026-01-31T12:00:05.000Z" }]
}

/** Of the message in the example, with the secret in the example of a purchase. */
const CALLBACK_SIGNATURE = "v1=7cd2136e1682c66a45363cf7d1b0e00001995d03f9d5045d06aeea593eeb7423"

const voiceCallback = ({ serverUrl }: DocumentedServer): JsonObject => ({
  post: {
    operationId: "answerTurn",
    tags: ["Calls"],
    summary: "Answer a turn",
    description:
      "Asks your agent for the answer to what the person on the line said.\n\nThe server posts each utterance of a call to the `agentWebhookUrl` of its number, and speaks the answer. Verify the signature: compare in constant time, and reject timestamps that are more than 5 minutes off. The first byte of the answer must arrive within 5 seconds, and the whole answer within 30 seconds and 64 KiB. Redirects are not followed. A failed request is retried once if nothing of its answer was spoken; then the caller hears an apology, and the call continues. While a voice session is connected, it receives the turns instead.",
    externalDocs: { url: `${serverUrl}${DOCS_PATH}#voice-callbacks` },
    security: [],
    parameters: [
      header("X-Service-Timestamp", "The time of the request, in seconds since 1970-01-01.", TIMESTAMP),
      header(
        "X-Service-Signature",
        "`v1=` and the hexadecimal HMAC-SHA256 of X-Service-Timestamp, a dot and the raw body. The key is the number's `callbackVerificationSecret`.",
        CALLBACK_SIGNATURE
      )
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: schemaRef("AgentMessage"),
          examples: { example: { value: toJsonObject(AGENT_MESSAGE) } }
        }
      }
    },
    responses: {
      "200": {
        description: "What the agent says. An empty text is silent.",
        content: {
          "application/json": {
            schema: schemaRef("AgentReply"),
            examples: {
              say: { value: { text: "Until six." } },
              press: { value: { text: "One moment.", digits: "1w23#" } },
              hangUp: { value: { text: "Goodbye.", hangup: true } }
            }
          },
          "application/x-ndjson": {
            schema: { type: "string", description: "One AgentReply on each line. Each is spoken as it arrives." },
            examples: { example: { value: '{"text":"Let me look."}\n{"text":"Until six.","hangup":true}\n' } }
          }
        }
      }
    }
  }
})

/** Returns the requests that the server sends to its clients. */
export const webhooks = (server: DocumentedServer): JsonObject => ({
  event: eventDelivery(server),
  agentMessage: voiceCallback(server)
})
