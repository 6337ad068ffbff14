import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createTransport } from "nodemailer"
import { createMailbox } from "../faults/client/Requests.ts"
import { newWallets, useOf, type Wallet } from "../faults/client/Wallet.ts"
import { codeOf } from "../faults/observation/Purchases.ts"
import { Agent, freshName, type MailboxFields } from "../support/Agent.ts"
import { untilKnown } from "../support/AttackRig.ts"
import type { Cluster } from "../support/Cluster.ts"
import { dataOf } from "../support/PhoneCustomer.ts"
import { Realtime, type RealtimeMessage } from "../support/Realtime.ts"
import { socketUrl } from "../support/RealtimeRig.ts"
import { Treasury } from "../support/Treasury.ts"
import type { Customer } from "./Release.ts"

const BUYERS = 2
const FUNDS = 1_000
/** The amount that each purchase costs. */
export const PRICE = 250_000n

/** The answer of a server that stops to a mail that it has not received. */
const SHUTTING_DOWN = 421

interface SmtpError extends Error {
  readonly responseCode?: number
  /** The command that failed; `CONN` before the greeting. */
  readonly command?: string
}

/** The events of a tenant that reached it, by the subject of the mail that each is about. */
interface Follower {
  readonly mailbox: MailboxFields
  readonly heard: (subject: string) => Promise<void>
}

/** Waits for subjects, which may arrive before. */
const makeSubjects = () => {
  const known = new Map<string, PromiseWithResolvers<void>>()
  const of = (subject: string) => {
    const found = known.get(subject) ?? Promise.withResolvers<void>()
    known.set(subject, found)
    return found
  }
  return { add: (subject = "") => of(subject).resolve(), heard: (subject: string) => of(subject).promise }
}

/**
 * Purchases, mail, events over a socket and events to a webhook, all at once and each as fast as the last one was answered.
 * Clients use the servers that a load balancer would offer them: one that leaves finishes its work.
 */
export class Load {
  readonly failures: Array<string> = []
  readonly counts = { purchases: 0, mails: 0, deferred: 0, refused: 0 }
  readonly buyers: ReadonlyArray<Wallet>
  readonly #cluster: Cluster
  readonly #offered: Set<number>
  readonly #followers: Array<Follower> = []
  readonly #ending: Array<() => void> = []
  #working: Promise<unknown> = Promise.resolve()
  #progress = Promise.withResolvers<void>()
  #isOver = false
  #turn = 0

  private constructor(cluster: Cluster, buyers: ReadonlyArray<Wallet>) {
    this.#cluster = cluster
    this.buyers = buyers
    this.#offered = new Set(cluster.servers.keys())
  }

