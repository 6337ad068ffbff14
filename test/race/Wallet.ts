import { encodePaymentSignatureHeader } from "@x402/core/http"
import { sandboxChain, sandboxUsdtAbi, usdt } from "@agentos/sandbox"
import { createWalletClient, encodeFunctionData, http, publicActions } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { Agent, type MailboxFields, type Reply, type Request } from "../support/Agent.ts"
import type { Cluster } from "../support/Cluster.ts"
import { type CallFields, dataOf, NUMBERS, type NumberFields, PHONE } from "../support/PhoneCustomer.ts"

/** An authorization that a wallet signed for one request. */
export interface Offer {
  readonly payer: `0x${string}`
  readonly nonce: `0x${string}`
  readonly amount: bigint
  /** Unix seconds: from then on the token refuses it. */
  readonly validBefore: number
  /** The PAYMENT-SIGNATURE header. */
  readonly header: string
}

/** A wallet that speaks to every server of a cluster. */
export class Wallet {
  readonly address: `0x${string}`
  private readonly agents: ReadonlyArray<Agent>
  /** One that it sends from and keeps. */
  mailbox: MailboxFields | undefined
  /** One that it calls from and keeps. */
  phoneNumberId: string | undefined

  constructor(cluster: Cluster, privateKey: `0x${string}`) {
    this.agents = cluster.servers.map((server) => new Agent(server, privateKey))
    this.address = this.agents[0]!.account.address
  }

  get token(): string | undefined {
    return this.agents[0]!.token
  }

  set token(token: string | undefined) {
    for (const agent of this.agents) agent.token = token
  }

  on(server: number): Agent {
    return this.agents[server]!
  }

  /** Signs for a request, which a server must challenge. */
  async offer(request: Request, server: number): Promise<Offer> {
    const agent = this.on(server)
    const payload = await agent.sign(await agent.challenge(request))
    const { authorization } = payload.payload as {
      readonly authorization: { readonly nonce: `0x${string}`; readonly value: string; readonly validBefore: string }
    }
    return {
      payer: this.address,
      nonce: authorization.nonce,
      amount: BigInt(authorization.value),
      validBefore: Number(authorization.validBefore),
      header: encodePaymentSignatureHeader(payload)
    }
  }

  send(request: Request, offer: Offer, key: string, server: number): Promise<Reply> {
    return this.on(server).replay(request, offer.header, key)
  }

  /** Its mailboxes, as a server lists them. */
  async mailboxes(server: number): Promise<ReadonlyArray<MailboxFields>> {
    const reply = await this.on(server).send({ path: "/api/v1/email/mailboxes/query" })
    if (reply.status !== 200) throw new Error(`no list of mailboxes but ${reply.status}: ${reply.text}`)
    return reply.body.data["items"] as unknown as ReadonlyArray<MailboxFields>
  }

  /** Its telephone numbers, as a server lists them. */
  async numbers(server: number): Promise<ReadonlyArray<NumberFields>> {
    const reply = await this.on(server).send({ path: NUMBERS })
    return dataOf<{ readonly items: ReadonlyArray<NumberFields> }>(reply).items
  }

  async number(server: number, phoneNumberId: string): Promise<NumberFields> {
    const found = (await this.numbers(server)).find((number) => number.phoneNumberId === phoneNumberId)
    if (found === undefined) throw new Error(`${this.address} does not list ${phoneNumberId}`)
    return found
  }

  async call(server: number, callId: string): Promise<CallFields> {
    const reply = await this.on(server).send({ path: `${PHONE}/calls/${callId}` })
    return dataOf<{ readonly call: CallFields }>(reply).call
  }
}

/** Any of the transactions below takes less. */
const MINT_GAS = 100_000n
const GAS_PRICE = 10_000_000_000n

/** Gives money on the chain, so many USDT each. Not at one time with another call: the minter's transactions are counted here. */
export const fund = async (cluster: Cluster, addresses: ReadonlyArray<`0x${string}`>, funds: number): Promise<void> => {
  const { asset, deployerKey, rpcUrl } = cluster.chain
  const minter = createWalletClient({
    account: privateKeyToAccount(deployerKey),
    chain: sandboxChain(rpcUrl),
    transport: http(rpcUrl, { retryCount: 0 }),
    pollingInterval: 20
  }).extend(publicActions)
  let nonce = await minter.getTransactionCount({ address: minter.account.address })
  let last: `0x${string}` | undefined
  for (const to of addresses) {
    last = await minter.sendTransaction({
      to: asset,
      data: encodeFunctionData({ abi: sandboxUsdtAbi, functionName: "mint", args: [to, usdt(funds)] }),
      nonce: nonce++,
      gas: MINT_GAS,
      maxFeePerGas: GAS_PRICE,
      maxPriorityFeePerGas: 0n
    })
  }
  if (last !== undefined) await minter.waitForTransactionReceipt({ hash: last })
}

/** Makes wallets with money on the chain. Not at one time with another call, nor with `fund`. */
export const makeWallets = async (cluster: Cluster, count: number, funds = 100): Promise<ReadonlyArray<Wallet>> => {
  const wallets = Array.from({ length: count }, () => new Wallet(cluster, generatePrivateKey()))
  await fund(
    cluster,
    wallets.map(({ address }) => address),
    funds
  )
  return wallets
}
