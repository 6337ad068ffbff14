import { type Operation, OperationStore, TenantStore, Timestamp, Uuid, walletAddress } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"

export const LEASE = 60_000

/** Claims an operation with a lease of `LEASE`. */
export const claimed = Effect.gen(function* () {
  const store = yield* OperationStore
  const tenants = yield* TenantStore
  const id = yield* Uuid.next
  const wallet = walletAddress(`0x${id.replaceAll("-", "").padStart(40, "0")}`)
  const now = yield* Timestamp.now
  const { tenantId } = yield* tenants.ensure({ tenantId: id, wallet, tokenVersion: 1, createdAt: now })
  const asset = `0x${"a1".repeat(20)}`
  const token = { network: "eip155:196", asset, payTo: `0x${"b2".repeat(20)}` }
  const terms = { ...token, scheme: "exact", amount: 250_000n, maxTimeoutSeconds: 120, extra: {} } as const
  const operation: Operation = {
    operationId: id,
    tenantId,
    serviceId: "email.mailbox.create",
    endpoint: "POST /api/v1/email/mailboxes",
    idempotencyKey: id,
    fingerprint: "fingerprint",
    requestId: id,
    proof: {
      ...token,
      digest: id,
      payer: wallet,
      value: 250_000n,
      nonce: id,
      validAfter: 0,
      validBefore: 2_000_000_000,
      accepted: { ...terms, amount: "250000" },
      payload: "{}"
    },
    terms,
    input: "{}",
    plan: "{}",
    state: "claimed",
    nonceReadAtBlock: null,
    transaction: null,
    refundNonce: null,
    refundTransaction: null,
    failure: null,
    answer: null,
    fence: 1,
    leasedUntil: null,
    dueAt: null,
    createdAt: now,
    updatedAt: now
  }
  assert.isTrue(yield* store.claim(operation, LEASE))
  return operation
})
