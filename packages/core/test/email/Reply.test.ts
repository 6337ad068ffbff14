import { BLANK_CONTENT, type Message, newMailbox, Timestamp } from "@agentos/core"
import { describe, expect, it } from "vitest"
import { copiedTo, repliedTo } from "../../src/email/Reply.ts"

const ID = "01900000-0000-7000-8000-000000000001"
const PATH = `bounces+${"0".repeat(56)}@agents.test`
const createdAt = Timestamp.Timestamp.make(0)
const ada = newMailbox({ mailboxId: ID, tenantId: ID, localPart: "ada", domain: "agents.test", createdAt })

const received = (parts: Partial<Message>): Message => ({
  ...BLANK_CONTENT,
  messageId: ID,
  threadId: ID,
  mailboxId: ID,
  tenantId: ID,
  direction: "inbound",
  from: "bob@else.test",
  sender: { address: "bob@else.test", name: null },
  to: [ada.address],
  bcc: [],
  snippet: "",
  authentication: null,
  malformed: false,
  status: "received",
  recipients: [],
  labels: [],
  unread: true,
  createdAt,
  ...parts
})

describe("a reply", () => {
  it("goes to Reply-To, or else to the author, or to the recipients of a sent message", () => {
    expect(repliedTo(received({ replyTo: ["help@else.test", "Help@else.test"] }), [ada])).toEqual(["help@else.test"])
    expect(repliedTo(received({}), [ada])).toEqual(["bob@else.test"])
    expect(repliedTo(received({ direction: "outbound", to: ["carol@else.test"] }), [ada])).toEqual(["carol@else.test"])
  })

  it("to all copies the others and the list, without the own address and its tags", () => {
    const mailingList = { listId: null, post: "list@else.test", unsubscribe: [], oneClick: false }
    const message = received({ to: ["Ada+x@agents.test", "carol@else.test"], cc: ["CAROL@else.test"], mailingList })
    expect(copiedTo(message, [ada], ["dan@else.test"])).toEqual(["dan@else.test", "carol@else.test", "list@else.test"])
  })

  it("never goes to a return path, to which a vacation reply is addressed", () => {
    expect(copiedTo(received({ to: [PATH], cc: [PATH.toUpperCase(), "carol@else.test"] }), [ada], [])).toEqual([
      "carol@else.test"
    ])
    expect(repliedTo(received({ from: "", to: [PATH] }), [ada])).toEqual([])
  })
})
