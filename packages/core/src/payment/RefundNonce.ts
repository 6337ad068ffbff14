import { Hex } from "effect/encoding"
import * as Bytes from "../kernel/Bytes.ts"
import type { Keyring } from "../kernel/Keyring.ts"
import type { Operation } from "./Operation.ts"
import { proofKey } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

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
