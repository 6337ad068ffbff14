import { getEncodedEip712Data } from "web3-eth-abi"
import { signMessageWithPrivateKey } from "web3-eth-accounts"
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
    signTypedData: async (data) => {
      const types = { EIP712Domain: DOMAIN, ...data.types }
      const hash = getEncodedEip712Data({ ...data, types }, true)
      return signMessageWithPrivateKey(hash, task.privateKey).signature
    }
  })
