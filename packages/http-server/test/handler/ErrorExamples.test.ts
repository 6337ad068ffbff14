import { OPERATIONS } from "@agentos/api"
import type { ErrorCode, OperationName } from "@agentos/core"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { call, dataOf, errorOf, newTenant, type TestRequest, textAt } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

let server: TestServer
let token: string
let realtimeToken: string
let document: typeof Document.Type
beforeAll(async () => {
  server = await startServer({ carrierToken: "t".repeat(32) })
  token = (await newTenant(server)).token
  const data = dataOf(await call(server, "GET", "/api/v1/events/realtime-token", { token }))
  realtimeToken = textAt(data, "realtime", "token")
  document = Schema.decodeUnknownSync(Schema.fromJsonString(Document))(
    (await call(server, "GET", "/openapi.json")).text
  )
})
afterAll(() => server.stop())

const Reference = Schema.Struct({ $ref: Schema.String })
const Document = Schema.Struct({
  paths: Schema.Record(
    Schema.String,
    Schema.Record(
      Schema.String,
      Schema.Struct({ responses: Schema.Record(Schema.String, Schema.Union([Reference, Schema.Json])) })
    )
  ),
  components: Schema.Struct({
    responses: Schema.Record(
      Schema.String,
      Schema.Struct({
        content: Schema.Struct({
          "application/json": Schema.Struct({ examples: Schema.optionalKey(Schema.Record(Schema.String, Reference)) })
        })
      })
    ),
    examples: Schema.Record(Schema.String, Schema.Struct({ value: Schema.Record(Schema.String, Schema.Json) }))
  })
})

const nameIn = (part: unknown): string => Schema.decodeUnknownSync(Reference)(part).$ref.split("/").at(-1) ?? ""

/** Returns the error that the served document shows for a code of an operation. */
const exampleOf = (name: OperationName, status: number, code: ErrorCode) => {
  const { method, path } = OPERATIONS[name].entry
  const response = nameIn(document.paths[path]?.[method.toLowerCase()]?.responses[status])
  const example = nameIn(document.components.responses[response]?.content["application/json"].examples?.[code])
  return Schema.decodeUnknownSync(Schema.Struct({ error: Schema.Record(Schema.String, Schema.Json) }))(
    document.components.examples[example]?.value
  ).error
}

const UNKNOWN = {
  mailbox: "019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11",
  number: "019ab1c8-8d52-7a44-9f0b-7f2f7a6a3d20",
  call: "019ab1cb-1c5d-7f39-8f6f-02a8a0c1d9b4",
  event: "019ab1c2-7a10-7d5e-b1f3-0b8c5f6a9e42",
  message: "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7",
  operation: "019ab1cb-1c5d-7f39-8f6f-02a8a0c1d9b4"
}

interface Failing extends TestRequest {
  /** Replaces the path of the operation. */
  readonly path?: string
  /** The credential of the request; none by default. */
  readonly as?: "tenant" | "realtime"
}

/** Requests that fail as the first operation with the example does: its path is in the example's `next`. */
const rows: ReadonlyArray<readonly [OperationName, ErrorCode, Failing]> = [
  ["createMailbox", "INVALID_REQUEST", { body: {} }],
  ["describeApi", "INVALID_REQUEST", { path: "/api/v1?page=2" }],
  ["createMailbox", "PAYMENT_REQUIRED", { body: { localPart: "ada" } }],
  ["recoverToken", "PAYMENT_REQUIRED", {}],
  ["createMailbox", "AUTH_REQUIRED", { body: { localPart: "ada" }, token: "at_v1_wrong" }],
  ["listMailboxes", "AUTH_REQUIRED", { token: "at_v1_wrong" }],
  ["createMailbox", "INVALID_TOKEN", { body: { localPart: "ada" }, as: "realtime" }],
  ["listMailboxes", "INVALID_TOKEN", { as: "realtime" }],
  ["updateMailbox", "ONBOARDING_REQUIRED", { body: { mailboxId: UNKNOWN.mailbox } }],
  ["listMailboxes", "ONBOARDING_REQUIRED", {}],
  ["createMailbox", "PAYLOAD_TOO_LARGE", { body: { localPart: "a".repeat(16_384) } }],
  ["releaseNumber", "PAYLOAD_TOO_LARGE", { body: { phoneNumberId: "a".repeat(65_536) }, as: "tenant" }],
  ["createMailbox", "UNSUPPORTED_MEDIA_TYPE", { body: "a", headers: { "content-type": "text/plain" } }],
  ["releaseNumber", "UNSUPPORTED_MEDIA_TYPE", { body: "a", headers: { "content-type": "text/plain" }, as: "tenant" }],
  ["describeApi", "URI_TOO_LONG", { path: `/api/v1?page=${"a".repeat(8_192)}` }],
  ["registerDomain", "SERVICE_UNAVAILABLE", {}],
  ["getService", "RESOURCE_NOT_FOUND", { path: "/api/v1/services/email.mailbox.create.x" }],
  ["updateMailbox", "RESOURCE_NOT_FOUND", { body: { mailboxId: UNKNOWN.mailbox }, as: "tenant" }],
  [
    "queryMessages",
    "RESOURCE_NOT_FOUND",
    { path: `/api/v1/email/messages/query?mailboxId=${UNKNOWN.mailbox}`, as: "tenant" }
  ],
  ["getRawMessage", "RESOURCE_NOT_FOUND", { path: `/api/v1/email/messages/${UNKNOWN.message}/raw`, as: "tenant" }],
  ["renewNumber", "RESOURCE_NOT_FOUND", { body: { phoneNumberId: UNKNOWN.number }, as: "tenant" }],
  [
    "releaseNumber",
    "RESOURCE_NOT_FOUND",
    { body: { phoneNumberId: UNKNOWN.number, confirmRelease: true }, as: "tenant" }
  ],
  ["extendCall", "RESOURCE_NOT_FOUND", { body: { callId: UNKNOWN.call }, as: "tenant" }],
  ["getCall", "RESOURCE_NOT_FOUND", { path: `/api/v1/phone/calls/${UNKNOWN.call}`, as: "tenant" }],
  ["getEvent", "RESOURCE_NOT_FOUND", { body: { eventId: UNKNOWN.event }, as: "tenant" }],
  ["getPayment", "RESOURCE_NOT_FOUND", { path: `/api/v1/payments/${UNKNOWN.operation}`, as: "tenant" }],
  ["getEventWebhook", "RESOURCE_NOT_FOUND", { as: "tenant" }]
]

describe("the errors that the OpenAPI document shows", () => {
  for (const [name, code, { as, path, ...request }] of rows) {
    it(`are what the server answers: ${code} of ${name}`, async () => {
      const { method, path: own } = OPERATIONS[name].entry
      const credential = as === "tenant" ? { token } : as === "realtime" ? { token: realtimeToken } : {}
      const answer = await call(server, method, path ?? own, { ...credential, ...request })
      const { requestId, ...error } = errorOf(answer)
      assert.match(requestId, /^[0-9a-f-]{36}$/)
      const { requestId: _, ...shown } = exampleOf(name, answer.status, code)
      assert.deepStrictEqual<unknown>(error, shown)
    })
  }
})
