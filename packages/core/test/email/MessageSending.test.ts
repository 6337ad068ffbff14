import {
  BLANK_CONTENT,
  AttachmentStore,
  bodySizeBytes,
  EmailProvider,
  MailboxStore,
  type Message,
  type MessageRecord,
  messageSending,
  MessageStore,
  newMailbox,
  OperationSteps,
  OperationStore,
  type OutgoingMail,
  ProviderError,
  type SendMessageInput,
  snippetOf,
  type Tenant
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Stream } from "effect"
import {
  ADA,
  adasMailbox,
  balances,
  failureOf,
  pay,
  order,
  returnDebts,
  scenario,
  sendPaid
} from "../support/Purchase.ts"

const operationId = "01900000-0000-7000-8000-0000000000aa"

/** Sends a message of Ada to some friends through a relay that rejects the addresses in `refused`. */
const sending = Effect.fnUntraced(function* (given: {
  readonly refused?: Readonly<Record<string, string>>
  readonly to?: ReadonlyArray<string>
  readonly signature?: string
  readonly text?: string
  readonly html?: string
}) {
  const { mailboxId, tenant } = yield* adasMailbox
  const { html, refused = {}, signature = null, text = "Hi", to = ["friend@example.com"] } = given
  const sent: Array<OutgoingMail> = []
  const provider = EmailProvider.of({
    name: "scripted",
    domain: "agents.test",
    send: (mail) =>
      Effect.sync(() => {
        sent.push(mail)
        return {
          accepted: mail.to.filter((address) => refused[address] === undefined),
          rejected: Object.entries(refused).map(([address, reason]) => ({ address, reason })),
          response: "250 ok"
        }
      })
  })
  const service = yield* Effect.provideService(messageSending, EmailProvider, provider)
  const context = { operationId, tenant, createdAt: tenant.createdAt, attended: true, isAuthenticated: true }
  const input = { mailboxId, to, subject: "Hello", text, ...(html === undefined ? {} : { html }) }
  const plan = { ...(yield* service.prepare(context, input)), signature }
  const receipt = yield* service.perform!(context, plan, input)
  yield* service.record(context, plan, input, receipt)
  return {
    mail: sent[0]!,
    suppressed: yield* (yield* MessageStore).findSuppressed(tenant.tenantId, to)
  }
})

describe("a signature", () => {
  scenario("is added to a text with 100,000 line breaks without repeated scans", () =>
    Effect.gen(function* () {
      const text = `${"\n".repeat(100_000)}x`
      const used = process.threadCpuUsage()
      const { mail } = yield* sending({ signature: "Ada", text })
      assert.strictEqual(mail.text, `${text}\n\n-- \nAda\n`)
      const { system, user } = process.threadCpuUsage(used)
      // Takes 5 ms. `/\n+$/`, which begins again at each break, takes 9,700 ms.
      assert.isBelow((user + system) / 1_000, 1_000)
    })
  )

  scenario("follows the text without the trailing line breaks", () =>
    Effect.gen(function* () {
      const { mail } = yield* sending({ signature: "Ada", text: "Hi\n\nthere \n\n\n" })
      assert.strictEqual(mail.text, "Hi\n\nthere \n\n-- \nAda\n")
    })
  )

  scenario("is placed before the end of the HTML body, also if letters of the text grow in lower case", () =>
    Effect.gen(function* () {
      const { mail } = yield* sending({ signature: "Ada & Co", html: "<BODY><p>İİİİ</p></BODY></html>" })
      assert.strictEqual(mail.html, "<BODY><p>İİİİ</p><br>\n<div>-- <br>\nAda &#38; Co</div>\n</BODY></html>")
    })
  )
})

describe("a recipient that the relay rejected", () => {
  scenario("is suppressed if the address itself is permanently invalid, and for no other reason", () =>
    Effect.gen(function* () {
      const refused = {
        "unknown@a.test": "550 5.1.1 no such user",
        "twice@b.test": "550-5.1.1 no such user 550 5.1.1 see https://b.test",
        "no-mail@c.test": "556 5.1.10 null MX",
        "deferred@d.test": "450 4.7.1 Client host [10.5.1.22] deferred",
        "greylisted@e.test": "451 5.1.1 try again",
        "blocked@f.test": "554 5.7.1 10.5.1.22 is on a list",
        "sender@g.test": "550 5.1.8 Sender address rejected: Domain not found",
        "sender@h.test": "553 5.1.7 Bad sender address"
      }
      const { suppressed } = yield* sending({ refused, to: ["friend@example.com", ...Object.keys(refused)] })
      assert.sameMembers([...suppressed], ["unknown@a.test", "twice@b.test", "no-mail@c.test"])
    })
  )
})

