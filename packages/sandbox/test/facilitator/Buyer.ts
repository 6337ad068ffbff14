import { x402Client } from "@x402/core/client"
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types"
import type { ClientEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { ChainDescription } from "../../src/chain/ChainDescription.ts"

/** Returns the requirements of a service on this chain, by default for 0.25 USDT. */
export const requirementsOf = (
  chain: ChainDescription,
  change: Partial<PaymentRequirements> = {}
): PaymentRequirements => ({
  scheme: "exact",
  network: chain.network,
  asset: chain.asset,
  amount: "250000",
  payTo: chain.payTo,
  maxTimeoutSeconds: 30,
  extra: {
    name: chain.assetName,
    ...(chain.assetVersion === undefined ? {} : { version: chain.assetVersion }),
    ...(chain.transferMethod === "permit2" ? { assetTransferMethod: chain.transferMethod } : {})
  },
  ...change
})

/** Signs a payment with the standard x402 client, by a private key or a smart account. */
export const pay = (payer: Hex | ClientEvmSigner, requirements: PaymentRequirements): Promise<PaymentPayload> => {
  const signer = typeof payer === "string" ? privateKeyToAccount(payer) : payer
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(signer))
  // The client does not know the asset and would reject it.
  client.setSpendControls(false)
  return client.createPaymentPayload({
    x402Version: 2,
    resource: { url: "https://service.example/mailboxes" },
    accepts: [requirements]
  })
}
