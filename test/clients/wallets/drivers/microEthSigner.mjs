import { signTyped } from "micro-eth-signer"
import { buyWith, withDomain } from "./x402Fetch.mjs"

export const buy = (task) =>
  buyWith(task, {
    address: task.address,
    signTypedData: async (data) => signTyped({ ...data, types: withDomain(data) }, task.privateKey)
  })
