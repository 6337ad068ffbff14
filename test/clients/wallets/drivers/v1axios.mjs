import axios from "axios"
import { privateKeyToAccount } from "viem/accounts"
import { withPaymentInterceptor } from "x402-axios"

export const buy = async (task) => {
  const paying = withPaymentInterceptor(axios.create(), privateKeyToAccount(task.privateKey))
  const response = await paying.post(task.url, JSON.parse(task.body), { headers: task.headers })
  return { status: response.status, text: JSON.stringify(response.data), receipt: response.headers["payment-response"] }
}
