import { concat, type Hex, size } from "viem"
import type { TransferMethodName } from "./PaymentNetwork.ts"
import type { Signer } from "./Signer.ts"

/** A signature that is not that of its payer in the form that contracts accept. */
export interface RefusedSignature {
  readonly payer: Hex
  readonly digest: Hex
  readonly signature: Hex
  readonly method: TransferMethodName
  /** The name of the token, and the bytes that a client signs which decodes the name as Latin-1, if they differ. */
  readonly name: string
  readonly garbledDigest: Hex | undefined
  /** The bytes that a client signs which leaves all fields of the domain out. */
  readonly bareDigest: Hex
}

/** Why the last byte must be 27 or 28. */
const RECOVERY_REASON: Readonly<Record<TransferMethodName, string>> = {
  eip3009: "facilitators pass it on as r, s and v",
  permit2: "Permit2 passes it to ecrecover unchanged"
}
/** Permit2 itself accepts 64 bytes. */
const SHORT_REASON: Readonly<Record<TransferMethodName, string>> = {
  eip3009: ", because facilitators pass it on so",
  permit2: ": this server verifies no other form"
}

/** Returns the signature with the recovery id as 27 or 28, if it ends with 0 or 1 instead. */
const withRecoveryId = (signature: Hex): Hex | undefined =>
  /0[01]$/.test(signature) ? `0x${signature.slice(2, -2)}${signature.endsWith("0") ? "1b" : "1c"}` : undefined

/** Expands 64 bytes, which carry the recovery id in the highest bit of s (EIP-2098). */
const expanded = (signature: Hex): Hex => {
  const s = BigInt(`0x${signature.slice(66)}`)
  const lower = BigInt.asUintN(255, s)
  return concat([
    `0x${signature.slice(2, 66)}`,
    `0x${lower.toString(16).padStart(64, "0")}`,
    s === lower ? "0x1b" : "0x1c"
  ])
}

/**
 * Returns a sentence about a known mistake of clients that explains a refused signature, or undefined. Each mistake is proved
 * by recovering the payer. Recovers at most three times, without the chain.
 */
export const findCause = (
  { recoverSigner }: Signer,
  { bareDigest, digest, garbledDigest, method, name, payer, signature }: RefusedSignature
): string | undefined => {
  const isPayers = (hash: Hex, bytes: Hex | undefined) => bytes !== undefined && recoverSigner(hash, bytes) === payer
  if (!/^0x(?:[0-9a-f]{128}|[0-9a-f]{130})$/i.test(signature)) return undefined
  if (size(signature) === 64) {
    return isPayers(digest, expanded(signature))
      ? `The signature has the 64 bytes of EIP-2098. Send its 65 bytes r, s and v${SHORT_REASON[method]}.`
      : undefined
  }
  if (isPayers(digest, withRecoveryId(signature))) {
    return `The signature ends with 0 or 1. It must end with 27 or 28, because ${RECOVERY_REASON[method]}.`
  }
  if (garbledDigest !== undefined && isPayers(garbledDigest, signature)) {
    return (
      `The signature is for another spelling of the token's name ${name}: the client decoded the UTF-8 of ` +
      "PAYMENT-REQUIRED as Latin-1, for example by atob. Use a client that decodes it as UTF-8."
    )
  }
  return isPayers(bareDigest, signature)
    ? "The signature is for a domain without fields: the typed data has no types.EIP712Domain, which eth-sig-util of MetaMask " +
        "and the helper of Trezor need. Add that type, with the fields of the domain, before it is signed."
    : undefined
}
