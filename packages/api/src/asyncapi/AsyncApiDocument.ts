import { RealtimeSession } from "@agentos/core"
import type { Schema } from "effect"
import { API_NAME, API_VERSION } from "../ApiIdentity.ts"
import { EVENT_EXAMPLES } from "../example/EventExamples.ts"
import { contractSchemas } from "../openapi/ContractSchemas.ts"
import type { DocumentedServer } from "../openapi/OperationDocument.ts"
import { AGENT_MESSAGE } from "../openapi/Webhooks.ts"
import { DOCS_PATH, REALTIME_PATH } from "../PublicPath.ts"
import { CLOSE_CODES, type RealtimeClientMessage, type RealtimeServerMessage } from "../RealtimeMessage.ts"
import { child, isObject, type JsonObject, referenceOf, schemaRef, toJsonObject } from "../schema/JsonSchema.ts"

type RealtimeMessage = RealtimeClientMessage | RealtimeServerMessage

const EVENT = EVENT_EXAMPLES["email.received"]
const { eventId } = EVENT
const { callId, type: _, ...CALLERS_TURN } = AGENT_MESSAGE
const DELIVERY_ID = "019ab1c4-0d7b-7d01-8e2a-4b5c6d7e8f90.1"
const TURN_ID = "019ab1cb-1c5d-7d02-8e2a-4b5c6d7e8f91"

/** One message of each type. The deliveries and the turn are those of one session. */
const REALTIME_EXAMPLES: {
  readonly [Type in RealtimeMessage["type"]]: Extract<RealtimeMessage, { readonly type: Type }>
} = {
  "session.authenticate": { type: "session.authenticate", token: "eyJ…", mode: "deliver" },
  "event.ack": { type: "event.ack", eventId, deliveryId: DELIVERY_ID },
  "call.reply": { type: "call.reply", callId, turnId: TURN_ID, text: "Until six.", hangup: true },
  "session.ready": {
    type: "session.ready",
    sessionId: "019ab1c4-0d7b-7c00-8e2a-4b5c6d7e8f89",
    leaseSeconds: 30,
    maxInFlight: RealtimeSession.MAX_IN_FLIGHT,
    pending: 1
  },
  "event.delivery": { type: "event.delivery", deliveryId: DELIVERY_ID, event: EVENT },
  "event.observed": {
    type: "event.observed",
    event: { ...EVENT, status: "pending", deliveredAt: null, deliveryCount: 0 }
  },
  "session.replay.complete": { type: "session.replay.complete", delivered: 1 },
  "event.acknowledged": { type: "event.acknowledged", eventId },
  "event.ack_stale": { type: "event.ack_stale", eventId, reason: "lease_lost" },
  "call.turn": { type: "call.turn", callId, turnId: TURN_ID, ...CALLERS_TURN },
  "call.interrupted": { type: "call.interrupted", callId, turnId: TURN_ID },
  error: { type: "error", code: "RESOURCE_NOT_FOUND", message: "No such event." }
}

const SOCKET = "socket"

/** The action of the server for messages of each type: it receives those of clients, and sends the others. */
const OPERATIONS = {
  "session.authenticate": {
    name: "authenticate",
    action: "receive",
    summary: "Opens the session of a client.",
    replies: ["session.ready", "error"]
  },
  "event.ack": {
    name: "acknowledge",
    action: "receive",
    summary: "Acknowledges an event that the client has handled.",
    replies: ["event.acknowledged", "event.ack_stale", "error"]
  },
  "call.reply": {
    name: "answerTurn",
    action: "receive",
    summary: "Speaks the answer of the client's agent on a call.",
    replies: ["error"]
  },
  "session.ready": { name: "openSession", action: "send", summary: "Tells that the session is open." },
  "event.delivery": { name: "deliverEvent", action: "send", summary: "Delivers an event, in mode deliver." },
  "event.observed": { name: "showEvent", action: "send", summary: "Shows an event, in mode observe." },
  "session.replay.complete": {
    name: "completeReplay",
    action: "send",
    summary: "Tells that all events have been sent that were pending."
  },
  "event.acknowledged": { name: "confirmAcknowledgement", action: "send", summary: "Confirms an acknowledgement." },
  "event.ack_stale": { name: "refuseAcknowledgement", action: "send", summary: "Refuses an acknowledgement." },
  "call.turn": {
    name: "deliverTurn",
    action: "send",
    summary: "Delivers what a person said on a call, in mode voice."
  },
  "call.interrupted": { name: "endTurn", action: "send", summary: "Tells that a turn needs no answer any more." },
  error: { name: "reportError", action: "send", summary: "Reports an invalid message or session." }
} as const satisfies {
  readonly [Type in keyof typeof REALTIME_EXAMPLES]: {
    readonly name: string
    readonly action: "receive" | "send"
    readonly summary: string
    readonly replies?: ReadonlyArray<keyof typeof REALTIME_EXAMPLES>
  }
}

