import { x402axios } from "aptos-x402"

export const buy = async (task) => {
  const { data, headers, status } = await x402axios.post(task.url, JSON.parse(task.body), {
    privateKey: task.privateKey,
    headers: task.headers
  })
  return { status, text: JSON.stringify(data), receipt: headers["payment-response"] }
}
