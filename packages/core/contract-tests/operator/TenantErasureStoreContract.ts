import {
  type InboundMailStore,
  MailboxStore,
  type MessageStore,
  OperationStore,
  type Tenant,
  TenantErasureStore,
  TenantStore,
  Transactor
} from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { defineContract } from "../Contract.ts"
import * as MailboxSample from "../email/MailboxSample.ts"
import * as MessageSample from "../email/MessageSample.ts"
import * as Fresh from "../Fresh.ts"
import * as Sample from "../payment/OperationSample.ts"

type Ports = TenantErasureStore | MailboxStore | MessageStore | InboundMailStore | OperationStore

const NONE = { mailboxes: 0, messages: 0, events: 0, calls: 0, numbers: 0 }

const eraseAll = (tenant: Tenant) =>
  Effect.flatMap(Effect.all([TenantErasureStore, Transactor]), ([{ erase }, { transact }]) =>
    Effect.repeat(transact(erase(tenant, 2)), { until: (rows) => rows === 0 })
  )

/** The contract tests of `TenantErasureStore`. */
export const TenantErasureStoreContract = defineContract<Ports>("TenantErasureStore", (it) => {
  it.effect("erases operations except for the columns of the ledger check", () =>
    Effect.gen(function* () {
      const operations = yield* OperationStore
      const [tenant, other] = [yield* Fresh.tenant, yield* Fresh.tenant]
      const paid = Effect.fnUntraced(function* (owner: Tenant) {
        const made = yield* Sample.operation(owner)
        yield* operations.claim(made, Sample.LEASE)
        return yield* Sample.movedAlong(yield* Sample.found(made.operationId), Sample.FINAL_PATHS[0]!)
      })
      const [erased, kept] = [yield* paid(tenant), yield* paid(other)]
      yield* eraseAll(tenant)
      const found = yield* Sample.found(erased.operationId)
      const { amount, asset, network } = erased.terms
      assert.deepInclude(found, {
        state: erased.state,
        transaction: erased.transaction,
        tenantId: tenant.tenantId,
        input: "null",
        plan: "null",
        requestId: "",
        fingerprint: "",
        answer: null,
        receipt: null
      })
      assert.deepInclude(found.terms, { amount, asset, network, extra: {} })
      const { digest, nonce, payer, payload } = found.proof
      assert.deepStrictEqual(
        { digest, nonce, payer, payload },
        { digest: "", nonce: erased.proof.nonce, payer: tenant.wallet, payload: "{}" }
      )
      assert.deepStrictEqual(yield* Sample.found(kept.operationId), kept)
    })
  )

  it.effect("erases mailboxes of one tenant, whose addresses no one gets afterwards", () =>
    Effect.gen(function* () {
      const store = yield* TenantErasureStore
      const mailboxes = yield* MailboxStore
      const [tenant, other] = [yield* Fresh.tenant, yield* Fresh.tenant]
      const mailbox = yield* MailboxSample.stored(tenant)
      yield* MessageSample.stored(mailbox)
      yield* MailboxSample.stored(other)
      assert.deepInclude(yield* store.countContents(tenant.tenantId), { ...NONE, mailboxes: 1, messages: 1 })
      yield* eraseAll(tenant)
      assert.deepInclude(yield* store.countContents(tenant.tenantId), NONE)
      assert.deepStrictEqual(yield* mailboxes.list(tenant.tenantId), [])
      assert.lengthOf(yield* mailboxes.list(other.tenantId), 1)
      for (const someone of [tenant, other]) {
        const { tenantId } = someone
        assert.isFalse(yield* mailboxes.isAvailable(mailbox.localPart, tenantId))
        assert.strictEqual(yield* mailboxes.reserve(mailbox.localPart, tenantId, yield* Fresh.id), "taken")
      }
    })
  )

  it.effect("belongs to a tenant that is found by its wallet, its id or the address of a mailbox", () =>
    Effect.gen(function* () {
      const { list } = yield* TenantStore
      const [tenant, other] = [yield* Fresh.tenant, yield* Fresh.tenant]
      const { address, localPart } = yield* MailboxSample.stored(tenant)
      const { tenantId, wallet } = tenant
      for (const matching of [tenantId, wallet, wallet.toUpperCase().replace("X", "x"), localPart, address]) {
        assert.deepStrictEqual(yield* list({ matching, limit: 9 }), [tenant], matching)
      }
      for (const matching of [yield* Fresh.id, yield* Fresh.wallet, yield* Fresh.word, wallet.slice(0, 20), ""]) {
        assert.deepStrictEqual(yield* list({ matching, limit: 9 }), [], matching)
      }
      const all = (yield* list({ limit: 100_000 })).map((one) => one.tenantId)
      assert.deepStrictEqual(all, all.toSorted().toReversed())
      assert.includeMembers(all, [tenantId, other.tenantId])
      assert.deepStrictEqual(yield* list({ before: all[0], limit: 1 }), (yield* list({ limit: 2 })).slice(1))
    })
  )

  it.effect("names the work that must end before", () =>
    Effect.gen(function* () {
      const store = yield* TenantErasureStore
      const tenant = yield* Fresh.tenant
      const none = { openOperations: 0, numbers: 0, liveCalls: 0, waitingMails: 0 }
      assert.deepStrictEqual(yield* store.findObstacles(tenant.tenantId), none)
      const { claim } = yield* OperationStore
      yield* claim(yield* Sample.operation(tenant), Sample.LEASE)
      assert.deepStrictEqual(yield* store.findObstacles(tenant.tenantId), { ...none, openOperations: 1 })
    })
  )
})
