import { TenantStore, Timestamp, Transactor, walletAddress } from "@agentos/core"
import { assert, describe } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import { type ContractTests, defineContract } from "../Contract.ts"
import * as Fresh from "../Fresh.ts"
import { overlapping } from "../Overlap.ts"
import { rolledBack } from "../RolledBack.ts"
import { StoreClock } from "../StoreClock.ts"
import { lockTests } from "./TenantLockTests.ts"

const ensureTests: ContractTests<TenantStore> = (it, capabilities) => {
  describe("ensure", () => {
    it.effect("stores the candidate as a tenant if its wallet has none", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const transactor = yield* Transactor
        const candidate = { ...(yield* Fresh.candidate), tokenVersion: 7 }
        assert.deepStrictEqual(yield* transactor.transact(store.ensure(candidate)), candidate)
        assert.deepStrictEqual(yield* store.find(candidate.tenantId), Option.some(candidate))
        assert.deepStrictEqual(yield* store.findByWallet(candidate.wallet), Option.some(candidate))
      })
    )

    it.effect("returns the tenant of the wallet unchanged, and stores nothing of the candidate", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const transactor = yield* Transactor
        const tenant = yield* Fresh.tenant
        yield* store.revokeTokens(tenant.tenantId)
        const current = Option.getOrThrow(yield* store.find(tenant.tenantId))
        const candidate = { ...(yield* Fresh.candidate), wallet: tenant.wallet }
        assert.deepStrictEqual(yield* transactor.transact(store.ensure(candidate)), current)
        assert.deepStrictEqual(yield* store.find(candidate.tenantId), Option.none())
        assert.deepStrictEqual(yield* store.findByWallet(tenant.wallet), Option.some(current))
      })
    )

    it.effect("returns the same tenant to concurrent callers with one wallet", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const transactor = yield* Transactor
        const wallet = yield* Fresh.wallet
        const candidates = yield* Effect.forEach(Array.range(1, 12), () => Fresh.candidate)
        const tenants = yield* Effect.forEach(
          candidates,
          (candidate) => transactor.transact(store.ensure({ ...candidate, wallet })),
          { concurrency: "unbounded" }
        )
        const stored = Option.getOrThrow(yield* store.findByWallet(wallet))
        assert.include(
          candidates.map(({ tenantId }) => tenantId),
          stored.tenantId
        )
        for (const tenant of tenants) assert.deepStrictEqual(tenant, stored)
      })
    )

    it.effect("returns one tenant to two overlapping transactions: the second waits for the outcome", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const wallet = yield* Fresh.wallet
          const [one, two] = yield* Effect.all([Fresh.candidate, Fresh.candidate])
          const [first, second] = yield* overlapping(capabilities, {
            first: store.ensure({ ...one, wallet }),
            second: store.ensure({ ...two, wallet }),
            firstEnds
          })
          assert.strictEqual(first.tenantId, one.tenantId)
          assert.strictEqual(second.tenantId, firstEnds === "committed" ? one.tenantId : two.tenantId)
          assert.deepStrictEqual(yield* store.findByWallet(wallet), Option.some(second))
        }
      })
    )

    it.effect("leaves the wallet free when its transaction is rolled back", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const transactor = yield* Transactor
        const candidate = yield* Fresh.candidate
        yield* rolledBack(store.ensure(candidate))
        assert.deepStrictEqual(yield* store.find(candidate.tenantId), Option.none())
        assert.deepStrictEqual(yield* store.findByWallet(candidate.wallet), Option.none())
        const next = { ...(yield* Fresh.candidate), wallet: candidate.wallet }
        assert.deepStrictEqual(yield* transactor.transact(store.ensure(next)), next)
      })
    )
  })
}

const findTests: ContractTests<TenantStore> = (it) => {
  describe("find, findByWallet and findTokenVersions", () => {
    it.effect("return nothing that was not stored", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        assert.deepStrictEqual(yield* store.find(yield* Fresh.id), Option.none())
        assert.deepStrictEqual(yield* store.findByWallet(yield* Fresh.wallet), Option.none())
        assert.deepStrictEqual(yield* store.findTokenVersions([yield* Fresh.id]), new Map())
        assert.deepStrictEqual(yield* store.findTokenVersions([]), new Map())
      })
    )

    it.effect("distinguish tenants", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const [one, two] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        assert.deepStrictEqual(yield* store.find(one.tenantId), Option.some(one))
        assert.deepStrictEqual(yield* store.findByWallet(two.wallet), Option.some(two))
      })
    )

    it.effect("return the token versions of existing tenants", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const [one, two, three] = yield* Effect.all([Fresh.tenant, Fresh.tenant, Fresh.tenant])
        const revoked = Option.getOrThrow(yield* store.revokeTokens(two.tenantId))
        const asked = [two.tenantId, yield* Fresh.id, one.tenantId, two.tenantId]
        const expected = new Map([
          [one.tenantId, one.tokenVersion],
          [two.tenantId, revoked.tokenVersion]
        ])
        assert.deepStrictEqual(yield* store.findTokenVersions(asked), expected)
        assert.isTrue((yield* store.findTokenVersions([three.tenantId])).has(three.tenantId))
      })
    )

    it.effect("find every valid wallet", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const transactor = yield* Transactor
        const random = (yield* Fresh.wallet).slice(12)
        for (const digits of ["0000000000", "ffffffffff", "e000000000"]) {
          const candidate = { ...(yield* Fresh.candidate), wallet: walletAddress(`0x${digits}${random}`) }
          yield* transactor.transact(store.ensure(candidate))
          assert.deepStrictEqual(yield* store.findByWallet(candidate.wallet), Option.some(candidate))
        }
      })
    )
  })
}

