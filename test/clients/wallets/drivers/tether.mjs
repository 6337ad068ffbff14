import { WalletAccountEvm } from "@tetherto/wdk-wallet-evm"
import { buyWith } from "./x402Fetch.mjs"

export const buy = async (task) => {
  const account = new WalletAccountEvm(task.mnemonic, "0'/0/0", {})
  return buyWith(task, { address: await account.getAddress(), signTypedData: (data) => account.signTypedData(data) })
}
