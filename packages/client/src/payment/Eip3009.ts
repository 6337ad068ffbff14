import { type Authorization, type AuthorizedPayment, fieldsOf, tokenDomainOf } from "./Authorization.ts"

/** TransferWithAuthorization of EIP-3009. */
const TYPES = {
  TransferWithAuthorization: fieldsOf(
    "address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce"
  )
}

/** The token itself executes the authorization (`assetTransferMethod` `eip3009`). */
export const authorizeByEip3009 = (transfer: Authorization): AuthorizedPayment => {
  const { nonce, payTo, payer, validBefore, value } = transfer
  // The clock of the chain may be behind that of this machine.
  const authorization = {
    from: payer,
    to: payTo,
    value: String(value),
    validAfter: "0",
    validBefore: String(validBefore),
    nonce
  }
  return {
    typedData: {
      domain: tokenDomainOf(transfer),
      types: TYPES,
      primaryType: "TransferWithAuthorization",
      message: { ...authorization, value, validAfter: 0n, validBefore: BigInt(validBefore) }
    },
    payload: { authorization }
  }
}
