import {
  type NextAttempt,
  isFinal,
  isInScope,
  type Ledger,
  type OpenOperations,
  type Operation,
  OperationStore,
  type OperationTotal,
  proofKey,
  RequestBinding,
  operationStatusOf,
  summaryOf,
  Timestamp
} from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { compositeKey, OPEN, operationKeys, requireTenant, type Tables } from "./Tables.ts"

/** Paid operations and the ledger in memory. */
export const layer = Layer.effect(
  OperationStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { balances, operations, transfers } = tables

    const put = (operation: Operation): Operation => {
      requireHeldUnlessFinal(operation)
      operations.set(operation.operationId, operation)
      return operation
    }
    const taken = (operation: Operation, now: Timestamp.Timestamp, millis: number): Operation =>
      put({ ...operation, fence: operation.fence + 1, ...dueAfter(now, { kind: "leased", millis }) })

    return OperationStore.of({
      claim: (operation, leaseMillis) =>
        run((now) => {
          requireTenant(tables, operation.tenantId)
          const key = { ...operation, proof: proofKey(operation.proof) }
          if (operations.has(operation.operationId) || findByKeys(tables, key).length > 0) return false
          put({ ...operation, fence: 1, ...dueAfter(now, { kind: "leased", millis: leaseMillis }) })
          return true
        }),
      find: (operationId) => run(() => Option.fromUndefinedOr(operations.get(operationId))),
      findStatus: (operationId) =>
        run(() => Option.map(Option.fromUndefinedOr(operations.get(operationId)), operationStatusOf)),
      stateAge: (operationId) =>
        run((now) => Option.map(Option.fromUndefinedOr(operations.get(operationId)), (one) => now - one.updatedAt)),
      isUnchanged: ({ fence, operationId, state }) =>
        run(() => {
          const operation = operations.get(operationId)
          return operation !== undefined && operation.fence === fence && operation.state === state
        }),
      findByKeys: (keys) => run(() => findByKeys(tables, keys)),
      hasFulfilled: (payer) => run(() => operations.where("payer", payer).some(({ state }) => state === "fulfilled")),
      advance: ({ fence, operationId, state }, { change, entries = [], next, to }) =>
        run((now) => {
          const operation = operations.get(operationId)
          if (operation === undefined || operation.state !== state || operation.fence !== fence) return Option.none()
          entries.forEach((entry) => post(tables, entry, now))
          return Option.some(put({ ...operation, ...change, state: to, ...dueAfter(now, next), updatedAt: now }))
        }),
      claimTransfer: (operationId, candidates) =>
        run(() => {
          const free = candidates.find(({ transferId }) => (transfers.get(transferId) ?? operationId) === operationId)
          if (free !== undefined) transfers.set(free.transferId, operationId)
          return Option.fromUndefinedOr(free)
        }),
      findFreeTransfer: (candidates) =>
        run(() => Option.fromUndefinedOr(candidates.find(({ transferId }) => !transfers.has(transferId)))),
      takeOver: (operationId, leaseMillis) =>
        run((now) => {
          const operation = operations.get(operationId)
          if (operation === undefined || isFinal(operation.state)) return Option.none()
          if (operation.leasedUntil !== null && operation.leasedUntil > now) return Option.none()
          return Option.some(taken(operation, now, leaseMillis))
        }),
      takeDue: (limit, leaseMillis) =>
        run((now) =>
          operations
            .where("queue", OPEN)
            .filter(({ dueAt }) => dueAt !== null && dueAt <= now)
            .toSorted(longestDueFirst)
            .slice(0, limit)
            .map((operation) => taken(operation, now, leaseMillis))
        ),
      setNextAttempt: (operationId, fence, next, reason) =>
        run((now) => {
          const operation = operations.get(operationId)
          if (operation === undefined || operation.fence !== fence || isFinal(operation.state)) return false
          const { failedAttempt: known, state } = operation
          const attempts = (known?.state === state ? known.attempts : 0) + 1
          const failedAttempt = reason === undefined ? known : { state, attempts, at: now, reason }
          put({ ...operation, failedAttempt, ...dueAfter(now, next) })
          return true
        }),
      makeDue: (operationId) =>
        run((now) => {
          const operation = operations.get(operationId)
          if (operation === undefined || operation.dueAt === null) return false
          if (operation.leasedUntil !== null && operation.leasedUntil > now) return false
          if (operation.dueAt > now) put({ ...operation, dueAt: now })
          return true
        }),
      entries: (operationId) => run(() => tables.entries.get(operationId) ?? []),
      post: (entries) => run((now) => entries.forEach((entry) => post(tables, entry, now))),
      countOpen: (limit) =>
        run(() => countByStateAndToken(operations.where("queue", OPEN).toSorted(longestDueFirst).slice(0, limit))),
      openKeyIds: run(() => [
        ...new Set(operations.where("queue", OPEN).map(({ terms }) => RequestBinding.keyIdOf(terms)))
      ]),
      removeAnswers: ({ age, limit, ...scope }) =>
        run((now) => {
          const old = operations
            .rows()
            .filter(({ input, state }) => isFinal(state) && input !== REMOVED)
            .filter(({ createdAt, tenantId }) => createdAt <= now - age && isInScope(scope, tenantId))
            .toSorted((a, b) => a.createdAt - b.createdAt)
            .slice(0, limit)
          for (const operation of old) operations.set(operation.operationId, withoutAnswer(operation))
          return old.length
        }),
      books: run(() => ({ balances: balances.rows(), totals: totals(operations.rows()) })),
      listPaid: (after, limit) =>
        run(() =>
          operations
            .rows()
            .filter(({ operationId, transaction }) => transaction !== null && operationId > (after ?? ""))
            .toSorted(byId)
            .slice(0, limit)
        ),
      list: ({ before, limit, payer, state }) =>
        run(() => {
          const isOpen = state === "open" || (state !== undefined && !isFinal(state))
          const open = isOpen ? operations.where("queue", OPEN) : undefined
          return (open ?? (payer === undefined ? operations.rows() : operations.where("payer", payer)))
            .filter((each) => state === undefined || state === "open" || each.state === state)
            .filter((each) => payer === undefined || proofKey(each.proof).payer === payer)
            .filter(({ operationId }) => before === undefined || operationId < before)
            .toSorted((a, b) => byId(b, a))
            .slice(0, limit)
            .map(summaryOf)
        })
    })
  })
)

