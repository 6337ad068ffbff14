import { signTyped } from "micro-eth-signer"
import { buyWith } from "./x402Fetch.mjs"

const DOMAIN = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" }
]

export const buy = (task) =>
  buyWith(task, {
    address: task.address,
    signTypedData: async (data) =>
      signTyped({ ...data, types: { EIP712Domain: DOMAIN, ...data.types } }, task.privateKey)
  })
