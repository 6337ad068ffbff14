import { type Ledger, type Operation, OperationStore, proofKey, Timestamp } from "@agentos/core"
import { Effect, Layer, Option } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { compositeKey, operationKeys, requireTenant, type Tables } from "./Tables.ts"

/** Paid operations and the ledger in memory. */
export const layer = Layer.effect(
  OperationStore,
  Effect.map(MemoryDatabase, ({ run, tables }) => {
    const { balances, operations } = tables

    const put = (operation: Operation): Operation => {
      operations.set(operation.operationId, operation)
      return operation
    }

    return OperationStore.of({
      claim: (operation, leaseMillis) =>
        run((now) => {
          requireTenant(tables, operation.tenantId)
          const key = { ...operation, proof: proofKey(operation.proof) }
          if (operations.has(operation.operationId) || findByKeys(tables, key).length > 0) return false
          put({ ...operation, fence: 1, leasedUntil: leaseEnd(now, leaseMillis) })
          return true
        }),
      find: (operationId) => run(() => Option.fromUndefinedOr(operations.get(operationId))),
      findByKeys: (keys) => run(() => findByKeys(tables, keys)),
      advance: ({ change, fence, from, leaseMillis, operationId, to }) =>
        run((now) => {
          const operation = operations.get(operationId)
          if (operation === undefined || operation.state !== from || operation.fence !== fence) return Option.none()
          const leasedUntil = leaseEnd(now, leaseMillis)
          return Option.some(put({ ...operation, ...change, state: to, leasedUntil, updatedAt: now }))
        }),
      takeOver: (operationId, leaseMillis) =>
        run((now) => {
          const operation = operations.get(operationId)
          if (operation === undefined) return Option.none()
          if (operation.leasedUntil !== null && operation.leasedUntil > now) return Option.none()
          const fence = operation.fence + 1
          return Option.some(put({ ...operation, fence, leasedUntil: leaseEnd(now, leaseMillis) }))
        }),
      renew: (operationId, fence, leaseMillis) =>
        run((now) => {
          const operation = operations.get(operationId)
          if (operation === undefined || operation.fence !== fence) return false
          put({ ...operation, leasedUntil: leaseEnd(now, leaseMillis) })
          return true
        }),
      post: (entries) => run(() => entries.forEach((entry) => post(tables, entry))),
      balances: run(() => balances.rows())
    })
  })
)

const leaseEnd = (now: Timestamp.Timestamp, leaseMillis: number): Timestamp.Timestamp | null =>
  leaseMillis === 0 ? null : Timestamp.add(now, leaseMillis)

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

const post = ({ balances }: Tables, { account, amount, asset, network }: Ledger.LedgerEntry): void => {
  const key = compositeKey(account, network, asset)
  balances.set(key, { account, network, asset, amount: (balances.get(key)?.amount ?? 0n) + amount })
}
