import { type AgentOs as Service, createAgentOs, memory } from "@agentos/agentos"
import { AgentOs, type AgentOsOptions } from "@agentos/client"
import { ScriptedRail } from "@agentos/core/contract-tests"
import { type OutgoingMail, PaymentRail } from "@agentos/core"
import { SignInWithX } from "@agentos/x402"
import { Layer } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const BASE_URL = "http://localhost:8080"
const NETWORK = "eip155:402402"

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64")
const decode = (header: string) =>
  JSON.parse(Buffer.from(header, "base64").toString("utf8")) as Record<string, unknown> & {
    readonly payload: { readonly authorization: { readonly from: string; readonly nonce: string } }
  }

/** The scripted rail with the headers of x402 version 2, which the client reads and writes. Signatures are not checked. */
const x402Rail = (scripted: ScriptedRail.ScriptedRail): PaymentRail["Service"] => ({
  ...scripted.rail,
  challengeEncoder: (document) => {
    const encoder = scripted.rail.challengeEncoder(document)
    return (bindings) => encode({ ...decode(encoder(bindings)), x402Version: 2 })
  },
  decodeProof: (header) => {
    const { accepted, payload } = decode(header)
    const { from, nonce } = payload.authorization
    return scripted.rail.decodeProof(encode({ payer: from.toLowerCase(), nonce, accepted, forged: false }))
  }
})

/** A mail that a person sends. */
export interface Outside {
  readonly to: string
  readonly from?: string
  readonly name?: string
  readonly subject?: string
  readonly text: string
  /** Whether DMARC passes for the domain of the sender. Default: no. */
  readonly isVerified?: boolean
}

/** The service in this process: storage in memory, a scripted rail, and mail that is only recorded. */
export const startService = async () => {
  const scripted = ScriptedRail.make()
  const sent: Array<Pick<OutgoingMail, "to" | "subject" | "text" | "inReplyTo">> = []
  let numbers = 0
  const placed: Array<{ readonly to: string }> = []
  const payment = Layer.merge(Layer.succeed(PaymentRail, x402Rail(scripted)), SignInWithX.layer([NETWORK]))
  const service: Service = await createAgentOs({
    publicUrl: BASE_URL,
    keys: `1:${"k".repeat(44)}`,
    storage: memory(),
    payment: { layer: payment },
    mail: {
      domain: "agents.test",
      send: (mail) => void sent.push(mail),
      authenticate: (raw) => {
        const { isVerified = false } = JSON.parse(Buffer.from(raw).toString("utf8")) as Outside
        return { spf: "none", dkim: "none", dmarc: isVerified ? "pass" : "none", domain: null }
      },
      parse: (raw, { mailFrom }) => {
        const { name, subject, text } = JSON.parse(Buffer.from(raw).toString("utf8")) as Outside
        return {
          from: { address: mailFrom, name: name ?? null },
          subject: subject ?? "Hello",
          text,
          extractedText: text
        }
      }
    },
    telephony: {
      search: () => [{ number: `+141555501${String(numbers).padStart(2, "0")}`, areaCode: "415" }],
      buy: (number) => ({ number, providerNumberId: `PN${++numbers}` }),
      findNumber: () => null,
      release: () => undefined,
      listNumbers: () => ({ items: [] }),
      place: (call) => `CA${placed.push(call)}`,
      findCalls: () => [],
      findCall: () => null,
      changeLimit: () => undefined,
      hangUp: () => undefined
    },
    log: () => undefined
  })
  const connect = (options: AgentOsOptions = {}): Promise<AgentOs> =>
    AgentOs.connect(BASE_URL, {
      wallet: privateKeyToAccount(generatePrivateKey()),
      spend: { perDay: "100" },
      fetch: (url, init) => service.fetch(new Request(url, init)),
      ...options
    })
  /** Returns a `fetch` that calls `then` after each list of messages that it fetches. */
  const afterMessages =
    (then: () => void): NonNullable<AgentOsOptions["fetch"]> =>
    async (url, init) => {
      const response = await service.fetch(new Request(url, init))
      if (new URL(url).pathname.startsWith("/api/v1/email/messages")) then()
      return response
    }
  const receive = async ({ from = "bob@outside.example", to, ...mail }: Outside): Promise<void> => {
    const refused = await service.messages.receive({
      from,
      author: from,
      to: [to],
      remoteAddress: "192.0.2.1",
      raw: Buffer.from(JSON.stringify(mail))
    })
    if (refused.length > 0) throw new Error(`the mail was refused: ${JSON.stringify(refused)}`)
  }
  return { service, connect, afterMessages, receive, scripted, sent, placed }
}
