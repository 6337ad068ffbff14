import { describeInput, inputsOf, operations, OPERATIONS } from "@agentos/api"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

/** The specification's inputs, restated: operation, then `place.name` with `*` for required ones. */
const TABLE: Readonly<Record<string, string>> = {
  describeApi: "",
  listServices: "",
  getService: "path.serviceId*",
  createMailbox: "body.localPart* body.displayName body.outboundSignature body.senderPolicy body.metadata",
  listMailboxes: "",
  updateMailbox: "body.mailboxId* body.displayName body.outboundSignature body.active body.senderPolicy body.metadata",
  deleteMailbox: "body.mailboxId*",
  sendMessage:
    "body.mailboxId* body.to body.cc body.bcc body.replyTo body.subject body.text* body.html body.inReplyTo body.forwards body.forwardAttachments body.replyAll body.automatic body.sendAt body.attachments",
  queryMessages:
    "query.mailboxId query.messageId query.threadId query.direction query.from query.q query.label query.unread query.limit query.cursor query.after query.before",
  purchaseUsNumber:
    "body.agentName* body.agentWebhookUrl* body.areaCode body.description body.beginMessage body.voice body.language",
  purchaseCanadaNumber:
    "body.agentName* body.agentWebhookUrl* body.areaCode body.description body.beginMessage body.voice body.language",
  renewNumber: "body.phoneNumberId*",
  callOneMinute: "body.phoneNumberId* body.toNumber* body.initialGreeting",
  callFiveMinutes: "body.phoneNumberId* body.toNumber* body.initialGreeting",
  extendCall: "body.callId*",
  addInboundMinutes: "body.phoneNumberId*",
  releaseNumber: "body.phoneNumberId* body.confirmRelease*",
  listNumbers: "",
  getCall: "path.callId*",
  getTranscript: "path.callId* query.limit query.cursor",
  getRealtimeToken: "query.cursor",
  listEvents:
    "body.status body.types body.agentId body.service body.resourceId body.from body.to body.limit body.cursor",
  getEvent: "body.eventId*",
  acknowledgeEvent: "body.eventId*",
  acknowledgeAllEvents: "body.before* body.types body.service",
  replayEvents: "query.limit query.cursor",
  acknowledgeEventById: "path.eventId*",
  registerDomain: "",
  recoverToken: "",
  revokeTokens: "",
  listCalls: "query.phoneNumberId query.direction query.after query.before query.limit query.cursor",
  setEventWebhook: "body.url* body.types body.rotateSecret",
  getEventWebhook: "",
  deleteEventWebhook: "",
  listWebhookDeliveries: "",
  listVoices: "",
  queryThreads: "query.mailboxId query.threadId query.label query.unread query.limit query.cursor",
  updateMessages: "body.messageIds* body.addLabels body.removeLabels body.unread",
  cancelMessage: "body.messageId*",
  getAttachment: "path.messageId* path.attachmentId*",
  getRawMessage: "path.messageId*",
  listSuppressions: "query.limit query.cursor",
  liftSuppression: "body.address*",
  listPaymentNetworks: "query.wallet",
  readPaymentStatus: "",
  listLimits: "",
  getPayment: "path.operationId*"
}

const TYPES = new Set(["string", "integer", "boolean", "array", "object"])

describe("inputsOf", () => {
  for (const operation of operations) {
    it(`returns the inputs of ${operation.name}, each with type, description and a valid example`, () => {
      const inputs = inputsOf(operation)
      const text = inputs.map((input) => `${input.in}.${input.name}${input.required ? "*" : ""}`).join(" ")
      assert.strictEqual(text, TABLE[operation.name])
      for (const { description, name, schema } of inputs) {
        assert.include([...TYPES], schema["type"], name)
        assert.match(description, /^[A-Z].*\.$|^`.*\.$/, name)
        assert.lengthOf(schema["examples"] as ReadonlyArray<unknown>, 1, name)
      }
      for (const [place, codec] of [
        ["path", operation.params],
        ["query", operation.query],
        ["body", operation.payload]
      ] as const) {
        const example = Object.fromEntries(
          inputs.flatMap(({ in: of, name, schema }) =>
            of === place ? [[name, (schema["examples"] as ReadonlyArray<unknown>)[0]]] : []
          )
        )
        const decoded = Schema.decodeUnknownResult(codec, { onExcessProperty: "error" })(example)
        assert.isTrue(Result.isSuccess(decoded), `${operation.name} ${place}`)
      }
    })
  }

  it("has a path parameter for each variable part of the path, and no other", () => {
    for (const operation of operations) {
      const inPath = [...operation.entry.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = inputsOf(operation).flatMap((input) => (input.in === "path" ? [input.name] : []))
      assert.deepStrictEqual(declared, inPath, operation.name)
    }
  })
})

describe("describeInput", () => {
  it("adds the limits and the default in words", () => {
    const described = (operation: (typeof operations)[number], name: string) => {
      const input = inputsOf(operation).find((candidate) => candidate.name === name)
      return input === undefined ? undefined : describeInput(input)
    }
    assert.strictEqual(
      described(OPERATIONS.queryMessages, "limit"),
      "Maximum number of items to return. 1 to 100. Default: 50."
    )
    assert.strictEqual(described(OPERATIONS.sendMessage, "cc"), "Addresses that receive a copy. At most 50 items.")
    assert.match(described(OPERATIONS.sendMessage, "to") ?? "", /^Addresses of the recipients\. .* 1 to 50 items\.$/)
    assert.match(
      described(OPERATIONS.sendMessage, "subject") ?? "",
      /^Subject, on one line\. .* At most 998 characters\.$/
    )
    assert.strictEqual(
      described(OPERATIONS.listEvents, "status"),
      "Status of the events. One of pending, delivered, acknowledged, expired, failed."
    )
  })
})
