import type { PaymentProof } from "@agentos/core"
import type { Address, Hex } from "viem"

/** The transfer that a payer authorizes by a signature. Each transfer method has its own form of the message. */
export interface AuthorizedTransfer {
  readonly from: Address
  readonly to: Address
  /** Base units of the token. */
  readonly value: bigint
  /** The authorization is valid between these two times, in unix seconds. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 32 bytes that the payer chooses. Each value is accepted once. */
  readonly nonce: Hex
}

/** Returns a value of a proof in lower case; its reader has checked that it is hexadecimal. */
export const hexOf = (text: string): Hex => `0x${text.slice(2).toLowerCase()}`

/** Returns the transfer that a proof authorizes. */
export const transferOf = (
  proof: Pick<PaymentProof, "payer" | "payTo" | "value" | "validAfter" | "validBefore" | "nonce">
): AuthorizedTransfer => ({
  from: hexOf(proof.payer),
  to: hexOf(proof.payTo),
  value: proof.value,
  validAfter: BigInt(proof.validAfter),
  validBefore: BigInt(proof.validBefore),
  nonce: hexOf(proof.nonce)
})
