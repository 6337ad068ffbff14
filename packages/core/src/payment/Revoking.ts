import { Effect, Option } from "effect"
import { Hex } from "effect/encoding"
import * as Bytes from "../kernel/Bytes.ts"
import { Keyring } from "../kernel/Keyring.ts"
import * as Ledger from "./Ledger.ts"
import type { Operation, OperationFailure } from "./Operation.ts"
import { OperationStore } from "./OperationStore.ts"
import { proofKey } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

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

/**
 * Returns the authorization nonce of an operation's refund. It is derived from the proof key of the payment, which only
 * one operation holds, under the server key of its challenge. A deployment restored from a backup therefore refunds under
 * the same nonce, and only once, even if another key is active since, or if the operation was lost and claimed again.
 * Throws if that key is not in the key ring.
 */
export const refundNonceOf = (keyring: Keyring["Service"], { operationId, proof, terms }: Operation): string => {
  const { asset, network, nonce, payer } = proofKey(proof)
  const keyId = RequestBinding.keyIdOf(terms)
  const mac = keyring.mac(keyId, "refund-nonce", Bytes.fromText(JSON.stringify([network, asset, payer, nonce])))
  if (mac === undefined) throw new Error(`operation ${operationId} needs key ${keyId}, which is not in the key ring`)
  return `0x${Hex.encode(mac)}`
}
