import { signTypedData, SignTypedDataVersion } from "@metamask/eth-sig-util"
import { buyWith, withDomain } from "./x402Fetch.mjs"

const privateKeyOf = (task) => Buffer.from(task.privateKey.slice(2), "hex")

export const buy = (task) =>
  buyWith(task, {
    address: task.address,
    signTypedData: async (data) =>
      signTypedData({
        privateKey: privateKeyOf(task),
        data: { ...data, types: withDomain(data) },
        version: SignTypedDataVersion.V4
      })
  })
