import {
  type Hold,
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
      extra: { name: "USD₮0", version: "1", issuedAt: 1_763_000_000_000, keyId: 1 }
    },
    input: `{"localPart":"agent"}`,
    plan: `{"mailboxId":"${yield* Fresh.id}"}`,
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

/** By whom an operation is held that has come to a state, where the test does not say. */
const holdOf = (state: OperationState): Hold => (isFinal(state) ? { by: "nobody" } : { by: "worker", millis: LEASE })

/** Moves the operation under its own fence, and fails when that is refused. */
export const moved = Effect.fnUntraced(function* (from: Operation, to: OperationState, hold = holdOf(to)) {
  const store = yield* OperationStore
  const { fence, operationId, state } = from
  const answer = yield* store.advance({ operationId, fence, from: state, to, change: {}, hold })
  return Option.isSome(answer) ? answer.value : assert.fail(`expected the move from ${state} to ${to} to be made`)
})

/** Everything of an operation but what a taking of its work writes: its fence, and who has it next. */
export const lasting = ({ dueAt: _, fence: __, leasedUntil: ___, ...rest }: Operation) => rest

/** Fails unless a worker's lease ends, and the operation is due, `LEASE` after a moment between `before` and `after`. */
export const assertLeased = ({ dueAt, leasedUntil }: Operation, before: number, after: number) => {
  assert.isTrue(leasedUntil !== null && before + LEASE <= leasedUntil && leasedUntil <= after + LEASE, "leasedUntil")
  assert.strictEqual(dueAt, leasedUntil)
}

/**
 * The store, with nothing in the queue of the completion job, which is one for all: what other tests
 * have left there is leased for longer than any test looks ahead.
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

/** A way from `claimed` to each state that is final. */
export const FINAL_PATHS: ReadonlyArray<ReadonlyArray<OperationState>> = [
  ["settling", "settled", "fulfilling", "fulfilled"],
  ["settling", "refused", "unpaid"],
  ["settling", "refused", "refund_due", "refunded"],
  ["refund_due", "refunded"]
]

/** Moves the operation from state to state, by the worker that has it. */
export const movedAlong = Effect.fnUntraced(function* (from: Operation, path: ReadonlyArray<OperationState>) {
  let operation = from
  for (const to of path) operation = yield* moved(operation, to)
  return operation
})
