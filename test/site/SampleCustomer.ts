import { x402Client } from "@x402/axios"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x"
import { generatePrivateKey } from "viem/accounts"
import { wrapFetchWithPayment, x402Client as FetchClient } from "@x402/fetch"
import { type Agent, freshName, type MailboxFields } from "../support/Agent.ts"
import type { PhoneCustomer } from "../support/PhoneCustomer.ts"
import type { PhoneUnderTest } from "../support/usePhone.ts"

/** The ids and addresses in the examples of the contract. */
const EXAMPLE = {
  mailbox: "019ab1c0-5f3e-7cc1-8a52-3f6f0c8f2a11",
  message: "019ab1c4-0d7b-7b21-9c3c-64a9d1c1b0e9",
  attachment: "019ab1c4-0d7b-8b21-8c3c-64a9d1c1b0e9",
  scheduled: "019ab1c4-0d7b-7e0f-9c3c-64a9d1c1b0e7",
  event: "019ab1c4-0d7b-7a10-8b44-2f6d3c9e0a01",
  number: "019ab1c8-8d52-7a44-9f0b-7f2f7a6a3d20",
  call: "019ab1cb-1c5d-7f39-8f6f-02a8a0c1d9b4",
  operation: "019ab1c0-5f3e-7b01-9d52-0c6f1f4e7a90",
  callee: "+14155550150",
  webhook: "https://agent.example/events"
}
type Resource = keyof typeof EXAMPLE

interface MessageFields {
  readonly messageId: string
  readonly direction: string
  readonly threadId: string
  readonly attachments: ReadonlyArray<{ readonly attachmentId: string; readonly filename: string | null }>
}

const listMessages = async (agent: Agent, mailboxId: string): Promise<ReadonlyArray<MessageFields>> => {
  const { body } = await agent.send({ path: `/api/v1/email/messages/query?mailboxId=${mailboxId}` })
  return (body.data as unknown as { readonly items: ReadonlyArray<MessageFields> }).items
}

/** Has a mail with an attachment sent to an address, from outside. */
const receiveMail = async ({ sandbox }: PhoneUnderTest, address: string, text: string): Promise<void> => {
  const sent = await fetch(`${sandbox.mail.relayFaultsUrl}/sandbox/mail`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      from: "bob@outside.example",
      to: [address],
      subject: "Hello",
      text,
      attachments: [{ filename: "note.txt", contentType: "text/plain", contentBase64: "bm90ZQ==" }]
    })
  })
  if (!sent.ok) throw new Error(await sent.text())
}

/** A customer that has one resource of each kind, with which samples are executed in place of those in the examples. */
export class SampleCustomer {
  readonly #host: PhoneUnderTest
  readonly customer: PhoneCustomer
  readonly privateKey: string
  readonly #resources: Record<Resource, string>
  /** The last signed payment. */
  payment = ""

  private constructor(
    host: PhoneUnderTest,
    privateKey: string,
    customer: PhoneCustomer,
    resources: Record<Resource, string>
  ) {
    this.#host = host
    this.privateKey = privateKey
    this.customer = customer
    this.#resources = resources
  }

  static async create(host: PhoneUnderTest): Promise<SampleCustomer> {
    const privateKey = generatePrivateKey()
    const customer = await host.customer(privateKey)
    const { agent } = customer
    const mailbox = await agent.createMailbox(freshName())
    // The samples sign in, and the first sign-in of a wallet replaces the token of its first payment.
    agent.token = await agent.signIn()
    const { operationId, phoneNumberId } = await customer.buy()
    await receiveMail(host, mailbox.address, "Hello Ada")
    const received = await host.carrier.until(
      () => listMessages(agent, mailbox.mailboxId),
      (items) => items.length > 0
    )
    const [message] = received
    const [event] = await customer.events("email.received")
    const resources = {
      mailbox: mailbox.mailboxId,
      message: message?.messageId ?? "",
      attachment: message?.attachments[0]?.attachmentId ?? "",
      scheduled: "",
      event: event?.eventId ?? "",
      number: phoneNumberId,
      call: "",
      operation: operationId,
      callee: await host.carrier.person({ seconds: 10_000 }),
      webhook: host.sandbox.agentWebhookUrl
    }
    return new SampleCustomer(host, privateKey, customer, resources)
  }

  /** Prepares what an operation needs beyond the resources: a call in progress, or a scheduled message. */
  async prepare(operationId: string): Promise<void> {
    if (operationId === "cancelMessage") this.#resources.scheduled = await this.#schedule()
    if (operationId !== "extendCall") return
    const { callId } = await this.customer.callOut(this.#resources.number, this.#resources.callee)
    await this.#host.carrier.until(
      () => this.customer.call(callId),
      ({ status }) => status === "in_progress"
    )
    this.#resources.call = callId
  }

  async #schedule(): Promise<string> {
    const sendAt = new Date(Date.now() + 86_400_000).toISOString()
    const body = {
      mailboxId: this.#resources.mailbox,
      to: ["zoe@elsewhere.test"],
      subject: "Later",
      text: "Later.",
      sendAt
    }
    const { data } = (await this.customer.agent.pay({ path: "/api/v1/email/messages/send", body })).body
    return (data as unknown as { readonly message: { readonly messageId: string } }).message.messageId
  }

  /** Returns a sample with the ids of this customer. */
  filled(sample: string): string {
    return Object.entries(EXAMPLE).reduce(
      (text, [resource, id]) => text.replaceAll(id, this.#resources[resource as Resource]),
      sample
    )
  }

  /** The variables that samples read. */
  get environment(): Readonly<Record<string, string>> {
    return { AGENTOS_TOKEN: this.customer.agent.token ?? "", PAYMENT_SIGNATURE: this.payment }
  }

  /** Signs a payment for another mailbox, and does not use it. */
  async signForMailbox(): Promise<void> {
    this.payment = await this.customer.agent.payment({
      path: "/api/v1/email/mailboxes",
      body: { localPart: freshName() }
    })
  }

  receiveMail(address: string, text = "Hello Ada"): Promise<void> {
    return receiveMail(this.#host, address, text)
  }

  /** Returns the messages of a mailbox, newest first. */
  async messagesOf(address: string): Promise<ReadonlyArray<MessageFields>> {
    const { body } = await this.customer.agent.send({ path: "/api/v1/email/mailboxes/query" })
    const { items } = body.data as unknown as { readonly items: ReadonlyArray<MailboxFields> }
    const mailbox = items.find((item) => item.address === address)
    return mailbox === undefined ? [] : listMessages(this.customer.agent, mailbox.mailboxId)
  }

  /** Signs the challenge in the header PAYMENT-REQUIRED with a stock client. */
  async sign(header: string): Promise<string> {
    const wallet = new x402Client().register("eip155:*", new ExactEvmScheme(this.customer.agent.account))
    const payload = await wallet.createPaymentPayload(decodePaymentRequiredHeader(header))
    return (this.payment = encodePaymentSignatureHeader(payload))
  }

  /** Returns the header SIGN-IN-WITH-X that a stock client sends to a URL. */
  async signIn(url: string): Promise<string> {
    let header = ""
    const record: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      header = request.headers.get("sign-in-with-x") ?? ""
      return header === "" ? fetch(request) : Response.json({})
    }
    const client = new FetchClient().register("eip155:*", new ExactEvmScheme(this.customer.agent.account))
    client.registerExtension(createSIWxClientExtension({ signers: [this.customer.agent.account] }))
    await wrapFetchWithPayment(record, client)(url, { method: "POST" })
    return header
  }
}
