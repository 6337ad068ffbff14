import { type Mailbox, MailboxStore, Timestamp } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { AWKWARD_TEXTS } from "../AwkwardText.ts"
import type { ContractTests } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import * as Sample from "./MailboxSample.ts"

/** Tests of `create`, `find`, `list`, `findActive` and `update`. */
export const mailboxRecordTests: ContractTests<MailboxStore> = (it) => {
  describe("find", () => {
    it.effect("distinguishes the tenant's own mailbox, another tenant's and a missing one", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenantId } = yield* Sample.owner
        const other = yield* Fresh.tenant
        assert.deepStrictEqual(yield* store.find(tenantId, mailbox.mailboxId), { _tag: "Owned", value: mailbox })
        assert.deepStrictEqual(yield* store.find(other.tenantId, mailbox.mailboxId), { _tag: "Foreign" })
        assert.deepStrictEqual(yield* store.find(yield* Fresh.id, mailbox.mailboxId), { _tag: "Foreign" })
        assert.deepStrictEqual(yield* store.find(tenantId, yield* Fresh.id), { _tag: "Missing" })
      })
    )

    it.effect("returns every text exactly, and null if none was set", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const tenant = yield* Fresh.tenant
        for (const text of AWKWARD_TEXTS) {
          const senderPolicy = { mode: "authenticated", allow: [text, "b.test"], block: ["a.test", text] } as const
          const metadata = { key: text, [text.slice(0, 40) || "empty"]: "value" }
          const parts = { displayName: text, outboundSignature: text, active: false, senderPolicy, metadata }
          const mailbox = yield* Sample.stored(tenant, parts)
          assert.deepStrictEqual(yield* store.find(tenant.tenantId, mailbox.mailboxId), {
            _tag: "Owned",
            value: mailbox
          })
        }
      })
    )
  })

  describe("list", () => {
    it.effect("returns all mailboxes of the tenant, oldest first, and no others", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const tenant = yield* Fresh.tenant
        const other = yield* Sample.owner
        assert.deepStrictEqual(yield* store.list(tenant.tenantId), [])
        const first = yield* Sample.mailbox(tenant)
        const older = yield* Sample.mailbox(tenant, {
          createdAt: Timestamp.add(first.createdAt, -60_000),
          active: false
        })
        const newer = yield* Sample.mailbox(tenant, { createdAt: Timestamp.add(first.createdAt, 60_000) })
        for (const mailbox of [newer, first, older]) yield* Sample.create(mailbox)
        assert.deepStrictEqual(yield* store.list(tenant.tenantId), [older, first, newer])
        assert.deepStrictEqual(yield* store.list(other.tenantId), [other.mailbox])
        assert.deepStrictEqual(yield* store.list(yield* Fresh.id), [])
      })
    )
  })

  describe("findActive", () => {
    it.effect("returns the active mailboxes with these local parts, of any tenant", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const one = yield* Sample.owner
        const two = yield* Sample.owner
        const idle = yield* Sample.stored(one.tenant, { active: false })
        const reserved = yield* Fresh.word
        assert.strictEqual(yield* store.reserve(reserved, one.tenantId, yield* Fresh.id), "reserved")
        const asked = [one.mailbox, idle, two.mailbox].map((mailbox) => mailbox.localPart)
        const found = yield* store.findActive([...asked, reserved, yield* Fresh.word, asked[0]!])
        assert.sameDeepMembers([...found], [one.mailbox, two.mailbox])
        assert.deepStrictEqual(yield* store.findActive([asked[0]!]), [one.mailbox])
        assert.deepStrictEqual(yield* store.findActive([asked[1]!]), [])
        assert.deepStrictEqual(yield* store.findActive([]), [])
      })
    )

    it.effect("compares a local part literally, not as a pattern", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const tenant = yield* Fresh.tenant
        const word = yield* Fresh.word
        const marks = ["%", "_", "'", "*", "$1", "{}", "?", "|", "/", ".", "+", "`", "#", "&"]
        const mailboxes: Array<Mailbox> = []
        for (const mark of marks) {
          mailboxes.push(yield* Sample.stored(tenant, { localPart: `a${mark}${word}`.slice(0, 64) }))
        }
        for (const mailbox of mailboxes) {
          assert.deepStrictEqual(yield* store.findActive([mailbox.localPart]), [mailbox])
          assert.isFalse(yield* store.isAvailable(mailbox.localPart, null))
        }
        assert.deepStrictEqual(yield* store.findActive([`ab${word}`, `a${word}`, word]), [])
        assert.isTrue(yield* store.isAvailable(`ab${word}`, null))
      })
    )
  })

  describe("update", () => {
    it.effect("replaces the fields of the mailbox that can change", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenantId } = yield* Sample.owner
        const updatedAt = Timestamp.add(mailbox.updatedAt, 5)
        const versions: ReadonlyArray<Mailbox> = [
          { ...mailbox, displayName: "O'Brien 👋", outboundSignature: "-- \nbye", active: false, updatedAt },
          {
            ...mailbox,
            senderPolicy: { mode: "listed", allow: ["a'b@c.test", "d.test"], block: ["e.test"] },
            updatedAt
          },
          { ...mailbox, senderPolicy: { mode: "anyone", allow: [], block: ["e.test"] }, updatedAt },
          { ...mailbox, metadata: { customer: "cus_'1", note: "b" }, updatedAt },
          {
            ...mailbox,
            displayName: "",
            outboundSignature: null,
            active: true,
            updatedAt: Timestamp.add(updatedAt, 1)
          },
          mailbox
        ]
        for (const version of versions) {
          assert.isTrue(yield* store.update(version))
          assert.deepStrictEqual(yield* store.find(tenantId, mailbox.mailboxId), { _tag: "Owned", value: version })
          assert.deepStrictEqual(yield* store.findActive([mailbox.localPart]), version.active ? [version] : [])
        }
      })
    )

    it.effect("keeps the counts of refused mails, which are added by local part", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenant, tenantId } = yield* Sample.owner
        const idle = yield* Sample.stored(tenant, { active: false })
        const counted = () => Effect.map(store.list(tenantId), (all) => all.map(({ refused }) => refused))
        yield* store.addRefused(mailbox.localPart, {})
        assert.deepStrictEqual(yield* counted(), [{}, {}])
        yield* Effect.all(
          [{ mailbox_full: 2 }, { mailbox_full: 3, too_much_mail: 1 }, { too_much_mail: 4_000_000_000 }].map((counts) =>
            store.addRefused(mailbox.localPart, counts)
          ),
          { concurrency: "unbounded" }
        )
        yield* store.addRefused(idle.localPart, { mailbox_full: 1 })
        yield* store.addRefused(yield* Fresh.word, { mailbox_full: 1 })
        assert.isTrue(yield* store.update({ ...mailbox, displayName: "Ada" }))
        const refused = { mailbox_full: 5, too_much_mail: 4_000_000_001 }
        assert.sameDeepMembers([...(yield* counted())], [refused, {}])
        assert.deepStrictEqual(yield* store.findActive([mailbox.localPart]), [
          { ...mailbox, displayName: "Ada", refused }
        ])
      })
    )

    it.effect("changes nothing for another tenant, or for a removed or unknown mailbox", () =>
      Effect.gen(function* () {
        const store = yield* MailboxStore
        const { mailbox, tenant, tenantId } = yield* Sample.owner
        const other = yield* Fresh.tenant
        assert.isFalse(yield* store.update({ ...mailbox, tenantId: other.tenantId, displayName: "mine" }))
        assert.deepStrictEqual(yield* store.find(tenantId, mailbox.mailboxId), { _tag: "Owned", value: mailbox })
        assert.deepStrictEqual(yield* store.find(other.tenantId, mailbox.mailboxId), { _tag: "Foreign" })

        const unknown = yield* Sample.mailbox(tenant)
        assert.isFalse(yield* store.update(unknown))
        yield* store.remove(tenantId, mailbox.mailboxId)
        assert.isFalse(yield* store.update(mailbox))
        assert.deepStrictEqual(yield* store.list(tenantId), [])
      })
    )
  })
}