describe("a recipient that the relay rejected together with all others", () => {
  scenario("is suppressed for its own reason, and the payment is refunded", ({ sendScript }) =>
    Effect.gen(function* () {
      const { attempt, challenge, tenant } = yield* sendPaid
      const refused = [
        { address: "Friend@example.com", reason: "550 5.1.1 no such user" },
        { address: "other@example.com", reason: "550 5.7.1 not from you" }
      ]
      sendScript.push(new ProviderError({ provider: "scripted", reason: "Rejected", message: "no", refused }))
      const error = yield* failureOf(attempt(pay(challenge, ADA, "02")))
      assert.deepInclude(error, { _tag: "OperationRejected", paymentState: "refund_due" })
      const suppressed = yield* (yield* MessageStore).findSuppressed(tenant.tenantId, [
        "friend@example.com",
        "other@example.com"
      ])
      assert.deepStrictEqual(suppressed, ["friend@example.com"])
    })
  )
})

/** Stores a received message in another mailbox of the tenant. */
const received = Effect.fnUntraced(function* (
  tenant: Tenant,
  parts: Pick<Message, "messageIdHeader"> & Partial<Message>
) {
  const mailboxes = yield* MailboxStore
  const { createdAt, tenantId } = tenant
  const other = "01900000-0000-7000-8000-0000000000bb"
  yield* mailboxes.reserve("other", tenantId, operationId)
  const mailbox = newMailbox({ mailboxId: other, tenantId, localPart: "other", domain: "agents.test", createdAt })
  yield* mailboxes.create(mailbox, operationId)
  const messageId = "01900000-0000-7000-8000-0000000000cc"
  const message: Message = {
    ...BLANK_CONTENT,
    messageId,
    threadId: "01900000-0000-7000-8000-0000000000dd",
    mailboxId: other,
    tenantId,
    direction: "inbound",
    from: "a@else.test",
    sender: { address: "a@else.test", name: null },
    to: [mailbox.address],
    bcc: [],
    subject: "s",
    snippet: "t",
    labels: [],
    unread: true,
    authentication: null,
    malformed: false,
    status: "received",
    recipients: [],
    createdAt,
    text: "t",
    ...parts
  }
  yield* (yield* MessageStore).insert([{ message, duplicateKey: null, inboundMailId: null, sizeBytes: 0 }])
  return { ...message, other }
})

/** Answers a message. Returns the failure, if any. */
const reply = (tenant: Tenant, mailboxId: string, inReplyTo: string, signature: string | null) =>
  order(
    messageSending,
    { tenant, signature, body: "reply" },
    { mailboxId, to: ["friend@example.com"], subject: "Re: s", text: "t", inReplyTo }
  ).pipe(Effect.match({ onFailure: (error) => error, onSuccess: () => undefined }))

const challengeIn = (error: Effect.Success<ReturnType<typeof reply>>): string =>
  error?._tag === "PaymentRequired" ? error.challenge : ""

describe("a reply", () => {
  scenario("to a message that is deleted before the payment is claimed is not charged", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const { messageId, other } = yield* received(tenant, { messageIdHeader: "<1@else.test>" })
      const challenge = yield* reply(tenant, mailboxId, messageId, null)
      const before = yield* balances
      yield* (yield* MailboxStore).remove(tenant.tenantId, other)
      const error = yield* reply(tenant, mailboxId, messageId, pay(challengeIn(challenge), ADA, "02"))
      assert.strictEqual(error?._tag, "ResourceNotFound")
      assert.deepStrictEqual(yield* balances, before)
    })
  )

  scenario("names the first and the latest 49 messages of a long conversation", ({ sent }) =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const references = Array.from({ length: 60 }, (_, index) => `<${index}@else.test>`)
      const { messageId } = yield* received(tenant, { messageIdHeader: "<60@else.test>", references })
      const challenge = yield* reply(tenant, mailboxId, messageId, null)
      yield* reply(tenant, mailboxId, messageId, pay(challengeIn(challenge), ADA, "02"))
      assert.strictEqual(sent[0]?.inReplyTo, "<60@else.test>")
      assert.deepStrictEqual(sent[0]?.references, ["<0@else.test>", ...references.slice(12), "<60@else.test>"])
    })
  )

  scenario("to a message without a Message-ID joins its thread, and names only itself", ({ sent }) =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const { messageId, threadId } = yield* received(tenant, { messageIdHeader: null })
      const challenge = yield* reply(tenant, mailboxId, messageId, null)
      yield* reply(tenant, mailboxId, messageId, pay(challengeIn(challenge), ADA, "02"))
      assert.deepInclude(sent[0], { inReplyTo: null, references: [sent[0]!.messageIdHeader] })
      const [stored] = yield* (yield* MessageStore).list(tenant.tenantId, { mailboxId }, undefined, 1)
      assert.strictEqual(stored?.threadId, threadId)
    })
  )
})

