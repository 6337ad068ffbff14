import { MessageStore, TenantStore, Timestamp, Uuid, walletAddress } from "@agentos/core"
import { Database, Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerTestPGlite } from "./support/TestPGlite.ts"

/** A summary as versions before the proven domain and truncation wrote it. */
const summary = (authentication: object | null) =>
  JSON.stringify({
    direction: "inbound",
    from: "somebody@example.org",
    to: ["ada@agents.test"],
    cc: [],
    bcc: [],
    subject: "Hello",
    snippet: "",
    messageIdHeader: null,
    inReplyTo: null,
    references: [],
    attachments: [],
    authentication,
    malformed: false,
    status: "received",
    recipients: []
  })

layer(Layer.provideMerge(Postgres.layer, layerTestPGlite), { excludeTestServices: true })(
  "a message of an older version",
  (it) => {
    it.effect("is read with no proven domain, as not truncated, and with names that are not known", () =>
      Effect.gen(function* () {
        const { sql } = yield* Database
        const tenants = yield* TenantStore
        const [id, checked, unchecked] = [yield* Uuid.next, yield* Uuid.next, yield* Uuid.next]
        const wallet = walletAddress(`0x${id.replaceAll("-", "").padStart(40, "0")}`)
        const createdAt = yield* Timestamp.now
        const { tenantId } = yield* tenants.ensure({ tenantId: id, wallet, tokenVersion: 1, createdAt })
        yield* sql`
        insert into mailboxes (mailbox_id, tenant_id, local_part, address, active, created_at, updated_at)
        values (${id}, ${tenantId}, ${id}, 'ada@agents.test', true, 1, 1)`
        for (const [messageId, verdicts] of [
          [checked, { spf: "pass", dkim: "none", dmarc: "pass" }],
          [unchecked, null]
        ] as const) {
          yield* sql`
          insert into messages (message_id, tenant_id, mailbox_id, thread_id, created_at, summary, body)
          values (${messageId}, ${tenantId}, ${id}, ${messageId}, 1, ${summary(verdicts)}, '{"text":null,"html":null}')`
        }
        const store = yield* MessageStore
        const listed = yield* store.list(tenantId, {}, undefined, 10)
        const verdictsOf = new Map(listed.map(({ authentication, messageId }) => [messageId, authentication]))
        assert.deepStrictEqual(verdictsOf.get(checked), { spf: "pass", dkim: "none", dmarc: "pass", domain: null })
        assert.isNull(verdictsOf.get(unchecked))
        assert.deepStrictEqual(
          listed.map(({ truncated }) => truncated),
          [false, false]
        )
        assert.deepStrictEqual(
          listed.map(({ recipients, sender }) => ({ recipients, sender })),
          [checked, unchecked].map(() => ({
            sender: { address: "somebody@example.org", name: null },
            recipients: [
              { address: "ada@agents.test", name: null, kind: "to" as const, status: "received" as const, reason: null }
            ]
          }))
        )
      })
    )
  }
)