/** The input and the plan of an operation whose answer was removed. */
const REMOVED = "null"

/** Removes what only answers retries. */
export const withoutAnswer = (operation: Operation): Operation => {
  const { proof, terms } = operation
  return {
    ...operation,
    answer: null,
    failedAttempt: null,
    receipt: null,
    input: REMOVED,
    plan: REMOVED,
    proof: {
      ...proofKey(proof),
      digest: proof.digest,
      payTo: terms.payTo,
      value: terms.amount,
      validAfter: 0,
      validBefore: 0,
      accepted: { ...terms, amount: String(terms.amount), maxTimeoutSeconds: 0, extra: {} },
      payload: "{}"
    }
  }
}

/** A lease also sets when the operation is due: when it expires. */
const dueAfter = (now: Timestamp.Timestamp, next: NextAttempt): Pick<Operation, "leasedUntil" | "dueAt"> => {
  const dueAt = next.kind === "none" ? null : Timestamp.add(now, next.millis)
  return { leasedUntil: next.kind === "leased" ? dueAt : null, dueAt }
}

/** Dies if an open operation has no `dueAt`, or a final one has. */
const requireHeldUnlessFinal = ({ dueAt, operationId, state }: Operation): void => {
  if ((dueAt === null) === isFinal(state)) return
  throw new Error(
    `operation ${operationId} is ${state}, ${dueAt === null ? "and has no next attempt" : "but has a next attempt"}`
  )
}

const byId = (a: Operation, b: Operation): number => (a.operationId < b.operationId ? -1 : 1)

const longestDueFirst = (a: Operation, b: Operation): number => (a.dueAt ?? 0) - (b.dueAt ?? 0) || byId(a, b)

const countByStateAndToken = (operations: ReadonlyArray<Operation>): ReadonlyArray<OpenOperations> => {
  const groups = Map.groupBy(operations, ({ proof, state }) => {
    const { asset, network } = proofKey(proof)
    return compositeKey(state, network, asset)
  })
  return [...groups.values()].flatMap((some) => {
    const oldestAt = Timestamp.Timestamp.make(Math.min(...some.map(({ createdAt }) => createdAt)))
    return totals(some).map((total) => ({ ...total, oldestAt }))
  })
}

const totals = (operations: ReadonlyArray<Operation>): ReadonlyArray<OperationTotal> => {
  const sums = new Map<string, OperationTotal>()
  for (const { proof, state, terms } of operations) {
    const { asset, network } = proofKey(proof)
    const key = compositeKey(state, network, asset)
    const { amount, count } = sums.get(key) ?? { amount: 0n, count: 0 }
    sums.set(key, { state, network, asset, count: count + 1, amount: amount + terms.amount })
  }
  return [...sums.values()]
}

const findByKeys = (
  { operations }: Tables,
  keys: Parameters<OperationStore["Service"]["findByKeys"]>[0]
): ReadonlyArray<Operation> => {
  const byProof = operations.where("proof", operationKeys.proof(keys.proof))
  const byRequest = operations.where(
    "request",
    operationKeys.request(keys.proof.payer, keys.endpoint, keys.idempotencyKey)
  )
  return [...new Set([...byProof, ...byRequest])]
}

const post = (
  { balances, entries }: Tables,
  { account, amount, network, operationId, ...entry }: Ledger.LedgerEntry,
  at: Timestamp.Timestamp
): void => {
  entries.set(operationId, [...(entries.get(operationId) ?? []), { account, amount, at }])
  const asset = entry.asset.toLowerCase()
  const key = compositeKey(account, network, asset)
  balances.set(key, { account, network, asset, amount: (balances.get(key)?.amount ?? 0n) + amount })
}