/** Prepares a message of Ada, and returns how it is recorded before it is sent, or the error. */
const prepared = Effect.fnUntraced(function* (
  tenant: Tenant,
  input: Partial<SendMessageInput> & Pick<SendMessageInput, "mailboxId">
) {
  const service = yield* messageSending
  const context = { operationId, tenant, createdAt: tenant.createdAt, attended: true, isAuthenticated: true }
  const given = { text: "t", ...input }
  const plan = yield* service.prepare(context, given)
  const receipt = { accepted: [], rejected: [], response: "250 ok" }
  const { data } = yield* service.record(context, plan, given, receipt)
  return (data as { readonly message: MessageRecord }).message
})

const mailingList = { listId: "team.else.test", post: "team@else.test", unsubscribe: [], oneClick: false }

describe("the recipients of a reply that names none", () => {
  const cases: ReadonlyArray<
    readonly [title: string, answered: Partial<Message>, replyAll: boolean, to: string, cc?: string]
  > = [
    ["are the author", {}, false, "a@else.test"],
    [
      "are those in Reply-To",
      { replyTo: ["h@else.test", "H@else.test", "i@else.test"] },
      false,
      "h@else.test i@else.test"
    ],
    ["are the author if Reply-To is the own address", { replyTo: ["Other@agents.test"] }, false, "a@else.test"],
    [
      "are the recipients of a mail that the mailbox wrote to itself",
      { from: "other@agents.test", to: ["b@else.test", "other+x@agents.test"] },
      false,
      "b@else.test"
    ],
    ["are the mailbox itself if no other address is named", { from: "other@agents.test" }, false, "other@agents.test"],
    [
      "are those of a sent message",
      { direction: "outbound", from: "other@agents.test", to: ["b@else.test"] },
      false,
      "b@else.test"
    ],
    ["are those in Reply-To of a mailing list, without the list", { mailingList }, false, "a@else.test"],
    [
      "are with replyAll also the others and the list, without the own addresses",
      {
        to: ["other@agents.test", "b@else.test"],
        cc: ["ada+tag@agents.test", "A@else.test", "c@else.test"],
        mailingList
      },
      true,
      "a@else.test",
      "b@else.test c@else.test team@else.test"
    ],
    [
      "are with replyAll those of a sent message, without its hidden ones",
      {
        direction: "outbound",
        from: "other@agents.test",
        to: ["b@else.test"],
        cc: ["c@else.test"],
        bcc: ["d@else.test"]
      },
      true,
      "b@else.test",
      "c@else.test"
    ],
    ["are written with A-labels", { replyTo: ["jürgen@müller.example"] }, false, "jürgen@xn--mller-kva.example"],
    ["leave out invalid addresses", { replyTo: ["not an address", "h@else.test"] }, false, "h@else.test"]
  ]
  for (const [title, answered, replyAll, to, cc = ""] of cases)
    scenario(title, () =>
      Effect.gen(function* () {
        const { mailboxId, tenant } = yield* adasMailbox
        const { messageId } = yield* received(tenant, {
          messageIdHeader: "<1@else.test>",
          subject: "Plan",
          ...answered
        })
        const message = yield* prepared(tenant, { mailboxId, inReplyTo: messageId, replyAll })
        assert.deepStrictEqual([message.to.join(" "), message.cc.join(" ")], [to, cc])
        assert.strictEqual(message.subject, "Re: Plan")
      })
    )

  scenario("must be given if the message names no address", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const { messageId } = yield* received(tenant, { messageIdHeader: null, from: "", to: [] })
      const error = yield* Effect.flip(prepared(tenant, { mailboxId, inReplyTo: messageId }))
      assert.deepInclude(error, { _tag: "InvalidRequest" })
      assert.include(error.message, "to is missing: the message names nobody to answer")
    })
  )

  scenario("and its subject are those that are given, if they are", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const { messageId } = yield* received(tenant, { messageIdHeader: "<1@else.test>" })
      const given = { to: ["x@else.test"], subject: "Other", replyTo: ["help@else.test"] }
      const message = yield* prepared(tenant, { mailboxId, inReplyTo: messageId, ...given })
      assert.deepInclude(message, { ...given, cc: [] })
    })
  )
})

