import { Wallet } from "ethers"
import { buyWith } from "./x402Fetch.mjs"

export const buy = (task) => {
  const wallet = new Wallet(task.privateKey)
  const signTypedData = ({ domain, message, types }) => wallet.signTypedData(domain, types, message)
  return buyWith(task, { address: wallet.address, signTypedData })
}
