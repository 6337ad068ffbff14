import { usdt } from "@agentos/sandbox"
import { setTimeout as sleep } from "node:timers/promises"
import { createMailbox } from "../faults/client/Requests.ts"
import { newWallets, useOf, Wallet } from "../faults/client/Wallet.ts"
import { type Answer, codeOf, dataOf } from "../faults/observation/Purchases.ts"
import { HttpConnection, requestBytes } from "../fuzz/HttpConnection.ts"
import { sendRpc } from "../x402/PaymentRig.ts"
import { freshName, type MailboxFields, type Request } from "./Agent.ts"
import type { TransferMethod } from "./Authorization.ts"
import { Chain } from "./Chain.ts"
import { type Cluster, startCluster } from "./Cluster.ts"
import { type Misconduct, startRogueFacilitator } from "./RogueFacilitator.ts"
import { Treasury } from "./Treasury.ts"

export const MAILBOX_PRICE = usdt(0.25)
export const CHANGE_PRICE = usdt(0.01)
/** Blocks that a change of a mailbox waits for: more than are mined during a test. A mailbox waits for none. */
const CONFIRMATIONS = 30

const POLL_MILLIS = 100
/** A chain that lost 20 blocks takes 20 s to grow back, and some payments are not known before that. */
const PATIENCE_MILLIS = 60_000

/** Repeats `read` until `isDone` accepts the value, or patience ends. Returns the last value. */
export const until = async <A>(read: () => Promise<A>, isDone: (value: A) => boolean): Promise<A> => {
  const deadline = Date.now() + PATIENCE_MILLIS
  for (;;) {
    const value = await read()
    if (isDone(value) || Date.now() > deadline) return value
    await sleep(POLL_MILLIS)
  }
}

/** Repeats a request while the answer is to wait. */
export const untilKnown = (present: () => Promise<Answer>): Promise<Answer> =>
  until(present, (answer) => codeOf(answer) !== "PAYMENT_PENDING")

/** Returns the access token in the response to a purchase: only the first one of a wallet has it. */
export const tokenIn = ({ text }: Pick<Answer, "text">): string | undefined =>
  (JSON.parse(text) as { readonly data: { readonly authentication: { readonly accessToken?: string } } }).data
    .authentication.accessToken

/** Two servers over one database, whose facilitator is an attacker's. */
export class AttackRig {
  readonly cluster: Cluster
  readonly treasury: Treasury
  readonly chain: Chain
  readonly stop: () => Promise<void>
  private readonly rogue: Awaited<ReturnType<typeof startRogueFacilitator>>

  private constructor(cluster: Cluster, rogue: Awaited<ReturnType<typeof startRogueFacilitator>>) {
    this.cluster = cluster
    this.rogue = rogue
    this.treasury = new Treasury(cluster.chain)
    this.chain = new Chain(cluster)
    this.stop = async () => {
      await cluster.stop()
      rogue.stop()
    }
  }

  static async start(transferMethod: TransferMethod): Promise<AttackRig> {
    const rogue = await startRogueFacilitator()
    const confirmations = [
      { from: "0", blocks: CONFIRMATIONS },
      { from: "0.02", blocks: 0 }
    ]
    const cluster = await startCluster({
      servers: 2,
      paymentMethod: transferMethod,
      network: (planned) => {
        rogue.imitate(planned.facilitator.url)
        return { ...planned, facilitator: { url: rogue.url }, confirmations }
      }
    })
    return new AttackRig(cluster, rogue)
  }

  /** Returns a new wallet with an amount of whole USDT. */
  async wallet(funds = 1): Promise<Wallet> {
    return (await newWallets(this.cluster, this.treasury, 1, funds))[0]!
  }

  /** Returns the sum that a wallet has paid, less refunds. */
  async spentBy({ address }: Wallet, funds = 1): Promise<bigint> {
    return usdt(funds) - (await this.chain.balanceOf(address))
  }

  /** Signs a payment for a request. `present` sends both, with the same bytes each time. */
  async order(wallet: Wallet, request: Request = createMailbox(freshName())) {
    const payment = await wallet.sign(request)
    const use = useOf(payment, request)
    const { authorization, header } = payment
    return {
      authorization,
      header,
      key: use.key,
      request,
      present: (server = 0) => wallet.send(payment, use, server),
      misbehaveOnce: (misconduct: Misconduct) => this.rogue.misbehaveOnce(authorization.nonce, misconduct),
      requestsToSettle: () => this.rogue.requestsFor(authorization.nonce)
    }
  }

  /** Buys a mailbox and stores the access token. */
  async tenant(): Promise<{ readonly wallet: Wallet; readonly mailboxId: string }> {
    const wallet = await this.wallet()
    const answer = await (await this.order(wallet)).present()
    const { mailbox } = dataOf<{ readonly mailbox: MailboxFields }>(answer)
    wallet.token = tokenIn(answer)
    return { wallet, mailboxId: mailbox.mailboxId }
  }

  /** Returns whether a resource is still for sale. */
  async isForSale(request: Request): Promise<boolean> {
    const { status } = await new Wallet(this.cluster.servers).on().send(request)
    return status === 402
  }

  /**
   * Mines the blocks that confirm every payment so far. Call it while no payment is being checked: the chain keeps the
   * state of 32 blocks, so a check that has just read the newest block's number could not read its state.
   */
  confirm(): Promise<void> {
    return sendRpc(this.cluster.chain.rpcUrl, "anvil_mine", `0x${(CONFIRMATIONS + 1).toString(16)}`)
  }

  /** Sends a request with exactly these headers, and those of its body. */
  async sendRaw(request: Request, headers: ReadonlyArray<readonly [string, string]>, server = 0) {
    const { hostname: host, port } = new URL(this.cluster.servers[server]!.baseUrl)
    const connection = new HttpConnection({ host, port: Number(port), localAddress: "127.0.0.1" })
    const own = headers.find(([name]) => name === "Host")?.[1] ?? `${host}:${port}`
    const others = headers.filter(([name]) => name !== "Host")
    const sent = requestBytes(
      {
        method: "POST",
        target: request.path,
        headers: [["Content-Type", "application/json"], ...others],
        body: JSON.stringify(request.body)
      },
      own
    )
    return connection.request(sent).finally(() => connection.close())
  }

  /** Transfers everything that a wallet has to the refund wallet. */
  async empty({ address }: Wallet): Promise<void> {
    await this.treasury.transfer(address, this.cluster.refundWallet, await this.chain.balanceOf(address))
  }
}