describe("a message that is no reply", () => {
  for (const [field, input] of [
    ["to", { subject: "s" }],
    ["subject", { to: ["x@else.test"] }],
    ["replyAll", { to: ["x@else.test"], subject: "s", replyAll: true }],
    [
      "attachments.0.contentId",
      {
        to: ["x@else.test"],
        subject: "s",
        attachments: [{ filename: "a.png", contentType: "image/png", contentBase64: "", contentId: "a" }]
      }
    ]
  ] as const)
    scenario(`is refused by the name of the field: ${field}`, () =>
      Effect.gen(function* () {
        const { mailboxId, tenant } = yield* adasMailbox
        const error = yield* Effect.flip(prepared(tenant, { mailboxId, ...input }))
        if (error._tag !== "InvalidRequest") throw error
        assert.strictEqual(error.issues[0]?.path, field)
      })
    )
})

describe("Auto-Submitted", () => {
  scenario("marks a reply, unless a person sends it, and another message if it is asked for", ({ sent }) =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const { messageId } = yield* received(tenant, { messageIdHeader: "<1@else.test>" })
      const first = { mailboxId, to: ["x@else.test"], subject: "s" }
      const reply = { mailboxId, inReplyTo: messageId }
      const marked = yield* Effect.forEach(
        [first, { ...first, automatic: true }, reply, { ...reply, automatic: false }],
        (input) => Effect.map(prepared(tenant, input), ({ automatic }) => automatic)
      )
      assert.deepStrictEqual(marked, [null, "auto_generated", "auto_replied", null])
      const challenge = yield* Effect.map(failureOf(answer(tenant, mailboxId, messageId, null)), (error) =>
        error._tag === "PaymentRequired" ? error.challenge : ""
      )
      yield* answer(tenant, mailboxId, messageId, pay(challenge, ADA, "02"))
      assert.deepInclude(sent[0], { autoSubmitted: "auto-replied", to: ["a@else.test"], subject: "Re: s" })
    })
  )

  for (const automatic of ["auto_replied", "null_sender", "auto_generated", "mailing_list"] as const)
    scenario(`of a mail (${automatic}) decides whether a program answers it`, () =>
      Effect.gen(function* () {
        const { mailboxId, tenant } = yield* adasMailbox
        const { messageId } = yield* received(tenant, { messageIdHeader: "<1@else.test>", automatic })
        const before = yield* balances
        const input = { mailboxId, inReplyTo: messageId, to: ["a@else.test"] }
        const result = yield* Effect.result(prepared(tenant, input))
        const isRefused = automatic === "auto_replied" || automatic === "null_sender"
        assert.strictEqual(result._tag, isRefused ? "Failure" : "Success")
        if (result._tag === "Failure") assert.deepInclude(result.failure, { _tag: "Conflict" })
        assert.deepStrictEqual(yield* balances, before)
        yield* prepared(tenant, { ...input, automatic: false })
      })
    )
})

/** Answers a message without naming its recipients. */
const answer = (tenant: Tenant, mailboxId: string, inReplyTo: string, signature: string | null) =>
  order(messageSending, { tenant, signature, body: "answer" }, { mailboxId, text: "t", inReplyTo })

const FILES = [
  { filename: "a.txt", contentType: "text/plain", contentBase64: "SGk=" },
  { filename: "b.bin", contentType: "application/octet-stream", contentBase64: "AAEC/w==" }
]

/** Sends a mail with attachments. */
const sendFiles = (tenant: Tenant, mailboxId: string, signature: string | null) =>
  order(
    messageSending,
    { tenant, signature, body: "files" },
    { mailboxId, to: ["friend@example.com"], subject: "Files", text: "Hi", attachments: FILES }
  )

const challengeForFiles = (tenant: Tenant, mailboxId: string) =>
  Effect.map(failureOf(sendFiles(tenant, mailboxId, null)), (error) =>
    error._tag === "PaymentRequired" ? error.challenge : ""
  )

