import {
  mailPieces,
  BLANK_CONTENT,
  InboundMails,
  MailParser,
  type Message,
  MessageStore,
  noMailParser,
  type ParsedMail,
  Timestamp,
  Uuid
} from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { adasMailbox, deliverMail, scenario } from "../support/Purchase.ts"

const EMPTY: ParsedMail = {
  ...BLANK_CONTENT,
  from: { address: "carol@else.test", name: null },
  subject: "Re: Offer",
  text: "Yes",
  authentication: { spf: "none", dkim: "none", dmarc: "none", domain: null },
  bodyHash: "00"
}

/** A parser whose mails are written as JSON. */
const jsonParser = MailParser.of({
  ...noMailParser,
  parse: (raw) =>
    Effect.map(Stream.runCollect(mailPieces(raw)), (pieces) => {
      const given: Partial<ParsedMail> = JSON.parse(new TextDecoder().decode(Buffer.concat([...pieces])))
      return { ...EMPTY, ...given }
    })
})

const DAY = 24 * 60 * 60 * 1_000

/** Ada has sent messages; an answer arrives. Returns the number of the message whose thread it joins, or null. */
const joined = Effect.fnUntraced(function* (sent: ReadonlyArray<Partial<Message>>, answer: Partial<ParsedMail>) {
  const { mailboxId, tenant } = yield* adasMailbox
  const messages = yield* MessageStore
  const inbound = yield* Effect.provide(
    InboundMails,
    Layer.fresh(InboundMails.layer).pipe(Layer.provide(Layer.succeed(MailParser, jsonParser)))
  )
  const now = yield* Timestamp.now
  const threads: Array<string> = []
  for (const parts of sent) {
    const messageId = yield* Uuid.next
    const to = parts.to ?? ["carol@else.test"]
    const message: Message = {
      ...BLANK_CONTENT,
      labels: [],
      unread: false,
      messageId,
      threadId: messageId,
      mailboxId,
      tenantId: tenant.tenantId,
      direction: "outbound",
      from: "ada@agents.test",
      sender: { address: "ada@agents.test", name: null },
      bcc: [],
      subject: "Offer",
      snippet: "Hello",
      messageIdHeader: `<${messageId}@agents.test>`,
      authentication: null,
      malformed: false,
      status: "sent",
      text: "Hello",
      createdAt: Timestamp.add(now, -DAY),
      ...parts,
      to,
      recipients: to.map((address) => ({ address, name: null, kind: "to", status: "sent", reason: null }))
    }
    threads.push(message.threadId)
    yield* messages.insert([{ message, duplicateKey: null, inboundMailId: null, sizeBytes: 0 }])
  }
  const envelope = {
    mailFrom: "carol@else.test",
    rcptTo: ["ada@agents.test"],
    remoteAddress: "192.0.2.1",
    helo: "else.test",
    secure: false
  }
  const mail = { inReplyTo: "<0100018f-1@email.amazonses.com>", ...answer }
  yield* inbound.accept(envelope, new TextEncoder().encode(JSON.stringify(mail)), "carol@else.test")
  yield* deliverMail(inbound)
  const [received] = yield* messages.list(tenant.tenantId, { mailboxId, direction: "inbound" }, undefined, 1)
  const place = threads.indexOf(received!.threadId)
  return place < 0 ? null : place
})

const RELAY = "0100018f-1"
const old = Timestamp.Timestamp.make(0)

describe("an answer to a Message-ID that a relay chose", () => {
  const cases: ReadonlyArray<
    readonly [title: string, sent: ReadonlyArray<Partial<Message>>, answer: Partial<ParsedMail>, place: number | null]
  > = [
    ["joins the message with the relay's id", [{ relayIds: [RELAY], subject: "x" }, {}], { subject: "Other" }, 0],
    [
      "joins it by the latest of References",
      [{ relayIds: ["r-2"] }, {}],
      { inReplyTo: null, references: ["<r-1@x>", "<r-2@x>"] },
      0
    ],
    [
      "joins it in any case of the id",
      [{ relayIds: ["abc-1"] }, {}],
      { inReplyTo: "<ABC-1@eu-west-1.amazonses.com>" },
      0
    ],
    ["joins the only thread with its subject and author", [{ subject: "Other" }, {}], {}, 1],
    [
      "compares subjects without prefixes, and addresses in any case",
      [{ subject: "Re: big  offer", to: ["Carol@else.test"] }],
      { subject: "AW: Re[2]: Big Offer" },
      0
    ],
    ["begins a thread if two threads fit", [{}, {}], {}, null],
    [
      "joins a thread in which two messages fit",
      [{ threadId: "01900000-0000-7000-8000-0000000000dd" }, { threadId: "01900000-0000-7000-8000-0000000000dd" }],
      {},
      0
    ],
    ["begins a thread if the subject is not that of a reply", [{}], { subject: "Offer" }, null],
    ["begins a thread if the subject differs", [{}], { subject: "Re: Offer 2" }, null],
    [
      "begins a thread if the mailbox did not write to its author",
      [{}],
      { from: { address: "eve@else.test", name: null } },
      null
    ],
    ["begins a thread if it answers nothing", [{}], { inReplyTo: null }, null],
    ["begins a thread after 30 days", [{ createdAt: old }], {}, null]
  ]
  for (const [title, sent, answer, place] of cases)
    scenario(title, () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("40 days")
        assert.strictEqual(yield* joined(sent, answer), place)
      })
    )
})
