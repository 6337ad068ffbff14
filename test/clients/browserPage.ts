/** The scripts of a page that pays from a browser, as an agent in a page would. The test bundles and calls them. */
import { AgentOs, AgentOsError } from "@agentos/client"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { privateKeyToAccount } from "viem/accounts"

export interface Purchase {
  readonly baseUrl: string
  readonly privateKey: `0x${string}`
  readonly network: `${string}:${string}`
  readonly asset: string
  readonly localPart: string
}

/** The parts of the answers that only a page with CORS can read. */
export interface Bought {
  readonly status: number
  readonly receipt: string | null
  readonly requestId: string | null
  readonly address: string
  /** The addresses that the page lists with the token that it bought. */
  readonly listed: ReadonlyArray<string>
}

interface Mailbox {
  readonly address: string
}

/** The stock client for fetch, which signs any challenge for a mailbox's price. */
const stockFetch = ({ asset, network, privateKey }: Pick<Purchase, "asset" | "network" | "privateKey">) =>
  wrapFetchWithPayment(
    fetch,
    new x402Client()
      .register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)))
      .setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: "250000" }] })
  )

const buyMailbox = async ({ baseUrl, localPart, ...payment }: Purchase): Promise<Bought> => {
  const paying = stockFetch(payment)
  const answer = await paying(`${baseUrl}/api/v1/email/mailboxes`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
    body: JSON.stringify({ localPart })
  })
  const { data } = (await answer.json()) as {
    readonly data: { readonly mailbox: Mailbox; readonly authentication: { readonly accessToken: string } }
  }
  const list = await fetch(`${baseUrl}/api/v1/email/mailboxes/query`, {
    headers: { Authorization: `Bearer ${data.authentication.accessToken}` }
  })
  const { data: mailboxes } = (await list.json()) as { readonly data: { readonly items: ReadonlyArray<Mailbox> } }
  return {
    status: answer.status,
    receipt: answer.headers.get("PAYMENT-RESPONSE"),
    requestId: answer.headers.get("X-Request-Id"),
    address: data.mailbox.address,
    listed: mailboxes.items.map(({ address }) => address)
  }
}

/** The results of a page with the client of AgentOS. */
export interface Corresponded {
  readonly address: string
  /** The subject of the mail that arrived, and of the reply. */
  readonly subjects: ReadonlyArray<string>
  readonly spent: string
  /** The code and request id of a refused call. */
  readonly refusal: readonly [string, string | null]
}

/** Buys a mailbox, answers the first mail to it, and makes a call that the service refuses. */
const correspond = async (
  { baseUrl, localPart, privateKey }: Omit<Purchase, "network" | "asset">,
  onMailbox: (address: string) => Promise<void>
): Promise<Corresponded> => {
  const wallet = privateKeyToAccount(privateKey)
  const agent = await AgentOs.connect(baseUrl, { wallet, spend: { perCall: "1.00", perDay: "5.00" } })
  const mailbox = await agent.mailboxes.create({ localPart })
  await onMailbox(mailbox.address)
  const subjects: Array<string> = []
  for await (const mail of mailbox.messages({ new: true })) {
    const reply = await mail.reply({ text: "Hello!" })
    subjects.push(mail.subject, reply?.subject ?? "")
    await mail.acknowledge()
    break
  }
  const refusal = await agent.call("getCall", { callId: "not an id" }).then(
    () => ["none", null] as const,
    (error: unknown) =>
      error instanceof AgentOsError ? ([error.code, error.requestId] as const) : Promise.reject(error)
  )
  const { lastDay: spent } = agent.payments.spent()
  agent.close()
  return { address: mailbox.address, subjects, spent, refusal }
}

/** Buys something of another site with the stock client. Returns the text of the answer. */
const buyFrom = async ({ baseUrl, ...payment }: Omit<Purchase, "localPart">): Promise<string> =>
  (await stockFetch(payment)(`${baseUrl}/weather`, { method: "POST" })).text()

/** Buys a mailbox of another site with the client of AgentOS. Returns the code of the error. */
const createAt = async ({ baseUrl, localPart, privateKey }: Omit<Purchase, "network" | "asset">): Promise<string> => {
  const agent = await AgentOs.connect(baseUrl, { wallet: privateKeyToAccount(privateKey), spend: { perCall: "0.25" } })
  return agent.mailboxes.create({ localPart }).then(
    () => "created",
    (error: unknown) => (error instanceof AgentOsError ? error.code : String(error))
  )
}

Object.assign(globalThis, { buyFrom, buyMailbox, correspond, createAt })
