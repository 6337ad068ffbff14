import { decodePaymentResponseHeader, wrapAxiosWithPayment, x402Client } from "@x402/axios"
import axios, { type AxiosInstance, type AxiosResponse, isAxiosError } from "axios"
import { randomUUID } from "node:crypto"
import { createPublicClient, erc20Abi, formatUnits, type Hex, http, parseUnits } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { SandboxDescription } from "../supervisor/SandboxFile.ts"
import { BoundScheme } from "./BoundScheme.ts"
import { expectEqual, Unexpected } from "./Expectation.ts"

/** A paid answer, with the proof that it was paid for. */
export interface PaidAnswer<Data> {
  readonly data: Data
  readonly transaction: Hex
  /** The balance before and after, as a person writes money. */
  readonly before: string
  readonly after: string
}

/** An agent's HTTP client and wallet. Payment is the stock client's affair: it answers each 402 by itself. */
export interface TourClient {
  /** Free requests: the `data` of what they are answered. */
  readonly get: <Data>(path: string) => Promise<Data>
  readonly post: <Data>(path: string, body: object) => Promise<Data>
  /** Pays what the service asks for, and holds that against the price and against the chain. */
  readonly pay: <Data>(path: string, body: object, price: string, status: number) => Promise<PaidAnswer<Data>>
  readonly useToken: (accessToken: string) => void
}

const timeoutMillis = 15_000

export const makeTourClient = (sandbox: SandboxDescription, privateKey: Hex): TourClient => {
  const account = privateKeyToAccount(privateKey)
  const wallet = new x402Client().register("eip155:*", new BoundScheme(account))
  const base = { baseURL: sandbox.baseUrl, timeout: timeoutMillis, proxy: false as const }
  const free = axios.create(base)
  const paying = wrapAxiosWithPayment(axios.create(base), wallet)
  const chain = createPublicClient({ transport: http(sandbox.chain.rpcUrl) })

  const balance = (): Promise<bigint> =>
    chain.readContract({
      address: sandbox.chain.asset,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [account.address]
    })
  const money = (units: bigint): string => formatUnits(units, sandbox.chain.decimals)

  return {
    get: (path) => answer(free.get(path)).then(({ data }) => data.data),
    post: (path, body) => answer(free.post(path, body)).then(({ data }) => data.data),
    pay: async (path, body, price, status) => {
      const before = await balance()
      const response = await answer(
        paying.post(path, body, { headers: { "Idempotency-Key": randomUUID() }, validateStatus: (code) => code < 300 })
      )
      expectEqual("status", response.status, status)
      const { transaction } = decodePaymentResponseHeader(String(response.headers["payment-response"]))
      const receipt = await chain.getTransactionReceipt({ hash: transaction as Hex })
      expectEqual("a transaction with status", receipt.status, "success")
      const after = await balance()
      expectEqual("a payment of", money(before - after), money(parseUnits(price, sandbox.chain.decimals)))
      return {
        data: response.data.data,
        transaction: receipt.transactionHash,
        before: money(before),
        after: money(after)
      }
    },
    useToken: (accessToken) => {
      for (const client of [free, paying] satisfies Array<AxiosInstance>) {
        client.defaults.headers.common["Authorization"] = `Bearer ${accessToken}`
      }
    }
  }
}

/** An answer that is a success; one that is none is told in the service's own words. */
const answer = async (request: Promise<AxiosResponse>): Promise<AxiosResponse> => {
  try {
    return await request
  } catch (error) {
    if (!isAxiosError(error)) throw error
    if (error.response === undefined) throw new Unexpected("an answer", error.code ?? error.message)
    const { data, status } = error.response as AxiosResponse
    throw new Unexpected("a success", `${status} ${JSON.stringify(data?.error ?? data)}`)
  }
}
