import {
  type DeliveryReport,
  effectOf,
  LocalPart,
  type MessageSummary,
  type OutboundStatus,
  RECIPIENT_TRANSITIONS,
  ReturnPath,
  statusOf,
  Timestamp,
  Uuid
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import { testKeyring } from "../support/TestKeyring.ts"

const messageId = "01900000-0000-7000-8000-0000000000aa"
const keyring = testKeyring([1, 2], 1)

describe("a return path", () => {
  it("is a local part of at most 64 characters that no mailbox can have", () => {
    const path = ReturnPath.make(keyring, messageId)
    assert.isAtMost(path.length, 64)
    assert.isTrue(Schema.decodeUnknownOption(LocalPart.LocalPart)(path)._tag === "None")
    assert.isTrue(LocalPart.isReserved("bounces"))
  })

  it.prop("names its message in any case, under any key of the ring", [Uuid.Uuid, Schema.Boolean], ([id, isUpper]) => {
    const given = id.toLowerCase()
    const path = ReturnPath.make(testKeyring([1, 2], isUpper ? 1 : 2), given)
    assert.deepStrictEqual(ReturnPath.read(keyring, isUpper ? path.toUpperCase() : path), Option.some(given))
  })

  it("is refused if a character differs, or its key is not in the ring", () => {
    const path = ReturnPath.make(keyring, messageId)
    for (let at = 0; at < path.length; at++) {
      const other = path.slice(0, at) + (path[at] === "0" ? "1" : "0") + path.slice(at + 1)
      assert.isTrue(Option.isNone(ReturnPath.read(keyring, other)), other)
    }
    assert.isTrue(Option.isNone(ReturnPath.read(testKeyring([2], 2), path)))
    assert.isTrue(Option.isNone(ReturnPath.read(keyring, `${path}0`)))
    assert.isTrue(Option.isNone(ReturnPath.read(keyring, "bounces")))
  })
})

const statuses = ["sent", "delivered", "bounced", "complained", "failed"] as const

const messageTo = (...recipients: ReadonlyArray<readonly [string, OutboundStatus]>): MessageSummary => ({
  messageId,
  threadId: messageId,
  mailboxId: messageId,
  tenantId: messageId,
  direction: "outbound",
  from: "ada@agents.test",
  sender: { address: "ada@agents.test", name: null },
  to: recipients.map(([address]) => address),
  cc: [],
  bcc: [],
  subject: "s",
  snippet: "t",
  messageIdHeader: "<1@agents.test>",
  inReplyTo: null,
  references: [],
  attachments: [],
  authentication: null,
  malformed: false,
  truncated: false,
  status: statusOf(recipients.map(([, status]) => ({ status }))),
  recipients: recipients.map(([address, status]) => ({ address, name: null, kind: "to", status, reason: null })),
  createdAt: Timestamp.Timestamp.make(0)
})

const notification = (
  action: string,
  parts: Partial<Extract<DeliveryReport, { _tag: "DeliveryStatus" }>["recipients"][number]> = {}
): DeliveryReport => ({
  _tag: "DeliveryStatus",
  recipients: [{ original: null, final: "bob@else.test", action, status: "5.1.1", diagnostic: null, ...parts }]
})

const complaint = (feedbackType: string, ...recipients: ReadonlyArray<string>): DeliveryReport => ({
  _tag: "Feedback",
  feedbackType,
  recipients
})

const REPORTS = [
  ["delivered", notification("delivered")],
  ["bounced", notification("failed")],
  ["complained", complaint("abuse", "bob@else.test")]
] as const

describe("a report", () => {
  it("moves a recipient exactly as the table allows", () => {
    for (const from of statuses) {
      for (const [to, report] of REPORTS) {
        const effect = effectOf(report, messageTo(["bob@else.test", from]))
        assert.strictEqual(effect?.recipients[0]?.status, RECIPIENT_TRANSITIONS[from].includes(to) ? to : undefined)
        if (effect !== undefined) assert.isUndefined(effectOf(report, { ...messageTo(), ...effect }), "a second time")
      }
    }
  })

  it("changes nothing if it names no recipient of the message, or neither a delivery nor a failure", () => {
    const message = messageTo(["bob@else.test", "sent"], ["carol@else.test", "sent"])
    for (const report of [
      notification("failed", { final: "eve@else.test" }),
      notification("failed", { final: null }),
      notification("delayed"),
      notification("relayed"),
      notification("expanded"),
      complaint("not-spam", "bob@else.test"),
      complaint("abuse")
    ]) {
      assert.isUndefined(effectOf(report, message))
    }
  })

  it("names the original recipient of a forwarded mail", () => {
    const report = notification("failed", { original: "Bob@Else.test", final: "robert@elsewhere.test" })
    assert.strictEqual(effectOf(report, messageTo(["bob@else.test", "sent"]))?.recipients[0]?.status, "bounced")
  })

  it("without a recipient is about the one recipient of its message", () => {
    const effect = effectOf(complaint("abuse"), messageTo(["bob@else.test", "delivered"]))
    assert.deepStrictEqual([effect?.status, effect?.complained], ["complained", ["bob@else.test"]])
  })

  it("suppresses an address for a hard bounce or a complaint, and for no other failure", () => {
    const message = messageTo(["Bob@else.test", "sent"])
    assert.deepStrictEqual(effectOf(notification("failed"), message)?.bounced, ["bob@else.test"])
    for (const status of ["4.4.7", "5.2.2", "5.7.1", "5.1.8", ""]) {
      assert.deepStrictEqual(effectOf(notification("failed", { status }), message)?.bounced, [], status)
    }
  })
})

describe("the status of a message", () => {
  it("is the first of sent, delivered, complained, bounced, failed that a recipient has", () => {
    const of = (...given: ReadonlyArray<OutboundStatus>) => statusOf(given.map((status) => ({ status })))
    assert.strictEqual(of("failed", "sent", "delivered"), "sent")
    assert.strictEqual(of("bounced", "complained", "delivered"), "delivered")
    assert.strictEqual(of("failed", "bounced", "complained"), "complained")
    assert.strictEqual(of("failed", "bounced"), "bounced")
    assert.strictEqual(of("failed", "failed"), "failed")
  })
})
