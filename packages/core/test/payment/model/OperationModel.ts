import { type LedgerBalance, type Operation, OPERATION_TRANSITIONS, type OperationState } from "@agentos/core"

/** The account that holds an operation's money, by state. Repeated here so that the ledger is checked independently. */
const ACCOUNTS: Partial<Record<OperationState, LedgerBalance["account"]>> = {
  settled: "inFlight",
  fulfilling: "inFlight",
  fulfilled: "fulfilled",
  refund_due: "refundDue",
  refunded: "refunded"
}

const END_STATES: ReadonlySet<OperationState> = new Set(["fulfilled", "unpaid", "refunded"])
export const isEnd = (state: OperationState): boolean => END_STATES.has(state)

/** Whether allowed transitions lead from one state to another, or the states are equal. */
const leadsTo = (from: OperationState, to: OperationState): boolean =>
  from === to || Object.values(OPERATION_TRANSITIONS[from]).some((next) => leadsTo(next, to))

/** Fields that are fixed at the claim. */
const FIXED = [
  "tenantId",
  "serviceId",
  "endpoint",
  "idempotencyKey",
  "fingerprint",
  "requestId",
  "proof",
  "terms",
  "input",
  "plan",
  "createdAt"
] as const
/** Fields that are written once and never changed. */
const WRITTEN_ONCE = [
  "nonceReadAtBlock",
  "transaction",
  "refundNonce",
  "refundTransaction",
  "answer",
  "receipt"
] as const

/**
 * The simplest model of paid operations: each is in one state, changes only along allowed transitions, keeps the fields
 * that were written, and has its money in the one account of its state.
 */
export class OperationModel {
  #known = new Map<string, Operation>()

  /** Returns the violations in the current operations, compared with the previous ones. */
  observe(operations: ReadonlyArray<Operation>): ReadonlyArray<string> {
    const known = this.#known
    this.#known = new Map(operations.map((operation) => [operation.operationId, operation]))
    const lost = [...known.keys()].filter((operationId) => !this.#known.has(operationId))
    return [
      ...lost.map((operationId) => `operation ${operationId} is gone`),
      ...operations.flatMap((operation) => {
        const before = known.get(operation.operationId)
        const flaws = [...flawsOf(operation), ...(before === undefined ? [] : changesOf(before, operation))]
        return flaws.map((flaw) => `operation ${operation.operationId} in ${operation.state}: ${flaw}`)
      }),
      ...repeated(operations, "proof", ({ proof }) => `${proof.payer} ${proof.nonce}`),
      // Each transaction of the simulated chain makes one transfer.
      ...repeated(
        operations.filter(({ transaction }) => transaction !== null),
        "transfer",
        ({ transaction }) => `${transaction}`
      ),
      ...repeated(
        operations,
        "key",
        ({ endpoint, idempotencyKey, proof }) => `${proof.payer} ${endpoint} ${idempotencyKey}`
      )
    ]
  }

  /** Returns the balances that the ledger must have. Omits empty accounts. */
  balances(): Readonly<Record<string, bigint>> {
    const held: Record<string, bigint> = {}
    const add = (account: LedgerBalance["account"], amount: bigint) => {
      held[account] = (held[account] ?? 0n) + amount
    }
    for (const { state, terms } of this.#known.values()) {
      const account = ACCOUNTS[state]
      if (account === undefined) continue
      add(account, terms.amount)
      add("received", -terms.amount)
    }
    return held
  }
}

/** Whether an operation was fulfilled and is refunded nevertheless: its mail was scheduled, and withdrawn. */
export const isRevoked = ({ answer, failure, input, state }: Operation): boolean =>
  (state === "refund_due" || state === "refunded") &&
  input.includes('"sendAt":') &&
  (failure?.kind === "canceled" || (failure?.kind === "gone" && answer !== null))

/** Returns the violations of rules that hold for every operation at any time. */
const flawsOf = (operation: Operation): ReadonlyArray<string> => {
  const { answer, dueAt, failure, leasedUntil, receipt, refundNonce, refundTransaction, state, transaction } = operation
  const rules: ReadonlyArray<readonly [boolean, string]> = [
    [isEnd(state) === (dueAt === null), isEnd(state) ? "it is final and still due" : "the worker would never poll it"],
    [!isEnd(state) || leasedUntil === null, "it is leased though it is final"],
    [(ACCOUNTS[state] !== undefined) === (transaction !== null), "its transaction does not go with its state"],
    [(state === "fulfilled" || isRevoked(operation)) === (answer !== null), "its answer does not go with its state"],
    [
      (state === "refund_due" || state === "refunded") === (refundNonce !== null),
      "its refund does not go with its state"
    ],
    [
      (state === "fulfilled" || state === "refunded" || isRevoked(operation)) === (receipt !== null),
      "its receipt does not go with its state"
    ],
    [(state === "refunded") === (refundTransaction !== null), "its refund transaction does not go with its state"],
    [
      !["unpaid", "refused", "refund_due", "refunded"].includes(state) || failure !== null,
      "it does not say why it failed"
    ]
  ]
  return rules.flatMap(([holds, flaw]) => (holds ? [] : [flaw]))
}

const changesOf = (before: Operation, operation: Operation): ReadonlyArray<string> => [
  ...(leadsTo(before.state, operation.state) ? [] : [`it came from ${before.state}`]),
  ...(operation.fence < before.fence ? ["its fence fell"] : []),
  ...FIXED.filter((field) => operation[field] !== before[field]).map((field) => `its ${field} changed`),
  ...WRITTEN_ONCE.filter((field) => before[field] !== null && operation[field] !== before[field]).map(
    (field) => `its ${field} was written again`
  )
]

const repeated = (
  operations: ReadonlyArray<Operation>,
  name: string,
  keyOf: (operation: Operation) => string
): ReadonlyArray<string> => {
  const keys = operations.map(keyOf)
  return keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `two operations have the ${name} ${key}`)
}
