import { ExactEvmScheme } from "@x402/evm/exact/client"
import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { randomUUID } from "node:crypto"
import { on, once } from "node:events"
import { privateKeyToAccount } from "viem/accounts"
import { WebSocket } from "ws"

/** A client of the service. The wallet pays and signs in; `token` gives access to what it bought. */
export interface Service {
  token: string | undefined
  readonly call: <Data>(method: "GET" | "POST", path: string, body?: object) => Promise<Data>
  readonly session: <Message>(mode: "deliver" | "voice") => AsyncGenerator<SessionMessage<Message>, void>
}

/** A message on the socket, and a function that answers it. */
export interface SessionMessage<Message> {
  readonly message: Message
  readonly answer: (message: object) => void
}

export interface ServiceOptions {
  readonly baseUrl: string
  readonly privateKey: `0x${string}`
  /** The token that the wallet may spend, and the highest price that it pays without asking. */
  readonly spending: {
    readonly network: `eip155:${number}`
    readonly asset: `0x${string}`
    readonly maxAmountPerPayment: string
  }
}

export const connect = ({ baseUrl, privateKey, spending }: ServiceOptions): Service => {
  const account = privateKeyToAccount(privateKey)
  // After a 402, the client signs the payment in the challenge, or the message where only a signature is asked for.
  const wallet = new x402Client()
    .register("eip155:*", new ExactEvmScheme(account))
    .registerExtension(createSIWxClientExtension({ signers: [account] }))
  wallet.setSpendControls({ allowedAssets: [spending] })
  const fetchAndPay = wrapFetchWithPayment(fetch, wallet)

  const service: Service = {
    token: undefined,

    call: async <Data>(method: string, path: string, body?: object): Promise<Data> => {
      const response = await fetchAndPay(`${baseUrl}/api/v1/${path}`, {
        method,
        headers: {
          // If an answer is lost, the same request with the same key and payment returns it, and is charged once.
          "Idempotency-Key": randomUUID(),
          ...(service.token === undefined ? {} : { Authorization: `Bearer ${service.token}` }),
          ...(body === undefined ? {} : { "Content-Type": "application/json" })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const answer = (await response.json()) as { data: Data; error?: { message: string } }
      if (answer.error !== undefined) throw new Error(`${path}: ${answer.error.message}`)
      return answer.data
    },

    session: async function* (mode) {
      const { realtime } = await service.call<{ realtime: { websocketUrl: string; token: string } }>(
        "GET",
        "events/realtime-token"
      )
      const socket = new WebSocket(realtime.websocketUrl)
      try {
        await once(socket, "open")
        const answer = (message: object) => socket.send(JSON.stringify(message))
        answer({ type: "session.authenticate", token: realtime.token, mode })
        for await (const [data] of on(socket, "message", { close: ["close"] }))
          yield { message: JSON.parse(String(data)), answer }
      } finally {
        socket.close()
      }
    }
  }
  return service
}
