import { isRecord, type Json } from "../Encoding.ts"
import type { WalletAccount } from "./Account.ts"
import { type Authorization, fieldsOf, tokenDomainOf } from "./Authorization.ts"
import { PERMIT2 } from "./Permit2.ts"

/**
 * The extension of x402 by which a payment brings its allowance for Permit2, so that the wallet needs no transaction and no gas
 * (specs/extensions/eip2612_gas_sponsoring.md).
 */
const EXTENSION = "eip2612GasSponsoring"

/** Permit of EIP-2612. */
const TYPES = {
  Permit: fieldsOf("address owner, address spender, uint256 value, uint256 nonce, uint256 deadline")
}

/** Of an ECDSA signature. Those of smart accounts are longer, and no permit has room for them. */
const SIGNATURE_LENGTH = 2 + 2 * 65

/** Thrown for a wallet that signs as a smart account, before it signs a payment. */
export const SMART_ACCOUNT = new Error("it signs as a smart account")

/** Whether payments in a token may bring their allowance, by the extensions of the challenge and `extra` of the token's terms. */
export const takesPermits = (extensions: unknown, extra: Json): boolean =>
  isRecord(extensions) &&
  isRecord(extensions[EXTENSION]) &&
  extra["gasSponsoring"] === "eip2612" &&
  typeof extra["version"] === "string"

/**
 * Signs the permit for Permit2 over the amount and the deadline of a payment alone. Returns the extensions of the payment with it.
 * Throws SMART_ACCOUNT.
 */
export const signPermit = async (
  wallet: WalletAccount,
  extensions: unknown,
  payment: Authorization,
  nonce: bigint
): Promise<Json> => {
  const { asset, payer, validBefore, value } = payment
  const signature = await wallet.signTypedData({
    domain: tokenDomainOf(payment),
    types: TYPES,
    primaryType: "Permit",
    message: { owner: payer, spender: PERMIT2, value, nonce, deadline: BigInt(validBefore) }
  })
  if (signature.length !== SIGNATURE_LENGTH) throw SMART_ACCOUNT
  const declared = extensions as Readonly<Record<string, Json>>
  const info = {
    from: payer,
    asset,
    spender: PERMIT2,
    amount: String(value),
    nonce: String(nonce),
    deadline: String(validBefore),
    signature,
    version: "1"
  }
  return { ...declared, [EXTENSION]: { ...declared[EXTENSION], info } }
}
