import { Secp256k1, Signature, TypedData } from "ox"
import { buyWith } from "./x402Fetch.mjs"

export const buy = (task) =>
  buyWith(task, {
    address: task.address,
    signTypedData: async (data) =>
      Signature.toHex(Secp256k1.sign({ payload: TypedData.getSignPayload(data), privateKey: task.privateKey }))
  })
