import { wrapAxiosWithPayment, x402Client } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import axios from "axios"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { privateKeyToAccount } from "viem/accounts"

export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, "close")
  return port
}

/** Buys a mailbox with a stock x402 client and returns the access token and the address. */
export const buyMailbox = async (baseUrl: string, privateKey: `0x${string}`, localPart: string) => {
  const wallet = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)))
  const api = wrapAxiosWithPayment(axios.create({ baseURL: baseUrl }), wallet)
  const { data } = await api.post<{
    data: { mailbox: { address: string }; authentication: { accessToken: string } }
  }>("/api/v1/email/mailboxes", { localPart }, { headers: { "Idempotency-Key": crypto.randomUUID() } })
  return { address: data.data.mailbox.address, token: data.data.authentication.accessToken }
}
