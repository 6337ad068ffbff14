import { encodePaymentSignatureHeader } from "@x402/core/http"
import { randomUUID } from "node:crypto"
import {
  type ChainDescription,
  type SandboxAccount,
  sandboxAccount,
  sandboxClient,
  type SandboxSignature
} from "@agentos/sandbox"
import type { ClientEvmSigner } from "@x402/evm"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { Agent, type MailboxFields, type Reply, type Request } from "../../support/Agent.ts"
import { authorizationIn, permitIn } from "../../support/Authorization.ts"
import type { Cluster, ClusterServer } from "../../support/Cluster.ts"
import { type CallFields, dataOf, NUMBERS, type NumberFields, PHONE } from "../../support/PhoneCustomer.ts"
import type { Treasury } from "../../support/Treasury.ts"
import type { Answer, Payment, PaymentStatus, Use } from "../observation/Purchases.ts"

export interface WalletOptions {
  /** Of the smart account that pays instead of the key. */
  readonly kind?: SandboxSignature | undefined
  /** Read by the wallet if payments can bring their allowance. */
  readonly chain?: ChainDescription
}

/** A wallet that talks to every server of a cluster. */
export class Wallet {
  readonly #agents: ReadonlyArray<Agent>
  /** The same without an access token. */
  readonly #anonymous: ReadonlyArray<Agent>
  /** A mailbox that it keeps. */
  mailbox: MailboxFields | undefined
  /** A number that it keeps. */
  phoneNumberId: string | undefined

  /** The smart account that pays instead of the key. */
  readonly smartAccount: SandboxAccount | undefined

  constructor(
    servers: ReadonlyArray<Pick<ClusterServer, "baseUrl">>,
    privateKey: `0x${string}` = generatePrivateKey(),
    { chain, kind }: WalletOptions = {}
  ) {
    const account = kind && sandboxAccount(privateKeyToAccount(privateKey), { kind })
    this.smartAccount = account
    const reading = chain?.gasSponsoring && sandboxClient(chain.rpcUrl, chain.chainId)
    const payerOf = (owner: PrivateKeyAccount): ClientEvmSigner =>
      account ?? { ...owner, ...(reading && { readContract: reading.readContract }) }
    this.#agents = servers.map((server) => new Agent(server, privateKey, payerOf))
    this.#anonymous = servers.map((server) => new Agent(server, privateKey, payerOf))
  }

  get account(): PrivateKeyAccount {
    return this.on().account
  }

  get address(): `0x${string}` {
    return this.on().payer.address
  }

  get token(): string | undefined {
    return this.on().token
  }

  set token(token: string | undefined) {
    for (const agent of this.#agents) agent.token = token
  }

  on(server = 0): Agent {
    return this.#agents[server]!
  }

  /** Signs a payment for a request, and presents it to no server. Fails if the server does not ask for a payment. */
  async sign(request: Request, server = 0): Promise<Payment> {
    const agent = this.on(server)
    const { token } = this
    const payload = await agent.sign(await agent.challenge(request))
    return {
      authorization: { ...authorizationIn(payload.payload), permit: permitIn(payload.extensions) },
      header: encodePaymentSignatureHeader(payload),
      token,
      uses: [],
      advice: []
    }
  }

  /** Reads the status of a payment with nothing but its header, and records the advice. */
  async status({ advice, header }: Payment, server = 0): Promise<PaymentStatus> {
    const headers = { "payment-signature": header }
    const reply = await this.#anonymous[server]!.send({ method: "POST", path: "/api/v1/payments/status", headers })
    const { payment } = dataOf<{ readonly payment: PaymentStatus }>(reply)
    advice.push(payment.advice)
    return payment
  }

  /** Sends a use of a payment with the same bytes as before, and records the answer. */
  async send({ header, token }: Payment, { answers, key, request }: Use, server = 0): Promise<Answer> {
    const agent = (token === undefined ? this.#anonymous : this.#agents)[server]!
    const answer = toAnswer(await agent.replay(request, header, key))
    answers.push(answer)
    return answer
  }

  async mailboxes(server = 0): Promise<ReadonlyArray<MailboxFields>> {
    const reply = await this.on(server).send({ path: "/api/v1/email/mailboxes/query" })
    return dataOf<{ readonly items: ReadonlyArray<MailboxFields> }>(reply).items
  }

  async numbers(server = 0): Promise<ReadonlyArray<NumberFields>> {
    return dataOf<{ readonly items: ReadonlyArray<NumberFields> }>(await this.on(server).send({ path: NUMBERS })).items
  }

  async number(phoneNumberId: string, server = 0): Promise<NumberFields> {
    const found = (await this.numbers(server)).find((number) => number.phoneNumberId === phoneNumberId)
    if (found === undefined) throw new Error(`${this.address} does not list ${phoneNumberId}`)
    return found
  }

  async callsOf(phoneNumberId: string, server = 0): Promise<ReadonlyArray<CallFields>> {
    const reply = await this.on(server).send({ path: `${PHONE}/calls?phoneNumberId=${phoneNumberId}` })
    return dataOf<{ readonly items: ReadonlyArray<CallFields> }>(reply).items
  }

  async call(callId: string, server = 0): Promise<CallFields> {
    const reply = await this.on(server).send({ path: `${PHONE}/calls/${callId}` })
    return dataOf<{ readonly call: CallFields }>(reply).call
  }
}

const FUNDED_AT_ONCE = 25

/** Wallets with money, a few at a time. */
export const newWallets = async (
  cluster: Cluster,
  treasury: Treasury,
  count: number,
  funds: number
): Promise<ReadonlyArray<Wallet>> => {
  const wallets = Array.from({ length: count }, () => new Wallet(cluster.servers, undefined, { chain: cluster.chain }))
  for (let at = 0; at < count; at += FUNDED_AT_ONCE) {
    const some = wallets.slice(at, at + FUNDED_AT_ONCE)
    await treasury.fund(
      some.map(({ address }) => address),
      funds
    )
  }
  return wallets
}

/** Adds a use to a payment. */
export const useOf = (payment: Payment, request: Request, key: string = randomUUID()): Use => {
  const use: Use = { request, key, answers: [] }
  payment.uses.push(use)
  return use
}

const toAnswer = ({ body, headers, status, text }: Reply): Answer => ({
  at: performance.now(),
  status,
  code: body.error?.code,
  retryable: body.error?.retryable ?? false,
  paymentState: body.error?.paymentState,
  receipt: headers.get("payment-response"),
  text
})
