import { type Operation, OperationStore, type OperationState, type PaymentProof, type Tenant } from "@agentos/core"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"

/** For how long a claim is leased where the test does not say. */
export const LEASE = 60_000

/** The largest amount that a token can name. */
export const UINT256_MAX = 2n ** 256n - 1n

const hex = Effect.map(Effect.all([Fresh.id, Fresh.id]), (parts) => parts.join("").replaceAll("-", ""))

/** A proof of the tenant's wallet with a nonce of its own. */
export const proof = Effect.fnUntraced(function* (tenant: Tenant, parts?: Partial<PaymentProof>) {
  const asset = `0x${(yield* hex).slice(0, 40)}`
  const accepted: PaymentProof["accepted"] = {
    scheme: "exact",
    network: "eip155:196",
    asset,
    amount: "250000",
    payTo: "0x00000000000000000000000000000000000000aa",
    maxTimeoutSeconds: 120,
    extra: { name: "USD₮0", version: "1", challengeNonce: yield* Fresh.word }
  }
  const made: PaymentProof = {
    digest: yield* hex,
    network: "eip155:196",
    asset,
    payer: tenant.wallet,
    payTo: accepted.payTo,
    value: 250_000n,
    nonce: `0x${yield* hex}`,
    validAfter: 0,
    validBefore: 1_900_000_000,
    accepted,
    payload: `{"signature":"0x00"}`,
    ...parts
  }
  return made
})

/** An operation of the tenant with keys of its own, unless `parts` say otherwise. */
export const operation = Effect.fnUntraced(function* (tenant: Tenant, parts?: Partial<Operation>) {
  const clock = yield* StoreClock
  const now = yield* clock.now
  const ownProof = parts?.proof ?? (yield* proof(tenant))
  const { network, asset } = ownProof
  const made: Operation = {
    operationId: yield* Fresh.id,
    tenantId: tenant.tenantId,
    serviceId: "email.mailbox.create",
    endpoint: "POST /api/v1/email/mailboxes",
    idempotencyKey: yield* Fresh.word,
    fingerprint: `POST /api/v1/email/mailboxes? ${yield* hex}`,
    requestId: yield* Fresh.id,
    proof: ownProof,
    terms: {
      scheme: "exact",
      network,
      asset,
      amount: 250_000n,
      payTo: ownProof.payTo,
      maxTimeoutSeconds: 120,
      extra: { name: "USD₮0", version: "1", issuedAt: 1_763_000_000_000 }
    },
    input: `{"localPart":"agent"}`,
    plan: `{"mailboxId":"${yield* Fresh.id}"}`,
    state: "claimed",
    nonceReadAtBlock: null,
    transaction: null,
    refundTransaction: null,
    failure: null,
    answer: null,
    fence: 1,
    leasedUntil: null,
    createdAt: now,
    updatedAt: now,
    ...parts
  }
  return made
})

/** A new operation of a new tenant, claimed. */
export const claimed = Effect.fnUntraced(function* (parts?: Partial<Operation>, leaseMillis = LEASE) {
  const store = yield* OperationStore
  const made = yield* operation(yield* Fresh.tenant, parts)
  assert.isTrue(yield* store.claim(made, leaseMillis))
  return yield* found(made.operationId)
})

/** The operation as it is stored. */
export const found = Effect.fnUntraced(function* (operationId: string) {
  const store = yield* OperationStore
  const stored = yield* store.find(operationId)
  return Option.isSome(stored) ? stored.value : assert.fail("expected the operation to be stored")
})

/** Moves the operation under its own fence, and fails when that is refused. */
export const moved = Effect.fnUntraced(function* (from: Operation, to: OperationState, leaseMillis = LEASE) {
  const store = yield* OperationStore
  const { fence, operationId, state } = from
  const answer = yield* store.advance({ operationId, fence, from: state, to, change: {}, leaseMillis })
  return Option.isSome(answer) ? answer.value : assert.fail(`expected the move from ${state} to ${to} to be made`)
})
