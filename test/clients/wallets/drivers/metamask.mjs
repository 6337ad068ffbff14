import { signTypedData, SignTypedDataVersion } from "@metamask/eth-sig-util"
import { buyWith } from "./x402Fetch.mjs"

const DOMAIN = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" }
]
const privateKeyOf = (task) => Buffer.from(task.privateKey.slice(2), "hex")

export const buy = (task) =>
  buyWith(task, {
    address: task.address,
    signTypedData: async (data) =>
      signTypedData({
        privateKey: privateKeyOf(task),
        data: { ...data, types: { EIP712Domain: DOMAIN, ...data.types } },
        version: SignTypedDataVersion.V4
      })
  })
