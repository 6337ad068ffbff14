import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { privateKeyToAccount } from "viem/accounts"
import { read, requestOf } from "../response.mjs"

const DOMAIN = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" }
]

/** Returns the types of typed data with those of its domain, which signers with the whole of EIP-712 require. */
export const withDomain = ({ domain, types }) => ({
  EIP712Domain: DOMAIN.filter(({ name }) => name in domain),
  ...types
})

export const buyWith = async (task, signer) => {
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(signer))
  // Newer versions refuse unknown tokens until they are allowed.
  client.setSpendControls?.({
    allowedAssets: [{ network: task.network, asset: task.asset, maxAmountPerPayment: "5000000" }]
  })
  return read(await wrapFetchWithPayment(fetch, client)(task.url, requestOf(task)))
}

export const buy = (task) => buyWith(task, privateKeyToAccount(task.privateKey))
