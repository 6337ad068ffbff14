import type { GasSponsoring, OfferedNetwork } from "../network/PaymentNetwork.ts"
import type { MissingApproval } from "./TransferMethod.ts"

/** Describes an approval that a wallet must give, and how. */
export const approvalText = (
  wallet: string,
  { config, network }: OfferedNetwork,
  { allowance, data, to }: MissingApproval
): string =>
  `The wallet ${wallet} must let Permit2 move its tokens on ${network}, once. It allows ${allowance} base units now. ` +
  `Send a transaction from it to ${to}, without value, with the data ${data}.` +
  (allowance === 0n ? "" : " Some tokens refuse to change an allowance that is not 0: set it to 0 first.") +
  (config.gasSponsoring === undefined ? "" : INSTEAD[config.gasSponsoring])

const INSTEAD: Readonly<Record<GasSponsoring, string>> = {
  eip2612:
    " Or pay without a transaction, with a permit in x402's extension eip2612GasSponsoring. Its nonce is permitNonce in GET /api/v1/payments/networks?wallet=.",
  erc20Approval:
    " Or pay with a client that signs that transaction with the payment, in x402's extension erc20ApprovalGasSponsoring, and can read the chain: that needs no gas."
}
