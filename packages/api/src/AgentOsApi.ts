import { AgentMessageRecord, AgentReplyRecord } from "@agentos/core"
import { HttpApi, OpenApi } from "effect/http-api"
import { API_NAME, API_VERSION } from "./discovery/ApiIdentity.ts"
import { authGroup } from "./operation/AuthOperations.ts"
import { discoveryGroup, domainGroup } from "./operation/DiscoveryOperations.ts"
import { emailGroup } from "./operation/EmailOperations.ts"
import { eventGroup } from "./operation/EventOperations.ts"
import { paymentGroup } from "./operation/PaymentOperations.ts"
import { phoneGroup } from "./operation/PhoneOperations.ts"
import { RealtimeClientMessage, RealtimeServerMessage } from "./RealtimeMessage.ts"

/** The whole API as one contract. The OpenAPI document and typed clients are generated from it. */
export class AgentOsApi extends HttpApi.make("agentos")
  .add(discoveryGroup, emailGroup, phoneGroup, eventGroup, domainGroup, authGroup, paymentGroup)
  .annotate(OpenApi.Title, API_NAME)
  .annotate(OpenApi.Version, API_VERSION)
  // The messages of the WebSocket and of the voice callbacks, which no path of the document describes.
  .annotate(HttpApi.AdditionalSchemas, [
    RealtimeClientMessage,
    RealtimeServerMessage,
    AgentMessageRecord,
    AgentReplyRecord
  ]) {}