describe("a forwarded message", () => {
  scenario("has the note, the header, the text and the files of the original", ({ sent }) =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const first = yield* sendFiles(tenant, mailboxId, pay(yield* challengeForFiles(tenant, mailboxId), ADA, "02"))
      const { messageId } = (JSON.parse(Redacted.value(first.body)) as { data: { message: MessageRecord } }).data
        .message
      const forward = (signature: string | null) =>
        order(
          messageSending,
          { tenant, signature, body: "forward", key: "key-2" },
          { mailboxId, to: ["carol@example.com"], text: "Look\n", forwards: messageId, attachments: [FILES[1]!] }
        )
      const required = yield* failureOf(forward(null))
      const challenge = required._tag === "PaymentRequired" ? required.challenge : ""
      yield* forward(pay(challenge, ADA, "03"))
      const mail = sent.at(-1)!
      assert.deepInclude(mail, { subject: "Fwd: Files", inReplyTo: null, autoSubmitted: null, html: null })
      assert.match(
        mail.text,
        /^Look\n\n-{10} Forwarded message -{10}\nFrom: ada@agents\.test\nDate: .* GMT\nSubject: Files\nTo: friend@example\.com\n\nHi$/
      )
      assert.deepStrictEqual(
        mail.attachments.map(({ filename, sizeBytes }) => [filename, sizeBytes]),
        [
          ["b.bin", 4],
          ["a.txt", 2],
          ["b.bin", 4]
        ]
      )
      const contents = yield* Effect.forEach(mail.attachments, ({ content }) => Stream.runCollect(content))
      assert.strictEqual(Buffer.concat(contents[1]!).toString("base64"), FILES[0]!.contentBase64)
    })
  )

  scenario("leaves the attachments of the original out on request, also those that are no longer stored", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const file = { filename: "a.bin", contentType: "application/pdf", sizeBytes: 9 * 1024 * 1024, sha256: "00" }
      const { messageId } = yield* received(tenant, { messageIdHeader: null, attachments: [file] })
      const own = { mailboxId, to: ["x@else.test"], text: "Look", attachments: [FILES[0]!] }
      const input = { ...own, forwards: messageId }
      assert.include(
        (yield* Effect.flip(prepared(tenant, input))).message,
        "names a message whose attachments are no longer stored"
      )
      const short = { ...input, forwardAttachments: false }
      yield* prepared(tenant, short)
      const { staging } = yield* Effect.provideService(messageSending, EmailProvider, unusedRelay)
      assert.deepInclude(yield* staging!.store(operationId, short, tenant), { subject: "Fwd: s", attachments: [] })
      assert.strictEqual(yield* stagedFiles, 1)
      const { message } = yield* Effect.flip(prepared(tenant, { ...own, forwardAttachments: false }))
      assert.include(message, "forwardAttachments requires forwards")
    })
  )

  scenario("is refused before the payment if it is too large, unknown, or also a reply", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const long = yield* received(tenant, { messageIdHeader: null, text: "x".repeat(1024 * 1024) })
      const input = { mailboxId, to: ["x@else.test"] }
      const failure = (more: Partial<SendMessageInput>) => Effect.flip(prepared(tenant, { ...input, ...more }))
      assert.include(
        (yield* failure({ forwards: long.messageId })).message,
        "forwards names a message that is too large"
      )
      const forwards = "01900000-0000-7000-8000-0000000000ff"
      assert.strictEqual((yield* failure({ forwards }))._tag, "ResourceNotFound")
      assert.include((yield* failure({ forwards, inReplyTo: forwards })).message, "can't be combined with inReplyTo")
    })
  )

  scenario("is refused if the original is deleted after the check", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const { staging } = yield* Effect.provideService(messageSending, EmailProvider, unusedRelay)
      const forwards = "01900000-0000-7000-8000-0000000000ff"
      const input = { mailboxId, to: ["x@else.test"], text: "Look", forwards }
      assert.strictEqual((yield* Effect.flip(staging!.store(operationId, input, tenant)))._tag, "ResourceNotFound")
    })
  )
})

const unusedRelay = EmailProvider.of({
  name: "unused",
  domain: "agents.test",
  send: () => Effect.die("nothing is sent")
})

/** Returns how many attachments are staged, and removes them. */
const stagedFiles = Effect.flatMap(AttachmentStore, (store) => store.removeStaged({ age: 0, limit: 100 }))

/** Returns how many attachments of an operation are stored. */
const filesOf = Effect.fnUntraced(function* (tenant: Tenant, operationId: string) {
  const { plan } = Option.getOrThrow(yield* (yield* OperationStore).find(operationId))
  const { attachments, messageId } = JSON.parse(plan) as {
    messageId: string
    attachments: ReadonlyArray<unknown>
  }
  const store = yield* AttachmentStore
  const found = yield* Effect.forEach(attachments, (_, index) => store.read(tenant.tenantId, messageId, index))
  return found.filter(Option.isSome).length
})

