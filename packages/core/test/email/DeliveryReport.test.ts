import {
  BLANK_CONTENT,
  type DeliveryReport,
  effectOf,
  LocalPart,
  type MessageSummary,
  type OutboundStatus,
  RECIPIENT_TRANSITIONS,
  type ReportAuthority,
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
    for (const path of [ReturnPath.make(keyring, messageId, 49), ReturnPath.make(keyring, messageId, null)]) {
      assert.isAtMost(path.length, 64)
      assert.isTrue(Schema.decodeUnknownOption(LocalPart.LocalPart)(path)._tag === "None")
    }
    assert.isTrue(LocalPart.isReserved("bounces"))
  })

  const Place = Schema.NullOr(Schema.Literals([0, 1, 49]))
  it.prop(
    "names its message and recipient in any case, under any key of the ring",
    [Uuid.Uuid, Place, Schema.Boolean],
    ([id, recipient, isUpper]) => {
      const given = id.toLowerCase()
      const path = ReturnPath.make(testKeyring([1, 2], isUpper ? 1 : 2), given, recipient)
      assert.deepStrictEqual(
        ReturnPath.read(keyring, isUpper ? path.toUpperCase() : path),
        Option.some({ messageId: given, recipient })
      )
    }
  )

  it("is refused if a character differs, or its key is not in the ring", () => {
    for (const path of [ReturnPath.make(keyring, messageId, 1), ReturnPath.make(keyring, messageId, null)]) {
      for (let at = 0; at < path.length; at++) {
        const other = path.slice(0, at) + (path[at] === "0" ? "1" : "0") + path.slice(at + 1)
        assert.isTrue(Option.isNone(ReturnPath.read(keyring, other)), other)
      }
      assert.isTrue(Option.isNone(ReturnPath.read(testKeyring([2], 2), path)))
      assert.isTrue(Option.isNone(ReturnPath.read(keyring, `${path}0`)))
    }
    assert.isTrue(Option.isNone(ReturnPath.read(keyring, "bounces")))
  })

  it("does not show its recipient how many others there are", () => {
    const places = Array.from({ length: 50 }, (_, place) => place)
    const shown = places.map((place) => Number.parseInt(ReturnPath.make(keyring, messageId, place).slice(42, 44), 16))
    assert.isAbove(Math.max(...shown), 50)
    assert.notDeepEqual(shown, places)
  })
})

const statuses = ["queued", "sent", "delivered", "bounced", "complained", "failed"] as const