const trustTests: ContractTests<TenantStore> = (it) => {
  describe("setTokenTrust", () => {
    it.effect("changes the trust of that tenant, and nothing else", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const [tenant, other] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        for (const tokenTrust of ["unproven", "proven"] as const) {
          const changed = Option.some({ ...tenant, tokenTrust })
          assert.deepStrictEqual(yield* store.setTokenTrust(tenant.tenantId, tokenTrust), changed)
          assert.deepStrictEqual(yield* store.find(tenant.tenantId), changed)
        }
        assert.deepStrictEqual(yield* store.find(other.tenantId), Option.some(other))
      })
    )

    it.effect("returns none for an unknown tenant", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        assert.deepStrictEqual(yield* store.setTokenTrust(yield* Fresh.id, "proven"), Option.none())
      })
    )
  })
}

const revokeTests: ContractTests<TenantStore> = (it, capabilities) => {
  describe("revokeTokens", () => {
    it.effect("raises the token version of that tenant, and nothing else", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const [tenant, other] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        const revoked = Option.getOrThrow(yield* store.revokeTokens(tenant.tenantId))
        assert.isAbove(revoked.tokenVersion, tenant.tokenVersion)
        assert.deepStrictEqual({ ...revoked, tokenVersion: tenant.tokenVersion }, tenant)
        assert.deepStrictEqual(yield* store.find(tenant.tenantId), Option.some(revoked))
        assert.deepStrictEqual(yield* store.find(other.tenantId), Option.some(other))
      })
    )

    it.effect("returns nothing for a tenant that does not exist", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const unknown = yield* Fresh.id
        assert.deepStrictEqual(yield* store.revokeTokens(unknown), Option.none())
        assert.deepStrictEqual(yield* store.find(unknown), Option.none())
      })
    )

    it.effect("never returns a version twice in concurrent calls", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const tenant = yield* Fresh.tenant
        const revoked = yield* Effect.forEach(Array.range(1, 10), () => store.revokeTokens(tenant.tenantId), {
          concurrency: "unbounded"
        })
        const versions = revoked.map((each) => Option.getOrThrow(each).tokenVersion)
        assert.strictEqual(new Set([tenant.tokenVersion, ...versions]).size, 11)
      })
    )

    it.effect("raises it twice in two overlapping transactions", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const { tenantId } = yield* Fresh.tenant
        const revoke = store.revokeTokens(tenantId)
        const both = yield* overlapping(capabilities, { first: revoke, second: revoke, firstEnds: "committed" })
        const [first, second] = both.map((revoked) => Option.getOrThrow(revoked).tokenVersion)
        assert.isAbove(second!, first!)
      })
    )

    it.effect("is undone with its transaction", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const tenant = yield* Fresh.tenant
        yield* rolledBack(store.revokeTokens(tenant.tenantId))
        assert.deepStrictEqual(yield* store.find(tenant.tenantId), Option.some(tenant))
      })
    )
  })
}

