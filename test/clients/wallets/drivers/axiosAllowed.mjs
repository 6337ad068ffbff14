import { wrapAxiosWithPayment, x402Client } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import axios from "axios"
import { privateKeyToAccount } from "viem/accounts"

export const buyWith = async (task, prepare) => {
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(task.privateKey)))
  prepare(client)
  const paying = wrapAxiosWithPayment(axios.create(), client)
  const response = await paying.post(task.url, JSON.parse(task.body), { headers: task.headers })
  return { status: response.status, text: JSON.stringify(response.data), receipt: response.headers["payment-response"] }
}

export const buy = (task) =>
  buyWith(task, (client) =>
    client.setSpendControls({
      allowedAssets: [{ network: task.network, asset: task.asset, maxAmountPerPayment: "5000000" }]
    })
  )
