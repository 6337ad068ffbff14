import { type MailboxStore, type MessageFilter, MessageStore, searchWords, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Mailboxes from "./MailboxSample.ts"
import * as Sample from "./MessageSample.ts"

/** Tests of the filters of `list`. */
export const filterTests: ContractTests<MailboxStore | MessageStore> = (it) => {
  describe("list with a filter", () => {
    it.effect("returns the messages that match each part of it", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenant, tenantId } = yield* Mailboxes.owner
        const other = yield* Mailboxes.stored(tenant)
        const { createdAt } = yield* Sample.message(mailbox)
        const threadId = yield* Fresh.id
        const at = (millis: number) => ({ createdAt: Timestamp.add(createdAt, millis) })
        const bob = { from: "Bob@Example.org", sender: { address: "Bob@Example.org", name: "Bob O'Brian" } }
        const one = yield* Sample.stored(mailbox, { ...at(1), ...bob, threadId, subject: "Invoice 7" })
        const two = yield* Sample.stored(mailbox, {
          ...at(2),
          threadId,
          direction: "outbound",
          subject: "Re: Invoice 7"
        })
        const three = yield* Sample.stored(other, { ...at(3), ...bob, text: "The invoice is paid" })
        const found = (filter: MessageFilter, limit = 10) => store.list(tenantId, filter, undefined, limit)
        const expectFound = Effect.fnUntraced(function* (filter: MessageFilter, expected: ReadonlyArray<typeof one>) {
          assert.deepStrictEqual(yield* found(filter), expected.map(Sample.summary), JSON.stringify(filter))
        })
        yield* expectFound({ threadId }, [two, one])
        yield* expectFound({ direction: "inbound" }, [three, one])
        yield* expectFound({ direction: "outbound" }, [two])
        yield* expectFound({ from: "bob@example.org" }, [three, one])
        yield* expectFound({ from: "example.org" }, [])
        yield* expectFound({ words: searchWords("INVOICE") }, [three, two, one])
        yield* expectFound({ words: searchWords("invoice paid") }, [three])
        yield* expectFound({ words: searchWords("o'brian") }, [three, one])
        yield* expectFound({ words: searchWords("invo") }, [])
        yield* expectFound({ mailboxId: mailbox.mailboxId, words: searchWords("invoice") }, [two, one])
        yield* expectFound({ since: two.createdAt }, [three, two])
        yield* expectFound({ until: two.createdAt }, [one])
        yield* expectFound({ since: two.createdAt, until: three.createdAt, words: ["invoice"] }, [two])
        yield* expectFound({ threadId, direction: "inbound", from: bob.from, words: ["7"] }, [one])
        assert.deepStrictEqual(yield* found({ words: ["invoice"] }, 2), [three, two].map(Sample.summary))
        const after = yield* store.list(
          tenantId,
          { words: ["invoice"] },
          { createdAt: two.createdAt, id: two.messageId },
          5
        )
        assert.deepStrictEqual(after, [Sample.summary(one)])
        yield* expectFound({ threadId: yield* Fresh.id }, [])
        assert.deepStrictEqual(yield* store.list(yield* Fresh.id, { words: ["invoice"] }, undefined, 10), [])
        const stranger = yield* Mailboxes.owner
        assert.deepStrictEqual(yield* store.list(stranger.tenantId, { threadId }, undefined, 10), [])
        const foreign = { mailboxId: mailbox.mailboxId, words: ["invoice"] }
        assert.deepStrictEqual(yield* store.list(stranger.tenantId, foreign, undefined, 10), [])
      })
    )

    it.effect("finds words of several languages, also in names and addresses, and no part of a word", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        yield* Sample.stored(mailbox, {
          subject: "Rechnung für Jürgen: 30 €",
          sender: { address: "zoë.m@example.org", name: "Zoë Müller" },
          recipients: [
            { address: "team+x@example.org", name: "L'équipe", kind: "to", status: "received", reason: null }
          ],
          text: "Ваш код 482913. 請求書は東京で。 שלום Straße e\u0301t\u00e9 ﬁnal",
          html: "<b>hidden</b>"
        })
        const isFound = (text: string) =>
          Effect.map(store.list(tenantId, { words: searchWords(text) }, undefined, 10), ({ length }) => length === 1)
        for (const text of [
          "jürgen",
          "JÜRGEN",
          "30 rechnung",
          "zoë",
          "müller example",
          "équipe",
          "team x",
          "код",
          "КОД 482913",
          "請求",
          "請求書",
          "東京",
          "שלום",
          "straße",
          "\u00e9te\u0301",
          "final",
          "“Rechnung”, (für)"
        ]) {
          assert.isTrue(yield* isFound(text), text)
        }
        for (const text of ["jurgen", "rech", "京請", "hidden", "482", "rechnung missing"]) {
          assert.isFalse(yield* isFound(text), text)
        }
      })
    )

    it.effect("finds the text of HTML that has no plain text", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        yield* Sample.stored(mailbox, { text: null, html: `<p class="no">Your <b>code</b> is 77<` })
        for (const [word, count] of [
          ["code", 1],
          ["77", 1],
          ["class", 0]
        ] as const) {
          assert.lengthOf(yield* store.list(tenantId, { words: [word] }, undefined, 10), count, word)
        }
      })
    )

    it.effect("treats operators, quotes and any other text as plain text", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox, tenantId } = yield* Mailboxes.owner
        const text = "alpha & beta | gamma ! delta <-> epsilon:* 'zeta' \\eta"
        yield* Sample.stored(mailbox, { text })
        const find = (words: ReadonlyArray<string>) => store.list(tenantId, { words }, undefined, 10)
        for (const query of [text, "alpha & beta", "alpha:*", "'alpha", "alpha''", "!alpha", "alpha \\"]) {
          assert.lengthOf(yield* find(searchWords(query)), 1, query)
        }
        for (const query of ["alp:*", "alpha | omega", "!omega"]) {
          assert.lengthOf(yield* find(searchWords(query)), 0, query)
        }
        // A caller that passes no words of `searchWords` finds nothing, and does not fail.
        for (const query of ["alp:*", "alpha | omega", "'", "\\", "!(a)", `tenant:${tenantId}`]) {
          yield* find([query])
        }
        for (const awkward of AWKWARD_TEXTS) {
          yield* Sample.stored(mailbox, { text: awkward, subject: awkward })
          const words = searchWords(awkward).slice(0, 20)
          if (words.length > 0) assert.isAbove((yield* find(words)).length, 0)
        }
      })
    )

    it.effect("has nothing left to make searchable", () =>
      Effect.gen(function* () {
        const store = yield* MessageStore
        const { mailbox } = yield* Mailboxes.owner
        yield* Sample.stored(mailbox)
        assert.strictEqual(yield* store.makeSearchable(10), 0)
      })
    )
  })
}
