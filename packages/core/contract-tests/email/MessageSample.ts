import {
  BLANK_CONTENT,
  type InboundMail,
  type MailLease,
  InboundMailStore,
  type Mailbox,
  type Message,
  type MessageSummary,
  MessageStore,
  type NewMessage
} from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"

/** A message of the mailbox with unique ids, unless `parts` say otherwise. */
export const message = Effect.fnUntraced(function* (mailbox: Mailbox, parts?: Partial<Message>) {
  const clock = yield* StoreClock
  const messageId = parts?.messageId ?? (yield* Fresh.id)
  const made: Message = {
    messageId,
    threadId: messageId,
    mailboxId: mailbox.mailboxId,
    tenantId: mailbox.tenantId,
    ...BLANK_CONTENT,
    direction: "inbound",
    from: "someone@example.org",
    sender: { address: "someone@example.org", name: "Somebody" },
    to: [mailbox.address],
    bcc: [],
    subject: "Hello",
    snippet: "How are you?",
    messageIdHeader: `<${messageId}@example.org>`,
    authentication: { spf: "pass", dkim: "none", dmarc: "fail", domain: null },
    malformed: false,
    status: "received",
    recipients: [],
    labels: [],
    unread: parts?.direction !== "outbound",
    createdAt: yield* clock.now,
    text: "How are you?",
    extractedText: "How are you?",
    links: [{ text: "Open", url: "https://example.org/" }],
    ...parts
  }
  return made
})

/** A new message without duplicateKey and raw mail, unless `parts` say otherwise. */
export const fresh = (stored: Message, parts?: Partial<NewMessage>): NewMessage => ({
  message: stored,
  duplicateKey: null,
  inboundMailId: null,
  sizeBytes: 0,
  ...parts
})

/** A stored message of the mailbox. */
export const stored = Effect.fnUntraced(function* (
  mailbox: Mailbox,
  parts?: Partial<Message>,
  more?: Partial<NewMessage>
) {
  const store = yield* MessageStore
  const made = yield* message(mailbox, parts)
  assert.deepStrictEqual(yield* store.insert([fresh(made, more)]), new Set([made.messageId]))
  return made
})

/** Inserts the message; returns how many were stored. */
export const inserted = Effect.fnUntraced(function* (made: Message, more?: Partial<NewMessage>) {
  const store = yield* MessageStore
  return (yield* store.insert([fresh(made, more)])).size
})

/** Returns the message as lists show it. */
export const summary = ({ extractedText: _1, html: _2, links: _3, text: _4, ...rest }: Message): MessageSummary => rest

/** An inbound mail with a unique id and bytes, unless `parts` say otherwise. */
export const inboundMail = Effect.fnUntraced(function* (parts?: Partial<InboundMail>) {
  const clock = yield* StoreClock
  const inboundMailId = yield* Fresh.id
  const made: InboundMail = {
    inboundMailId,
    envelope: {
      mailFrom: "someone@example.org",
      rcptTo: ["agent@agents.example"],
      remoteAddress: "192.0.2.7",
      helo: "mx.example.org",
      secure: true
    },
    raw: new TextEncoder().encode(`Subject: ${inboundMailId}\r\n\r\nbody\r\n`),
    receivedAt: yield* clock.now,
    attempts: 0,
    ...parts
  }
  return made
})

/** An inbound mail, added to the queue. */
export const addedMail = Effect.fnUntraced(function* (
  parts?: Partial<InboundMail>,
  mailboxIds: ReadonlyArray<string> = [],
  leaseMillis?: number
) {
  const store = yield* InboundMailStore
  const mail = yield* inboundMail(parts)
  yield* store.add([{ mail, mailboxIds, leaseMillis }])
  return mail
})

/** Completes a mail. Returns false if it was completed or leased again before. */
export const completed = Effect.fnUntraced(function* (mail: MailLease) {
  const store = yield* InboundMailStore
  const ids = yield* store.complete([mail])
  return ids.has(mail.inboundMailId)
})

/** Returns the raw bytes of a tenant's message, as text with one character per byte, or undefined. */
export const rawOf = Effect.fnUntraced(function* (owner: Pick<Message, "tenantId" | "messageId">) {
  const store = yield* InboundMailStore
  const raw = yield* store.findRaw(owner.tenantId, owner.messageId)
  return raw === undefined ? undefined : latin1(yield* bytesOf(raw))
})

/** Returns the bytes of a mail, joined from the pieces that the store returns. */
export const bytesOf = Effect.fnUntraced(function* ({ inboundMailId }: Pick<InboundMail, "inboundMailId">) {
  const store = yield* InboundMailStore
  const pieces = yield* Stream.runCollect(store.readPieces(inboundMailId))
  return Uint8Array.from(Buffer.concat(pieces))
})

/** Returns bytes as text with one character per byte, for comparison. */
export const latin1 = (bytes: Uint8Array): string => new TextDecoder("latin1").decode(bytes)
