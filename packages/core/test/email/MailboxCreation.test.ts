import { mailboxCreation, MailboxStore, newMailbox, type Tenant } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { adasMailbox, scenario } from "../support/Purchase.ts"

const OPERATION = "01900000-0000-7000-8000-0000000000ab"

/** The outcome of a check: `free`, or the tag of the error. */
const checked = (localPart: string, tenant: Tenant | null) =>
  Effect.gen(function* () {
    const service = yield* mailboxCreation
    return yield* Effect.match(service.check(tenant, { localPart }), {
      onFailure: ({ _tag }): string => _tag,
      onSuccess: () => "free"
    })
  })

describe("mailboxCreation", () => {
  scenario("allows a name that became reserved later to the wallet that owned it before, and to no other wallet", () =>
    Effect.gen(function* () {
      const store = yield* MailboxStore
      const { tenant } = yield* adasMailbox
      const stranger = { ...tenant, tenantId: "01900000-0000-7000-8000-0000000000ee" as typeof tenant.tenantId }
      assert.strictEqual(yield* checked("Team", tenant), "InvalidRequest")

      // The name was sold before it became reserved.
      yield* store.reserve("team", tenant.tenantId, OPERATION)
      const { createdAt, tenantId } = tenant
      const mailbox = newMailbox({
        mailboxId: OPERATION,
        tenantId,
        localPart: "team",
        domain: "agents.test",
        createdAt
      })
      yield* store.create(mailbox, OPERATION)
      assert.strictEqual((yield* store.findActive(["team"])).length, 1)

      yield* store.remove(tenant.tenantId, OPERATION)
      assert.strictEqual(yield* checked("Team", tenant), "free")
      assert.strictEqual(yield* checked("team", stranger), "InvalidRequest")
      assert.strictEqual(yield* checked("team", null), "InvalidRequest")
    })
  )
})
