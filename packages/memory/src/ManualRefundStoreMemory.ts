import { ManualRefundStore, proofKey } from "@agentos/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

/** Refunds by hand in memory. */
export const layer = Layer.effect(
  ManualRefundStore,
  Effect.map(MemoryDatabase, ({ run, tables: { manualRefunds, operations } }) => {
    const ofOperation = (operationId: string) =>
      manualRefunds.rows().find((refund) => refund.operationId === operationId)

    /** Whether this service made the transfer for a refund of its own. */
    const isOurs = (wallet: string, transaction: string): boolean =>
      operations
        .where("payer", wallet)
        .some(
          ({ operationId, proof, refundTransaction }) =>
            proofKey(proof).payer === wallet &&
            refundTransaction?.toLowerCase() === transaction &&
            ofOperation(operationId) === undefined
        )

    return ManualRefundStore.of({
      record: (refund) =>
        run(() => {
          const { operationId, transaction, transferId, wallet } = refund
          if (manualRefunds.has(transferId) || isOurs(wallet, transaction)) return false
          if (operationId !== null && ofOperation(operationId) !== undefined) return false
          manualRefunds.set(transferId, refund)
          return true
        }),
      list: (receivedTransaction) =>
        run(() =>
          manualRefunds
            .rows()
            .filter((refund) => receivedTransaction === undefined || refund.receivedTransaction === receivedTransaction)
            .toSorted((a, b) => (a.transferId < b.transferId ? -1 : 1))
        ),
      assign: (transferId, operationId) =>
        run(() => {
          const refund = manualRefunds.get(transferId)
          const other = ofOperation(operationId)
          if (refund === undefined || (other !== undefined && other !== refund)) return false
          if (refund.operationId !== null && refund.operationId !== operationId) return false
          manualRefunds.set(transferId, { ...refund, operationId })
          return true
        })
    })
  })
)
