import { getEncodedEip712Data } from "web3-eth-abi"
import { signMessageWithPrivateKey } from "web3-eth-accounts"
import { buyWith, withDomain } from "./x402Fetch.mjs"

export const buy = (task) =>
  buyWith(task, {
    address: task.address,
    signTypedData: async (data) => {
      const types = withDomain(data)
      const hash = getEncodedEip712Data({ ...data, types }, true)
      return signMessageWithPrivateKey(hash, task.privateKey).signature
    }
  })
