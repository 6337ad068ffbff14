import { EnvWalletProvider } from "@bankofai/agent-wallet"
import { EvmClientSigner, ExactEvmClientMechanism, X402Client, X402FetchClient } from "@bankofai/x402"
import { read, requestOf } from "../response.mjs"

export const buy = async (task) => {
  const env = { AGENT_WALLET_PRIVATE_KEY: task.privateKey }
  const wallet = await new EnvWalletProvider({ network: "eip155", env }).getActiveWallet()
  const signer = new EvmClientSigner(wallet)
  signer.setAddress(await wallet.getAddress())
  const client = new X402Client().register("eip155:*", new ExactEvmClientMechanism(signer))
  return read(await new X402FetchClient(client).request(task.url, requestOf(task)))
}
