import axios from "axios"
import { privateKeyToAccount, wrapAxiosWithPayment } from "x402-stacks"

export const buy = async (task) => {
  const paying = wrapAxiosWithPayment(axios.create(), privateKeyToAccount(`${task.privateKey.slice(2)}01`, "testnet"))
  const response = await paying.post(task.url, JSON.parse(task.body), { headers: task.headers })
  return { status: response.status, text: JSON.stringify(response.data), receipt: response.headers["payment-response"] }
}
