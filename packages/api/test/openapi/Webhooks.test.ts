import { OPERATIONS } from "@agentos/api"
import { AgentMessageRecord, AgentReplyRecord, EventRecord, EventType } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { createHmac } from "node:crypto"
import { webhookOf } from "./Document.ts"

const strict = { onExcessProperty: "error" } as const
const textOf = (example: Schema.Json | undefined): string => Schema.decodeUnknownSync(Schema.String)(example)
const macOf = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text)

describe("the webhooks of the OpenAPI document", () => {
  it("show an event of each type, with the headers and the signature of its delivery", () => {
    const { body, headers } = webhookOf("event")
    assert.sameMembers(Object.keys(body), [...EventType.literals])
    for (const [type, value] of Object.entries(body)) {
      assert.strictEqual<string>(Schema.decodeUnknownSync(EventRecord, strict)(value).type, type)
    }
    const event = body["email.received"]
    const [id, timestamp] = [textOf(headers["webhook-id"]), textOf(headers["webhook-timestamp"])]
    assert.strictEqual(id, Schema.decodeUnknownSync(EventRecord)(event).eventId)
    const secret = OPERATIONS.setEventWebhook.example?.data as { readonly signingSecret: string }
    const key = Buffer.from(secret.signingSecret.replace("whsec_", ""), "base64")
    const mac = macOf(key, `${id}.${timestamp}.${JSON.stringify(event)}`).digest("base64")
    assert.strictEqual(headers["webhook-signature"], `v1,${mac}`)
  })

  it("show a turn of a call with its signature, and answers of an agent", () => {
    const { answers, body, headers } = webhookOf("agentMessage")
    Schema.decodeUnknownSync(AgentMessageRecord, strict)(body["example"])
    const purchase = OPERATIONS.purchaseUsNumber.example?.data as { readonly callbackVerificationSecret: string }
    const text = `${textOf(headers["X-Service-Timestamp"])}.${JSON.stringify(body["example"])}`
    const mac = macOf(purchase.callbackVerificationSecret, text).digest("hex")
    assert.strictEqual(headers["X-Service-Signature"], `v1=${mac}`)
    const lines = textOf(answers["application/x-ndjson"]?.["example"]).trimEnd().split("\n")
    const replies = [...Object.values(answers["application/json"] ?? {}), ...lines.map((line) => JSON.parse(line))]
    assert.isAbove(replies.length, 2)
    for (const reply of replies) Schema.decodeUnknownSync(AgentReplyRecord, strict)(reply)
  })
})
