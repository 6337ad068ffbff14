import { decodePaymentResponseHeader, wrapAxiosWithPayment, x402Client } from "@x402/axios"
import axios, { type AxiosInstance, type AxiosResponse, isAxiosError } from "axios"
import { randomUUID } from "node:crypto"
import { createPublicClient, erc20Abi, formatUnits, type Hex, http, parseUnits } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { createSiweMessage } from "viem/siwe"
import { WebSocket } from "ws"
import type { SandboxDescription } from "../supervisor/SandboxFile.ts"
import { BoundScheme } from "./BoundScheme.ts"
import { expectEqual, ExpectationFailed, within } from "./Expectation.ts"

/** The response to a paid request, with the confirmed payment. */
export interface PaidResponse<Data> {
  readonly data: Data
  readonly transaction: Hex
  /** The wallet's balance before and after, in decimal USDT. */
  readonly before: string
  readonly after: string
}

/** An agent's HTTP client and wallet. The standard x402 client pays each 402 response. */
export type TourClient = ReturnType<typeof makeTourClient>

const timeoutMillis = 60_000

export const makeTourClient = (sandbox: SandboxDescription, privateKey: Hex) => {
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
  const format = (units: bigint): string => formatUnits(units, sandbox.chain.decimals)

  return {
    /** Sends a free request and returns `data` of the response. */
    get: <Data>(path: string): Promise<Data> => responseOf(free.get(path)).then(({ data }) => data.data),
    post: <Data>(path: string, body: object): Promise<Data> =>
      responseOf(free.post(path, body)).then(({ data }) => data.data),
    /** Sends a paid request, and compares the payment with the price and with the chain. */
    pay: async <Data>(path: string, body: object, price: string, status: number): Promise<PaidResponse<Data>> => {
      const before = await balance()
      const response = await responseOf(
        paying.post(path, body, { headers: { "Idempotency-Key": randomUUID() }, validateStatus: (code) => code < 300 })
      )
      expectEqual("status", response.status, status)
      const { transaction } = decodePaymentResponseHeader(String(response.headers["payment-response"]))
      const receipt = await chain.getTransactionReceipt({ hash: transaction as Hex })
      expectEqual("transaction status", receipt.status, "success")
      const after = await balance()
      expectEqual("payment of", format(before - after), format(parseUnits(price, sandbox.chain.decimals)))
      return {
        data: response.data.data,
        transaction: receipt.transactionHash,
        before: format(before),
        after: format(after)
      }
    },
    /** Returns the wallet's access token for a signature, free of charge. */
    signIn: async (): Promise<string> => {
      const path = "/api/v1/auth/token"
      const { headers } = await free.post(path, undefined, { validateStatus: (code) => code === 402 })
      const info = signInInfo(String(headers["payment-required"]))
      const chainId = await chain.getChainId()
      const { domain, nonce, statement, uri, version } = info
      const [issuedAt, expirationTime] = [new Date(info.issuedAt), new Date(info.expirationTime)]
      const { address } = account
      const signed = { address, chainId, domain, expirationTime, issuedAt, nonce, statement, uri, version }
      const message = createSiweMessage(signed)
      const signature = await account.signMessage({ message })
      const payload = { ...info, address, chainId: `eip155:${chainId}`, type: "eip191", signature }
      const header = Buffer.from(JSON.stringify(payload)).toString("base64")
      const answer = await responseOf(free.post(path, undefined, { headers: { "SIGN-IN-WITH-X": header } }))
      return answer.data.data.authentication.accessToken
    },
    useToken: (accessToken: string): void => {
      for (const client of [free, paying] satisfies Array<AxiosInstance>) {
        client.defaults.headers.common["Authorization"] = `Bearer ${accessToken}`
      }
    }
  }
}

/** The message that a wallet signs, without its address and chain. */
interface SignInInfo {
  readonly domain: string
  readonly expirationTime: string
  readonly issuedAt: string
  readonly nonce: string
  readonly statement: string
  readonly uri: string
  readonly version: "1"
}

const signInInfo = (header: string): SignInInfo =>
  JSON.parse(Buffer.from(header, "base64").toString()).extensions["sign-in-with-x"].info

/** Returns a successful response. Fails with the service's error otherwise. */
const responseOf = async (request: Promise<AxiosResponse>): Promise<AxiosResponse> => {
  try {
    return await request
  } catch (error) {
    if (!isAxiosError(error)) throw error
    if (error.response === undefined) throw new ExpectationFailed("a response", error.code ?? error.message)
    const { data, status } = error.response as AxiosResponse
    throw new ExpectationFailed("success", `${status} ${JSON.stringify(data?.error ?? data)}`)
  }
}

/** The used fields of a realtime message. */
export interface ServerMessage {
  readonly type: string
  readonly eventId?: string
  readonly delivered?: number
  readonly message?: string
  readonly event?: {
    readonly eventId: string
    readonly type: string
    readonly payload: Readonly<Record<string, unknown>>
  }
}

/** A realtime session. */
export type TourSocket = Awaited<ReturnType<typeof openTourSocket>>

const messageMillisMax = 60_000

export const openTourSocket = async (url: string) => {
  const socket = new WebSocket(url)
  const received: Array<ServerMessage> = []
  let wake: () => void = () => undefined
  let failure: Error | undefined
  socket.on("message", (data: Buffer) => {
    received.push(JSON.parse(data.toString()) as ServerMessage)
    wake()
  })
  socket.on("error", (error) => (failure = error))
  socket.on("close", (code, reason) => {
    failure ??= new ExpectationFailed("an open socket", `close code ${code} ${reason.toString()}`)
    wake()
  })

  const take = async (matches: (message: ServerMessage) => boolean): Promise<ServerMessage> => {
    for (;;) {
      for (let message = received.shift(); message !== undefined; message = received.shift()) {
        if (matches(message)) return message
        if (message.type === "error") throw new ExpectationFailed("no error", message.message ?? "an error")
      }
      if (failure !== undefined) throw failure
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  await within(
    messageMillisMax,
    "an open socket",
    new Promise<void>((resolve, reject) => {
      socket.once("open", resolve)
      socket.once("error", reject)
    })
  )
  return {
    /** Returns the next message that `matches` accepts, and drops the messages before it. */
    next: (subject: string, matches: (message: ServerMessage) => boolean) =>
      within(messageMillisMax, subject, take(matches)),
    send: (message: object) => socket.send(JSON.stringify(message)),
    close: () => socket.close()
  }
}
