import { EmailProvider, MessageSending, MessageStore, type OutgoingMail, ProviderError, snippetOf } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ADA, adasMailbox, failureOf, pay, scenario, sendPaid } from "../support/Purchase.ts"

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
  const service = yield* Effect.provide(
    MessageSending,
    Layer.fresh(MessageSending.layer).pipe(Layer.provide(Layer.succeed(EmailProvider, provider)))
  )
  const context = { operationId, tenant, createdAt: tenant.createdAt, attended: true }
  const input = { mailboxId, to, subject: "Hello", text, ...(html === undefined ? {} : { html }) }
  const plan = { ...(yield* service.prepare(context, input)), signature }
  const receipt = yield* service.perform(context, plan, input)
  yield* service.record(context, plan, input, receipt)
  return {
    mail: sent[0]!,
    suppressed: yield* (yield* MessageStore).findSuppressed(tenant.tenantId, to)
  }
})

describe("a signature", () => {
  scenario("is added to a text with 100,000 line breaks in less than a second", () =>
    Effect.gen(function* () {
      const text = `${"\n".repeat(100_000)}x`
      const started = performance.now()
      const { mail } = yield* sending({ signature: "Ada", text })
      assert.strictEqual(mail.text, `${text}\n\n-- \nAda\n`)
      assert.isBelow(performance.now() - started, 1_000)
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

describe("a snippet", () => {
  it("never splits a character", () => {
    assert.isTrue(snippetOf(`a${" ".repeat(638)}👋 and more`).isWellFormed())
    assert.strictEqual(snippetOf("👋".repeat(500)), `${"👋".repeat(159)}…`)
  })
})
