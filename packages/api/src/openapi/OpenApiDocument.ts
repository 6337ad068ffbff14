import { API_NAME, API_VERSION } from "../ApiIdentity.ts"
import { guidance } from "../discovery/WellKnown.ts"
import { TAGS } from "../operation/ApiOperation.ts"
import { operations } from "../operation/Operations.ts"
import { LLMS_PATH } from "../PublicPath.ts"
import type { JsonObject } from "../schema/JsonSchema.ts"
import { type ContractSchemas, contractSchemas } from "./ContractSchemas.ts"
import { errorComponents } from "./ErrorResponses.ts"
import { HEADERS } from "./Headers.ts"
import { ACCESS_TOKEN, type DocumentedServer, operationDocument, PARAMETERS, SIGN_IN } from "./OperationDocument.ts"
import { eventExamples, webhooks } from "./Webhooks.ts"

/** Returns every operation of the catalog, by path and method, in catalog order. */
const paths = (schemas: ContractSchemas, server: DocumentedServer): JsonObject => {
  const found: Record<string, Record<string, JsonObject>> = {}
  for (const operation of operations) {
    const { method, path } = operation.entry
    const document = operationDocument(operation, schemas, server)
    found[path] = { ...found[path], [method.toLowerCase()]: document }
  }
  return found
}

/** Returns the OpenAPI 3.1 document of the API for a server. */
export const openApiDocument = (server: DocumentedServer): JsonObject => {
  const schemas = contractSchemas()
  const errors = errorComponents()
  return {
    openapi: "3.1.0",
    info: {
      title: API_NAME,
      version: API_VERSION,
      summary: "Real mailboxes and phone numbers for agents, paid per call with x402.",
      "x-guidance": guidance(server.capabilities ?? { email: true, phone: true }),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" }
    },
    servers: [{ url: server.serverUrl }],
    "x-agentcash-guidance": { llmsTxtUrl: `${server.serverUrl}${LLMS_PATH}` },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: paths(schemas, server),
    webhooks: webhooks(server),
    components: {
      securitySchemes: {
        [ACCESS_TOKEN]: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "at_v1",
          description:
            "The access token that a start-here operation returns. It is valid for every service of its wallet."
        },
        [SIGN_IN]: {
          type: "apiKey",
          in: "header",
          name: "SIGN-IN-WITH-X",
          "x-agentcash-auth-kind": "siwx",
          description:
            "The message that the wallet signed: base64 of the payload of x402's extension sign-in-with-x. Omit it on the first request, which returns the message to sign in its 402 response. A message is accepted once, within 5 minutes."
        }
      },
      headers: HEADERS,
      parameters: PARAMETERS,
      responses: errors.responses,
      examples: { ...errors.examples, ...eventExamples },
      schemas: schemas.components
    }
  }
}
