import { type Authorization, type AuthorizedPayment, fieldsOf } from "./Authorization.ts"

/** Permit2 (https://github.com/Uniswap/permit2), which has this address on every chain. */
export const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"

/**
 * The contract that may spend the authorization, and pays only the recipient in its witness: x402ExactPermit2Proxy
 * (x402, specs/schemes/exact/scheme_exact_evm.md), which has this address on every chain. A challenge can't name another one.
 */
const PROXY = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001"

/** Returns the transaction by which a wallet lets Permit2 move any amount of a token: approve(address,uint256) of ERC-20. */
export const approvalOf = (network: string, asset: string) => ({
  network,
  to: asset,
  data: `0x095ea7b3${PERMIT2.slice(2).toLowerCase().padStart(64, "0")}${"f".repeat(64)}`
})

/** PermitWitnessTransferFrom of Permit2, with the witness of x402. */
const TYPES = {
  PermitWitnessTransferFrom: fieldsOf(
    "TokenPermissions permitted, address spender, uint256 nonce, uint256 deadline, Witness witness"
  ),
  TokenPermissions: fieldsOf("address token, uint256 amount"),
  Witness: fieldsOf("address to, uint256 validAfter")
}

/** Permit2 executes the authorization within the wallet's allowance (`assetTransferMethod` `permit2`). */
export const authorizeByPermit2 = ({
  asset,
  chainId,
  nonce,
  payTo,
  payer,
  validBefore,
  value
}: Authorization): AuthorizedPayment => ({
  typedData: {
    domain: { name: "Permit2", chainId, verifyingContract: PERMIT2 },
    types: TYPES,
    primaryType: "PermitWitnessTransferFrom",
    message: {
      permitted: { token: asset, amount: value },
      spender: PROXY,
      nonce: BigInt(nonce),
      deadline: BigInt(validBefore),
      witness: { to: payTo, validAfter: 0n }
    }
  },
  payload: {
    permit2Authorization: {
      from: payer,
      permitted: { token: asset, amount: String(value) },
      spender: PROXY,
      nonce: String(BigInt(nonce)),
      deadline: String(validBefore),
      witness: { to: payTo, validAfter: "0" }
    }
  }
})