const messageTo = (...recipients: ReadonlyArray<readonly [string, OutboundStatus]>): MessageSummary => ({
  ...BLANK_CONTENT,
  messageId,
  threadId: messageId,
  mailboxId: messageId,
  tenantId: messageId,
  direction: "outbound",
  from: "ada@agents.test",
  sender: { address: "ada@agents.test", name: null },
  to: recipients.map(([address]) => address),
  bcc: [],
  subject: "s",
  snippet: "t",
  messageIdHeader: "<1@agents.test>",
  authentication: null,
  malformed: false,
  status: statusOf(recipients.map(([, status]) => ({ status }))),
  recipients: recipients.map(([address, status]) => ({ address, name: null, kind: "to", status, reason: null })),
  labels: [],
  unread: false,
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

/** A report to the return path of each of these recipients, by a stranger. */
const by = (...returnPaths: ReadonlyArray<number | null>): ReportAuthority => ({ returnPaths, isReporter: false })
const first = by(0)
/** To the return path of a whole message, which older versions gave to each recipient. */
const old = by(null)

const REPORTS = [
  ["ReportDelivery", notification("delivered")],
  ["ReportBounce", notification("failed")],
  ["ReportComplaint", complaint("abuse", "bob@else.test")]
] as const

describe("a report", () => {
  it("moves a recipient exactly as the table allows", () => {
    for (const from of statuses) {
      for (const [move, report] of REPORTS) {
        const effect = effectOf(report, messageTo(["bob@else.test", from]), first)
        assert.strictEqual(effect?.recipients[0]?.status, RECIPIENT_TRANSITIONS[from][move])
        if (effect !== undefined)
          assert.isUndefined(effectOf(report, { ...messageTo(), ...effect }, first), "a second time")
      }
    }
  })

  it("changes nothing if it reports neither a delivery, a failure nor a complaint", () => {
    const message = messageTo(["bob@else.test", "sent"])
    for (const report of [
      notification("delayed"),
      notification("relayed"),
      notification("expanded"),
      complaint("not-spam", "bob@else.test"),
      { _tag: "DeliveryStatus", recipients: [] } as const
    ]) {
      assert.isUndefined(effectOf(report, message, first))
    }
  })

  const two = messageTo(["bob@else.test", "sent"], ["carol@else.test", "sent"])
  const statusesAfter = (report: DeliveryReport, authority: ReportAuthority) =>
    effectOf(report, two, authority)?.recipients.map(({ status }) => status)

  it("to the return path of a recipient is about that recipient alone, whatever address it names", () => {
    for (const named of [["carol@else.test"], ["eve@else.test"], [], ["bob@else.test", "carol@else.test"]]) {
      assert.deepStrictEqual(statusesAfter(complaint("abuse", ...named), first), ["complained", "sent"])
      assert.deepStrictEqual(statusesAfter(complaint("abuse", ...named), by(1, 1)), ["sent", "complained"])
      const failures = named.map((final) => ({
        original: null,
        final,
        action: "failed",
        status: "5.1.1",
        diagnostic: null
      }))
      const bounces = statusesAfter({ _tag: "DeliveryStatus", recipients: failures }, first)
      // A failure of Carol alone says nothing about Bob, and Bob's path does not speak for Carol.
      const isAboutOther = named.join() === "carol@else.test"
      assert.deepStrictEqual(bounces, named.length === 0 || isAboutOther ? undefined : ["bounced", "sent"])
    }
    assert.deepStrictEqual(statusesAfter(complaint("abuse"), by(0, 1)), ["complained", "complained"])
    assert.isUndefined(effectOf(complaint("abuse"), two, by(2)))
  })

  it("to the return path of a whole message changes nothing, unless the message has one recipient", () => {
    for (const report of [
      complaint("abuse"),
      complaint("abuse", "bob@else.test"),
      notification("failed"),
      notification("delivered")
    ]) {
      assert.isUndefined(effectOf(report, two, old))
    }
    const alone = messageTo(["bob@else.test", "delivered"])
    assert.deepStrictEqual(effectOf(complaint("abuse", "eve@else.test"), alone, old)?.complained, ["bob@else.test"])
    assert.deepStrictEqual(effectOf(notification("failed"), alone, old)?.bounced, ["bob@else.test"])
  })

  it("of a configured reporter is about the recipients whose complaints it names, and no bounce", () => {
    const reporter = { ...old, isReporter: true }
    assert.deepStrictEqual(statusesAfter(complaint("abuse", "Carol@Else.test", "eve@else.test"), reporter), [
      "sent",
      "complained"
    ])
    assert.isUndefined(effectOf(complaint("abuse"), two, reporter))
    assert.isUndefined(effectOf(notification("failed"), two, reporter))
  })

  it("with several claims counts by those that name the recipient, and by a failure first", () => {
    const claim = (final: string, action: string) => ({
      original: null,
      final,
      action,
      status: "5.1.1",
      diagnostic: null
    })
    const after = (...recipients: ReadonlyArray<ReturnType<typeof claim>>) =>
      statusesAfter({ _tag: "DeliveryStatus", recipients }, first)?.[0]
    assert.strictEqual(after(claim("x@else.test", "failed"), claim("Bob@Else.test", "delivered")), "delivered")
    assert.strictEqual(after(claim("x@else.test", "delivered"), claim("y@else.test", "failed")), "bounced")
  })

  it("suppresses an address for a hard bounce or a complaint, and for no other failure", () => {
    const message = messageTo(["Bob@else.test", "sent"])
    assert.deepStrictEqual(effectOf(notification("failed"), message, first)?.bounced, ["bob@else.test"])
    for (const status of ["4.4.7", "5.2.2", "5.7.1", "5.1.8", ""]) {
      assert.deepStrictEqual(effectOf(notification("failed", { status }), message, first)?.bounced, [], status)
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