const DESCRIPTION = [
  "The WebSocket delivers events and the turns of calls, each as one JSON object in a text frame.",
  `Get a realtime token from \`GET /api/v1/events/realtime-token\`, connect to its \`websocketUrl\`, and send \`session.authenticate\` within 5 seconds. The token is in that message and never in the URL. \`mode\` is \`deliver\` (the default), \`observe\` or \`voice\`.`,
  `Mode deliver: the server sends \`session.ready\`, an \`event.delivery\` for each pending event in order, \`session.replay.complete\`, and then new events as they occur. Acknowledge each event with \`event.ack\` after you have handled it. A session holds at most ${RealtimeSession.MAX_IN_FLIGHT} unacknowledged deliveries, each leased for 30 seconds and renewed while the socket answers pings.`,
  "Mode voice: the server sends a `call.turn` for each utterance, which the client answers with one or more `call.reply` within 5 seconds.",
  `Close codes: ${Object.values(CLOSE_CODES)
    .map(({ code, meaning }) => `${code} ${meaning}`)
    .join("; ")}.`
].join("\n\n")

/** In AsyncAPI, a discriminator is the name of the property alone. */
const toAsyncApi = (schema: Schema.Json): Schema.Json => {
  if (Array.isArray(schema)) return schema.map(toAsyncApi)
  if (!isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const property = key === "discriminator" && isObject(value) ? value["propertyName"] : undefined
      return [key, property ?? toAsyncApi(value)]
    })
  )
}

const referencesIn = (schema: Schema.Json): ReadonlyArray<string> => {
  if (Array.isArray(schema)) return schema.flatMap(referencesIn)
  if (!isObject(schema)) return []
  const own = referenceOf(schema)
  return [...(own === undefined ? [] : [own]), ...Object.values(schema).flatMap(referencesIn)]
}

/** Returns these components and those that they refer to. */
const reachable = (components: JsonObject, names: ReadonlyArray<string>): JsonObject => {
  const found = new Set(names)
  // The iteration over a set includes items that are added meanwhile.
  for (const name of found) for (const reference of referencesIn(components[name] ?? {})) found.add(reference)
  return Object.fromEntries([...found].map((name) => [name, components[name] ?? {}]))
}

/** Returns the name of the component of each message by its type. */
const messageNames = (components: JsonObject): ReadonlyMap<string, string> =>
  new Map(
    ["RealtimeClientMessage", "RealtimeServerMessage"].flatMap((union) =>
      Object.entries(child(child(components[union], "discriminator"), "mapping")).map(
        ([type, ref]) => [type, referenceOf({ $ref: ref }) ?? type] as const
      )
    )
  )

/** Returns the AsyncAPI 3.0 document of the WebSocket of a server, generated from the contract. */
export const asyncApiDocument = ({ serverUrl }: DocumentedServer): JsonObject => {
  const { components } = contractSchemas()
  const names = messageNames(components)
  const nameOf = (type: string): string => names.get(type) ?? type
  const channelRef = { $ref: `#/channels/${SOCKET}` }
  const messageRef = (type: string) => ({ $ref: `#/channels/${SOCKET}/messages/${nameOf(type)}` })
  const { host, pathname, protocol } = new URL(serverUrl)
  const messages = Object.entries(REALTIME_EXAMPLES).map(([type, example]) => {
    const name = nameOf(type)
    const { description } = child(components, name)
    return [
      name,
      {
        name: type,
        title: name,
        ...(description === undefined ? {} : { summary: description }),
        payload: schemaRef(name),
        examples: [{ name: type, payload: toJsonObject(example) }]
      }
    ] as const
  })
  return {
    asyncapi: "3.0.0",
    info: {
      title: `${API_NAME} realtime`,
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      externalDocs: { url: `${serverUrl}${DOCS_PATH}#realtime` }
    },
    defaultContentType: "application/json",
    servers: {
      [SOCKET]: {
        host,
        ...(pathname === "/" ? {} : { pathname }),
        protocol: protocol === "https:" ? "wss" : "ws"
      }
    },
    channels: {
      [SOCKET]: {
        address: REALTIME_PATH,
        servers: [{ $ref: `#/servers/${SOCKET}` }],
        messages: Object.fromEntries(messages.map(([name]) => [name, { $ref: `#/components/messages/${name}` }])),
        bindings: { ws: { method: "GET", bindingVersion: "0.1.0" } }
      }
    },
    operations: Object.fromEntries(
      Object.entries(OPERATIONS).map(([type, { action, name, summary, ...rest }]) => [
        name,
        {
          action,
          summary,
          channel: channelRef,
          messages: [messageRef(type)],
          ...("replies" in rest ? { reply: { channel: channelRef, messages: rest.replies.map(messageRef) } } : {})
        }
      ])
    ),
    components: {
      messages: Object.fromEntries(messages),
      schemas: toAsyncApi(
        reachable(
          components,
          messages.map(([name]) => name)
        )
      )
    }
  }
}
