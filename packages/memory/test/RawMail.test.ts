import {
  BLANK_CONTENT,
  InboundMailStore,
  MailboxStore,
  type Message,
  MessageStore,
  newMailbox,
  TenantStore,
  Timestamp,
  walletAddress
} from "@agentos/core"
import { Memory, MemoryDatabase } from "@agentos/memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

const stores = Layer.provideMerge(Memory.stores, Layer.fresh(MemoryDatabase.layer))

const addMail = Effect.fnUntraced(function* (inboundMailId: string) {
  const mails = yield* InboundMailStore
  const envelope = { mailFrom: "", rcptTo: [], remoteAddress: "", helo: "", secure: true }
  const receivedAt = yield* Timestamp.now
  const mail = { inboundMailId, envelope, raw: new Uint8Array(9), receivedAt, attempts: 0 }
  yield* mails.add([{ mail, mailboxIds: [] }])
})

/** Adds a mailbox with one message for each of these mails. */
const addMailbox = Effect.fnUntraced(function* (mailboxId: string, inboundMailIds: ReadonlyArray<string>) {
  const tenants = yield* TenantStore
  const mailboxes = yield* MailboxStore
  const messages = yield* MessageStore
  const now = yield* Timestamp.now
  const wallet = walletAddress(`0x${"0".repeat(40)}`)
  const { tenantId } = yield* tenants.ensure({ tenantId: "tenant", wallet, tokenVersion: 1, createdAt: now })
  const place = { mailboxId, tenantId, createdAt: now }
  yield* mailboxes.reserve(mailboxId, tenantId, "operation")
  yield* mailboxes.create(newMailbox({ ...place, localPart: mailboxId, domain: "agents.test" }), "operation")
  yield* messages.insert(
    inboundMailIds.map((inboundMailId) => {
      const messageId = `${mailboxId} ${inboundMailId}`
      const message: Message = { ...BLANK, ...place, messageId, threadId: messageId }
      return { message, duplicateKey: null, inboundMailId, sizeBytes: 9 }
    })
  )
})

const BLANK = {
  ...BLANK_CONTENT,
  direction: "inbound",
  from: "",
  sender: { address: "", name: null },
  bcc: [],
  snippet: "",
  authentication: null,
  malformed: false,
  status: "received",
  recipients: [],
  labels: [],
  unread: true
} as const

const kept = Effect.map(MemoryDatabase, ({ tables }) => tables.inboundMails.rows().map((row) => row.mail.inboundMailId))

describe("raw mail in memory", () => {
  it.effect("is deleted with the last message that refers to it", () =>
    Effect.gen(function* () {
      const mails = yield* InboundMailStore
      const mailboxes = yield* MailboxStore
      yield* Effect.forEach(["shared", "own", "waiting"], addMail)
      yield* addMailbox("one", ["shared", "own", "waiting"])
      yield* addMailbox("two", ["shared"])
      yield* mails.complete(["shared", "own"].map((inboundMailId) => ({ inboundMailId, attempts: 0 })))
      yield* mailboxes.remove("tenant", "one")
      assert.deepStrictEqual(yield* kept, ["shared", "waiting"])
      yield* mailboxes.remove("tenant", "two")
      assert.deepStrictEqual(yield* kept, ["waiting"])
    }).pipe(Effect.provide(stores))
  )

  it.effect("is deleted when it is completed and no message refers to it", () =>
    Effect.gen(function* () {
      const mails = yield* InboundMailStore
      yield* Effect.forEach(["read", "waiting"], addMail)
      yield* mails.complete([{ inboundMailId: "read", attempts: 0 }])
      assert.deepStrictEqual(yield* kept, ["waiting"])
    }).pipe(Effect.provide(stores))
  )
})
