import type { Authorization, AuthorizedPayment } from "./Authorization.ts"

/** TransferWithAuthorization of EIP-3009. */
const TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" }
  ]
}

/** The token itself executes the authorization (`assetTransferMethod` `eip3009`). */
export const authorizeByEip3009 = ({
  asset,
  chainId,
  extra,
  nonce,
  payTo,
  payer,
  validBefore,
  value
}: Authorization): AuthorizedPayment => {
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
      domain: {
        name: String(extra["name"]),
        version: String(extra["version"]),
        chainId,
        verifyingContract: asset
      },
      types: TYPES,
      primaryType: "TransferWithAuthorization",
      message: { ...authorization, value, validAfter: 0n, validBefore: BigInt(validBefore) }
    },
    payload: { authorization }
  }
}
