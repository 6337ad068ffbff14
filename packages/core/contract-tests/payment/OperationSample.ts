import {
  AS_CLAIMED,
  type NextAttempt,
  isFinal,
  type Operation,
  OperationStore,
  type OperationState,
  type PaymentProof,
  type Tenant,
  Timestamp
} from "@agentos/core"
import { assert } from "@effect/vitest"
import { Array, Effect, Option } from "effect"
import * as Fresh from "../Fresh.ts"
import { StoreClock } from "../StoreClock.ts"

/** Duration of a claim's lease in milliseconds, unless the test sets it. */
export const LEASE = 60_000

/** The largest amount of a token. */
export const UINT256_MAX = 2n ** 256n - 1n

const hex = Effect.map(Effect.all([Fresh.id, Fresh.id]), (parts) => parts.join("").replaceAll("-", ""))

/** A proof of the tenant's wallet with a unique nonce. */
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

/** An operation of the tenant with unique keys, unless `parts` say otherwise. */
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
    trace: "00-" + "a".repeat(32) + "-" + "b".repeat(16) + "-01",
    proof: ownProof,
    terms: {
      scheme: "exact",
      network,
      asset,
      amount: 250_000n,
      payTo: ownProof.payTo,
      maxTimeoutSeconds: 120,
      extra: { name: "USD₮0", version: "1", issuedAt: 1_763_000_000_000, keyId: 1 }
    },
    input: `{"localPart":"agent"}`,
    plan: `{"mailboxId":"${yield* Fresh.id}"}`,
    ...AS_CLAIMED,
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

/** Returns the stored operation. */
export const found = Effect.fnUntraced(function* (operationId: string) {
  const store = yield* OperationStore
  const stored = yield* store.find(operationId)
  return Option.isSome(stored) ? stored.value : assert.fail("expected the operation to be stored")
})

/** Returns the next attempt at an operation that has reached a state, unless the test sets it. */
const nextAttemptOf = (state: OperationState): NextAttempt =>
  isFinal(state) ? { kind: "none" } : { kind: "leased", millis: LEASE }

/** Changes the state of the operation with its own fence, and fails if that is refused. */
export const moved = Effect.fnUntraced(function* (from: Operation, to: OperationState, next = nextAttemptOf(to)) {
  const store = yield* OperationStore
  const answer = yield* store.advance(from, { to, change: {}, next })
  return Option.isSome(answer) ? answer.value : assert.fail(`expected the move from ${from.state} to ${to} to be made`)
})

/** Returns the fields of an operation that taking it does not change: all but its fence, lease and due time. */
export const lasting = ({ dueAt: _, fence: __, leasedUntil: ___, ...rest }: Operation) => rest

/**
 * Fails unless the worker's lease ends, and the operation is due, `LEASE` after a moment between `before` and
 * `after`.
 */
export const assertLeased = ({ dueAt, leasedUntil }: Operation, before: number, after: number) => {
  assert.isTrue(leasedUntil !== null && before + LEASE <= leasedUntil && leasedUntil <= after + LEASE, "leasedUntil")
  assert.strictEqual(dueAt, leasedUntil)
}

/**
 * The store with an empty queue of the completion job, which all tests share: operations left by other tests
 * are leased for longer than any test advances the clock.
 */
export const emptiedQueue: Effect.Effect<OperationStore["Service"], never, OperationStore | StoreClock> = Effect.gen(
  function* () {
    const store = yield* OperationStore
    const clock = yield* StoreClock
    yield* clock.advance(90 * Timestamp.DAY)
    for (const _ of Array.range(1, 20)) {
      if ((yield* store.takeDue(1_000, 500_000 * Timestamp.DAY)).length === 0) return store
    }
    return assert.fail("the queue does not become empty")
  }
)

/** A path from `claimed` to each final state. */
export const FINAL_PATHS: ReadonlyArray<ReadonlyArray<OperationState>> = [
  ["settling", "settled", "fulfilling", "fulfilled"],
  ["settling", "refused", "unpaid"],
  ["settling", "refused", "refund_due", "refunded"],
  ["refund_due", "refunded"]
]

/** Changes the operation from state to state, as the worker that holds it. */
export const movedAlong = Effect.fnUntraced(function* (from: Operation, path: ReadonlyArray<OperationState>) {
  let operation = from
  for (const to of path) operation = yield* moved(operation, to)
  return operation
})
