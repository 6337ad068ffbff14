import { x402Client } from "@x402/core/client"
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { ChainDescription } from "../../src/chain/ChainDescription.ts"

/** What a service on this chain asks for: a quarter of a USDT unless told. */
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
  extra: { name: chain.assetName, version: chain.assetVersion },
  ...change
})

/** Signs a payment by x402's stock client, as a customer does on a 402. */
export const pay = (privateKey: Hex, requirements: PaymentRequirements): Promise<PaymentPayload> => {
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)))
  // The client knows no asset of this chain, and refuses unknown ones until told otherwise.
  client.setSpendControls(false)
  return client.createPaymentPayload({
    x402Version: 2,
    resource: { url: "https://service.example/mailboxes" },
    accepts: [requirements]
  })
}