  static async start(cluster: Cluster, [one, other]: ReadonlyArray<Customer>): Promise<Load> {
    const load = new Load(cluster, await newWallets(cluster, new Treasury(cluster.chain), BUYERS, FUNDS))
    await load.#followByWebhook(one!)
    await load.#followBySocket(other!)
    load.#working = Promise.all([
      ...load.buyers.map((wallet) => load.#repeat(() => load.#buy(wallet))),
      ...load.#followers.map((follower) => load.#repeat(() => load.#mail(follower)))
    ])
    return load
  }

  /** Waits until this many more purchases and mails are done, in which every server takes part. */
  async progress(count: number): Promise<void> {
    const { mails, purchases } = this.counts
    while (this.counts.purchases < purchases + count || this.counts.mails < mails + count) {
      if (this.failures.length > 0) return
      await this.#progress.promise
    }
  }

  /** Stops a server as an upgrade does, and starts it again with another program. */
  async replace(index: number, program: string): Promise<void> {
    const server = this.#cluster.servers[index]!
    this.#offered.delete(index)
    const { exit } = await server.terminate()
    if (exit.code !== 0) this.failures.push(`server ${index} ended with ${exit.code}\n${server.log()}`)
    server.configure({}, program)
    await server.start()
    this.#offered.add(index)
  }

  /** Ends the load after the work under way. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#working
    for (const end of this.#ending) end()
  }

  /** Uses one of the servers on offer, in turn. Takes the next one if it accepts no connection, as load balancers do. */
  async #use<A>(use: (server: number) => Promise<A>): Promise<A> {
    for (;;) {
      const offered = [...this.#offered]
      try {
        return await use(offered[this.#turn++ % offered.length]!)
      } catch (error) {
        if (!/ECONNREFUSED/.test(`${String(error)} ${String((error as Error).cause)}`)) throw error
        this.counts.refused++
      }
    }
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isOver && this.failures.length === 0) {
      await work().catch((error: unknown) => void this.failures.push(String(error)))
      this.#progress.resolve()
      this.#progress = Promise.withResolvers()
    }
  }

  /** Buys with the challenge of one server at another. */
  async #buy(wallet: Wallet): Promise<void> {
    const request = createMailbox(freshName())
    const payment = await this.#use((server) => wallet.sign(request, server))
    const use = useOf(payment, request)
    const answer = await untilKnown(() => this.#use((server) => wallet.send(payment, use, server)))
    if (answer.status !== 201) this.failures.push(`purchase: ${answer.status} ${codeOf(answer)} ${answer.text}`)
    this.counts.purchases++
  }

  /** Sends a mail, and waits until its event has arrived. */
  async #mail({ heard, mailbox }: Follower): Promise<void> {
    const subject = freshName()
    const content = { from: "friend@outside.example", to: mailbox.address, subject, text: "Hello." }
    const send = (server: number) =>
      createTransport({ ...this.#cluster.servers[server]!.mail, tls: { rejectUnauthorized: false } })
        .sendMail(content)
        .then(() => true)
        .catch((error: SmtpError) => {
          // Every mail server repeats a mail that was answered so, or not even greeted (RFC 5321, section 4.5.4.1): the connection
          // may wait to be accepted when the server closes its port.
          if (error.responseCode !== SHUTTING_DOWN && error.command !== "CONN") throw error
          this.counts.deferred++
          return false
        })
    while (!(await this.#use(send)));
    await heard(subject)
    this.counts.mails++
  }

  async #agentOf({ accessToken, privateKey }: Customer) {
    const agents = this.#cluster.servers.map((server) => new Agent(server, privateKey))
    for (const agent of agents) agent.token = accessToken
    const ask = async <A>(server: number, path: string, body?: object) =>
      dataOf<A>(await agents[server]!.send({ path, ...(body && { body }) }))
    const { items } = await this.#use((server) =>
      ask<{ readonly items: ReadonlyArray<MailboxFields> }>(server, "/api/v1/email/mailboxes/query")
    )
    return { ask, mailbox: items.find(({ active }) => active)! }
  }

  async #followByWebhook(customer: Customer): Promise<void> {
    const { add, heard } = makeSubjects()
    const receiver = createServer((request, response) => {
      let text = ""
      request.setEncoding("utf8").on("data", (piece: string) => (text += piece))
      request.on("end", () => {
        add((JSON.parse(text) as { readonly payload: { readonly subject?: string } }).payload.subject)
        response.end()
      })
    })
    await once(receiver.listen(0, "127.0.0.1"), "listening")
    this.#ending.push(() => {
      receiver.close()
      receiver.closeAllConnections()
    })
    const { ask, mailbox } = await this.#agentOf(customer)
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    await this.#use((server) => ask(server, "/api/v1/events/webhook", { url }))
    this.#followers.push({ mailbox, heard })
  }

  async #followBySocket(customer: Customer): Promise<void> {
    const { add, heard } = makeSubjects()
    const { ask, mailbox } = await this.#agentOf(customer)
    this.#followers.push({ mailbox, heard })
    /** Acknowledges the events of a socket until its server closes it. */
    const follow = async (server: number) => {
      const { realtime: order } = await ask<{ readonly realtime: { readonly token: string } }>(
        server,
        "/api/v1/events/realtime-token"
      )
      const realtime = await Realtime.connect({ url: socketUrl(this.#cluster.servers[server]!), token: order.token })
      realtime.socket.on("message", (data: Buffer) => {
        const { deliveryId, event } = JSON.parse(data.toString()) as RealtimeMessage
        if (event === undefined) return
        realtime.send({ type: "event.ack", eventId: event.eventId, deliveryId })
        add(event.payload["subject"])
      })
      this.#ending.push(() => realtime.close())
      await once(realtime.socket, "close")
    }
    const following = async () => {
      while (!this.#isOver) await this.#use(follow)
    }
    void following().catch((error: unknown) => void this.failures.push(`socket: ${String(error)}`))
  }
}
