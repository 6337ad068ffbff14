import { AgentOs, AgentOsError, type AgentOsOptions } from "@agentos/client"
import { privateKeyToAccount } from "viem/accounts"

/** The steps of the program of each runtime, as JSON. */
export interface Order {
  readonly baseUrl: string
  readonly privateKey: `0x${string}`
  readonly localPart: string
  /** A POST of an address to it makes a person outside write to that address. */
  readonly mailUrl: string
  /** A URL whose answers redirect. */
  readonly movedUrl: string
}

export interface Outcome {
  readonly address: string
  /** The own addresses of that local part in the free list. */
  readonly listed: ReadonlyArray<string>
  /** The subject of the mail that arrived, and of the reply. */
  readonly subjects: ReadonlyArray<string>
  readonly code: string
  readonly spent: string
  /** The code and the status of a refused call. */
  readonly refusal: ReadonlyArray<string | number | null>
  /** The error of a call at a URL that redirects. */
  readonly moved: string
}

/** Buys a mailbox, reads the list, receives mail over the stream, replies to it, and makes a call that is refused. */
export const journey = async (order: Order, wallet?: AgentOsOptions["wallet"]): Promise<Outcome> => {
  const { baseUrl, localPart, mailUrl, movedUrl, privateKey } = order
  const agent = await AgentOs.connect(baseUrl, {
    wallet: wallet ?? privateKeyToAccount(privateKey),
    spend: { perCall: "1.00", perDay: "5.00" }
  })
  const mailbox = await agent.mailboxes.open({ localPart })
  const own = await agent.mailboxes.list()
  await fetch(mailUrl, { method: "POST", body: mailbox.address })
  const subjects: Array<string> = []
  for await (const mail of mailbox.messages({ new: true })) {
    const reply = await mail.reply({ text: "Hello!" })
    subjects.push(mail.subject, reply?.subject ?? "")
    await mail.acknowledge()
    break
  }
  const { code } = await mailbox.waitForCode({ timeoutSeconds: 10 })
  const refusal = await agent.call("getCall", { callId: "not an id" }).then(
    () => [],
    (error: unknown) => (error instanceof AgentOsError ? [error.code, error.status] : [String(error)])
  )
  const elsewhere = await AgentOs.connect(movedUrl)
  const moved = await elsewhere.call("listServices").then(
    () => "done",
    (error: unknown) => (error instanceof AgentOsError ? `${error.code}: ${error.message}` : String(error))
  )
  const { lastDay: spent } = agent.payments.spent()
  agent.close()
  const listed = own.map(({ address }) => address).filter((address) => address.startsWith(`${localPart}@`))
  return { address: mailbox.address, listed, subjects, code, spent, refusal, moved }
}
