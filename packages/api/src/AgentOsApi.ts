import { HttpApi, HttpApiGroup, OpenApi } from "effect/http-api"
import { API_NAME, API_VERSION } from "./discovery/ApiIdentity.ts"
import { getEndpoint, postEndpoint } from "./operation/Endpoint.ts"
import { OPERATIONS } from "./operation/Operations.ts"
import { RealtimeClientMessage, RealtimeServerMessage } from "./RealtimeMessage.ts"

const discovery = HttpApiGroup.make("discovery", { topLevel: true })
  .add(getEndpoint(OPERATIONS.describeApi), getEndpoint(OPERATIONS.listServices), getEndpoint(OPERATIONS.getService))
  .annotate(OpenApi.Description, "Services, prices and how to start.")

const email = HttpApiGroup.make("email", { topLevel: true })
  .add(
    postEndpoint(OPERATIONS.createMailbox),
    getEndpoint(OPERATIONS.listMailboxes),
    postEndpoint(OPERATIONS.updateMailbox),
    postEndpoint(OPERATIONS.deleteMailbox),
    postEndpoint(OPERATIONS.sendMessage),
    getEndpoint(OPERATIONS.queryMessages)
  )
  .annotate(OpenApi.Description, "Mailboxes and their messages.")

const phone = HttpApiGroup.make("phone", { topLevel: true })
  .add(
    postEndpoint(OPERATIONS.purchaseUsNumber),
    postEndpoint(OPERATIONS.purchaseCanadaNumber),
    postEndpoint(OPERATIONS.renewNumber),
    postEndpoint(OPERATIONS.callOneMinute),
    postEndpoint(OPERATIONS.callFiveMinutes),
    postEndpoint(OPERATIONS.extendCall),
    postEndpoint(OPERATIONS.addInboundMinutes),
    postEndpoint(OPERATIONS.releaseNumber),
    getEndpoint(OPERATIONS.listNumbers),
    getEndpoint(OPERATIONS.getCall),
    getEndpoint(OPERATIONS.getTranscript)
  )
  .annotate(OpenApi.Description, "Telephone numbers and calls.")

const events = HttpApiGroup.make("events", { topLevel: true })
  .add(
    getEndpoint(OPERATIONS.getRealtimeToken),
    postEndpoint(OPERATIONS.listEvents),
    postEndpoint(OPERATIONS.getEvent),
    postEndpoint(OPERATIONS.acknowledgeEvent),
    postEndpoint(OPERATIONS.acknowledgeAllEvents),
    getEndpoint(OPERATIONS.replayEvents),
    postEndpoint(OPERATIONS.acknowledgeEventById)
  )
  .annotate(OpenApi.Description, "The durable events of a tenant.")

const domains = HttpApiGroup.make("domains", { topLevel: true })
  .add(postEndpoint(OPERATIONS.registerDomain))
  .annotate(OpenApi.Description, "Reserved in this version and never available.")

/** The whole API as one contract. The OpenAPI document and typed clients are generated from it. */
export class AgentOsApi extends HttpApi.make("agentos")
  .add(discovery, email, phone, events, domains)
  .annotate(OpenApi.Title, API_NAME)
  .annotate(OpenApi.Version, API_VERSION)
  // WebSocket messages, which no path of the document describes.
  .annotate(HttpApi.AdditionalSchemas, [RealtimeClientMessage, RealtimeServerMessage]) {}