const suspensionTests: ContractTests<TenantStore> = (it) => {
  describe("setSuspension", () => {
    const suspension = { at: Timestamp.Timestamp.make(1_700_000_000_000), reason: "Sends spam. \u{1f6d1}" }

    it.effect("suspends a tenant and ends its suspension, as every read then shows", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const transactor = yield* Transactor
        const tenant = yield* Fresh.tenant
        const other = yield* Fresh.tenant
        const suspended = { ...tenant, suspension }
        assert.deepStrictEqual(yield* store.setSuspension(tenant.tenantId, suspension), Option.some(suspended))
        assert.deepStrictEqual(yield* store.find(tenant.tenantId), Option.some(suspended))
        assert.deepStrictEqual(yield* store.findByWallet(tenant.wallet), Option.some(suspended))
        const candidate = { ...(yield* Fresh.candidate), wallet: tenant.wallet }
        assert.deepStrictEqual(yield* transactor.transact(store.ensure(candidate)), suspended)
        assert.deepStrictEqual(yield* store.find(other.tenantId), Option.some(other))
        const again = { at: suspension.at, reason: "Sends more spam." }
        assert.deepStrictEqual(
          yield* store.setSuspension(tenant.tenantId, again),
          Option.some({ ...tenant, suspension: again })
        )
        assert.deepStrictEqual(yield* store.setSuspension(tenant.tenantId, null), Option.some(tenant))
        assert.deepStrictEqual(yield* store.setSuspension(tenant.tenantId, null), Option.some(tenant))
        assert.deepStrictEqual(yield* store.find(tenant.tenantId), Option.some(tenant))
      })
    )

    it.effect("keeps the token version, and omits it from findTokenVersions during the suspension", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const [tenant, other] = yield* Effect.all([Fresh.tenant, Fresh.tenant])
        const ids = [tenant.tenantId, other.tenantId]
        yield* store.setSuspension(tenant.tenantId, suspension)
        assert.deepStrictEqual(yield* store.findTokenVersions(ids), new Map([[other.tenantId, 1]]))
        const revoked = Option.getOrThrow(yield* store.revokeTokens(tenant.tenantId))
        assert.deepStrictEqual(revoked, { ...tenant, suspension, tokenVersion: 2 })
        yield* store.setSuspension(tenant.tenantId, null)
        assert.strictEqual((yield* store.findTokenVersions(ids)).get(tenant.tenantId), 2)
      })
    )

    it.effect("changes nothing for a tenant that does not exist, and is undone with its transaction", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        assert.deepStrictEqual(yield* store.setSuspension(yield* Fresh.id, suspension), Option.none())
        const tenant = yield* Fresh.tenant
        yield* rolledBack(store.setSuspension(tenant.tenantId, suspension))
        assert.deepStrictEqual(yield* store.find(tenant.tenantId), Option.some(tenant))
      })
    )
  })
}

const signInTests: ContractTests<TenantStore> = (it, capabilities) => {
  describe("useSignIn", () => {
    const message = Effect.gen(function* () {
      const clock = yield* StoreClock
      const { tenantId } = yield* Fresh.tenant
      return { tenantId, nonce: yield* Fresh.word, expiresAt: yield* clock.now }
    })

    it.effect("accepts a message once for each tenant", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const first = yield* message
        const other = { ...(yield* message), nonce: first.nonce }
        assert.isTrue(yield* store.useSignIn(first))
        assert.isFalse(yield* store.useSignIn(first))
        assert.isFalse(yield* store.useSignIn({ ...first, expiresAt: Timestamp.add(first.expiresAt, 1) }))
        assert.isTrue(yield* store.useSignIn({ ...first, nonce: yield* Fresh.word }))
        assert.isTrue(yield* store.useSignIn(other), "the same message of another wallet")
      })
    )

    it.effect("accepts a message from one of many concurrent callers", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const signIn = yield* message
        const accepted = yield* Effect.forEach(Array.range(1, 10), () => store.useSignIn(signIn), {
          concurrency: "unbounded"
        })
        assert.strictEqual(accepted.filter(Boolean).length, 1)
      })
    )

    it.effect("lets an overlapping transaction use a message that the first did not use in the end", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        for (const firstEnds of ["committed", "rolled back"] as const) {
          const use = store.useSignIn(yield* message)
          const [first, second] = yield* overlapping(capabilities, { first: use, second: use, firstEnds })
          assert.deepStrictEqual([first, second], [true, firstEnds === "rolled back"])
        }
      })
    )

    it.effect("is forgotten after its time, in batches, and then no earlier message is", () =>
      Effect.gen(function* () {
        const store = yield* TenantStore
        const clock = yield* StoreClock
        yield* store.deleteSignIns(0, 1_000)
        const old = yield* Effect.forEach(Array.range(1, 3), () => message)
        yield* Effect.forEach(old, store.useSignIn)
        yield* clock.advance(60_000)
        const recent = yield* message
        yield* store.useSignIn(recent)
        assert.strictEqual(yield* store.deleteSignIns(60_000, 2), 2)
        assert.strictEqual(yield* store.deleteSignIns(60_000, 2), 1)
        assert.strictEqual(yield* store.deleteSignIns(60_000, 2), 0)
        assert.isTrue(yield* store.useSignIn(old[0]!))
        assert.isFalse(yield* store.useSignIn(recent))
      })
    )
  })
}

/** The contract tests of `TenantStore`. */
export const TenantStoreContract = defineContract<TenantStore>("TenantStore", (it, capabilities) => {
  ensureTests(it, capabilities)
  findTests(it, capabilities)
  trustTests(it, capabilities)
  revokeTests(it, capabilities)
  suspensionTests(it, capabilities)
  signInTests(it, capabilities)
  lockTests(it, capabilities)
})
