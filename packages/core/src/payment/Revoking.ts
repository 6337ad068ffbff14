import { Effect, Option } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import * as Ledger from "./Ledger.ts"
import { type OperationFailure, refundNonceOf } from "./Operation.ts"
import { OperationStore } from "./OperationStore.ts"

export interface Revoking {
  /**
   * Owes the refund of a fulfilled operation whose goods are withdrawn undelivered; the worker of refunds pays it. Returns
   * false, and changes nothing, if the operation was revoked before. Call it under the tenant's lock, in the transaction
   * that withdraws the goods.
   */
  readonly revoke: (operationId: string, failure: OperationFailure) => Effect.Effect<boolean>
}

export const make: Effect.Effect<Revoking, never, OperationStore | Keyring> = Effect.gen(function* () {
  const operations = yield* OperationStore
  const keyring = yield* Keyring
  return {
    revoke: Effect.fnUntraced(function* (operationId, failure) {
      const operation = Option.getOrUndefined(yield* operations.find(operationId))
      if (operation?.state !== "fulfilled") return false
      const moved = yield* operations.advance(operation, {
        to: "refund_due",
        change: { failure, refundNonce: refundNonceOf(keyring, operation) },
        next: { kind: "scheduled", millis: 0 },
        entries: Ledger.entriesOf(operation, "fulfilled", "refund_due")
      })
      return Option.isSome(moved)
    })
  }
})
