import { payX402Service, PinionClient } from "pinion-os"

export const buy = async (task) => {
  const pinion = new PinionClient({ privateKey: task.privateKey })
  const result = await payX402Service(pinion.signer, task.url, {
    method: "POST",
    headers: task.headers,
    body: JSON.parse(task.body),
    maxAmount: "5000000"
  })
  return { status: result.status, text: JSON.stringify(result), receipt: null }
}