const atStaged = { run: Effect.void as Effect.Effect<unknown> }

describe("the attachments of a mail", () => {
  scenario("are stored apart from the operation, sent byte for byte, and kept with the message", ({ sent }) =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      const answer = yield* sendFiles(tenant, mailboxId, pay(yield* challengeForFiles(tenant, mailboxId), ADA, "02"))
      const [mail] = sent
      const contents = yield* Effect.forEach(mail!.attachments, ({ content }) => Stream.runCollect(content))
      assert.deepStrictEqual(
        contents.map((pieces) => Buffer.concat(pieces).toString("base64")),
        FILES.map(({ contentBase64 }) => contentBase64)
      )
      const operation = Option.getOrThrow(yield* (yield* OperationStore).find(answer.operationId))
      assert.notInclude(operation.input, "SGk=")
      const { message } = (JSON.parse(Redacted.value(answer.body)) as { data: { message: Message } }).data
      assert.deepStrictEqual(
        message.attachments.map(({ contentType, filename, sizeBytes }) => ({ contentType, filename, sizeBytes })),
        [
          { filename: "a.txt", contentType: "text/plain", sizeBytes: 2 },
          { filename: "b.bin", contentType: "application/octet-stream", sizeBytes: 4 }
        ]
      )
      const read = yield* (yield* AttachmentStore).read(tenant.tenantId, message.messageId, 1)
      assert.strictEqual(Option.getOrThrow(read).attachment.sha256, message.attachments[1]!.sha256)
      const usage = (yield* (yield* MailboxStore).findStandings([mailboxId])).get(mailboxId)?.usage
      assert.strictEqual(usage?.bytes, bodySizeBytes(message) + 6)
    })
  )

  scenario("are not stored for a request without a payment", () =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      yield* challengeForFiles(tenant, mailboxId)
      assert.strictEqual(yield* stagedFiles, 0)
    })
  )

  scenario(
    "are deleted if the claim fails",
    () =>
      Effect.gen(function* () {
        const { mailboxId, tenant } = yield* adasMailbox
        const signature = pay(yield* challengeForFiles(tenant, mailboxId), ADA, "02")
        const messages = yield* MessageStore
        // The checks run before the attachments are staged and again in the claim. Only the second time they fail.
        atStaged.run = messages.suppress(tenant.tenantId, ["friend@example.com"], "bounced")
        const error = yield* failureOf(sendFiles(tenant, mailboxId, signature))
        assert.strictEqual(error._tag, "InvalidRequest")
        assert.strictEqual(yield* stagedFiles, 0)
      }),
    Layer.succeed(OperationSteps, (step) => (step === "staged" ? Effect.asVoid(atStaged.run) : Effect.void))
  )

  scenario("are deleted if the relay rejects the mail and the payment is refunded", ({ sendScript }) =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      sendScript.push("Rejected")
      const challenge = yield* challengeForFiles(tenant, mailboxId)
      const error = yield* failureOf(sendFiles(tenant, mailboxId, pay(challenge, ADA, "02")))
      if (error._tag !== "OperationRejected") throw error
      assert.strictEqual(yield* filesOf(tenant, error.operationId), 0)
    })
  )

  scenario("stay for a later attempt if the relay is unavailable", ({ sendScript, sent }) =>
    Effect.gen(function* () {
      const { mailboxId, tenant } = yield* adasMailbox
      sendScript.push("Temporary")
      const challenge = yield* challengeForFiles(tenant, mailboxId)
      const error = yield* failureOf(sendFiles(tenant, mailboxId, pay(challenge, ADA, "02")))
      if (error._tag !== "OperationDelayed" || error.operationId === null) throw error
      assert.strictEqual(yield* filesOf(tenant, error.operationId), 2)
      yield* returnDebts
      assert.lengthOf(sent[0]!.attachments, 2)
      assert.strictEqual(yield* filesOf(tenant, error.operationId), 2)
      assert.strictEqual(yield* stagedFiles, 0)
    })
  )
})

describe("a snippet", () => {
  it("never splits a character", () => {
    assert.isTrue(snippetOf(`a${" ".repeat(638)}👋 and more`).isWellFormed())
    assert.strictEqual(snippetOf("👋".repeat(500)), `${"👋".repeat(159)}…`)
  })
})
