import { EventStore, type Tenant, Uuid } from "@agentos/core"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Agent as HttpAgent, request } from "node:http"
import type { RealtimeRig } from "../support/RealtimeRig.ts"
import { newWallets, type Wallet } from "../faults/client/Wallet.ts"
import { Treasury } from "../support/Treasury.ts"
import type { Load } from "./CapacityMeter.ts"

const connections = new HttpAgent({ keepAlive: true })

interface HttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends a request over a keep-alive connection. Fails if the status is not the expected one. */
const send = ({ body, headers, method, url }: HttpRequest, expected: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: connections }, (response) => {
      response.resume()
      response.once("end", () =>
        response.statusCode === expected ? resolve() : reject(new Error(`${method} ${url}: ${response.statusCode}`))
      )
    })
    sent.once("error", reject)
    sent.end(body)
  })

/** Wallets with money, each with a mailbox. */
const makeCustomers = async ({ cluster }: RealtimeRig, count: number): Promise<ReadonlyArray<Wallet>> => {
  const wallets = await newWallets(cluster, new Treasury(cluster.chain), count, 1_000)
  for (const wallet of wallets) wallet.mailbox = await wallet.on(0).createMailbox(`m${randomUUID()}`)
  return wallets
}

const READERS = 32
const CUSTOMERS = 16

/** Loads of reads, challenges and payments. */
export const httpLoads = async (rig: RealtimeRig): Promise<ReadonlyArray<Load>> => {
  const customers = await makeCustomers(rig, CUSTOMERS)
  const { baseUrl } = rig.cluster.servers[0]!
  const url = `${baseUrl}/api/v1/email/mailboxes`
  const json = { "content-type": "application/json" }
  return [
    {
      name: "free reads: the mailboxes of a wallet",
      workers: READERS,
      work: async (worker) => {
        const headers = { authorization: `Bearer ${customers[worker % CUSTOMERS]!.token}` }
        await send({ method: "GET", url: `${url}/query`, headers }, 200)
        return 1
      }
    },
    {
      name: "402 challenges: for a mailbox",
      workers: READERS,
      work: async () => {
        await send({ method: "POST", url, headers: json, body: `{"localPart":"m${randomUUID()}"}` }, 402)
        return 1
      }
    },
    {
      name: "paid updates of a mailbox, challenge included",
      pays: true,
      workers: CUSTOMERS,
      work: async (worker) => {
        const customer = customers[worker]!
        const body = { mailboxId: customer.mailbox!.mailboxId, displayName: randomUUID() }
        const reply = await customer.on(0).pay({ path: "/api/v1/email/mailboxes/update", body })
        if (reply.status !== 200) throw new Error(`the update was answered ${reply.status}: ${reply.text}`)
        return 1
      }
    }
  ]
}

/** Reads of a document that does not change. */
export const constantLoad = (baseUrl: string): Load => ({
  name: "constants: the catalog",
  workers: READERS,
  work: async () => {
    await send({ method: "GET", url: `${baseUrl}/api/v1/services`, headers: {} }, 200)
    return 1
  }
})

const draftOf = ({ tenantId }: Tenant) =>
  Effect.map(Uuid.next, (dedupeKey) => ({
    tenantId,
    type: "email.received" as const,
    source: "smtp",
    service: "email",
    resourceId: dedupeKey,
    agentId: "an agent",
    payload: { subject: "a message", snippet: "x".repeat(200) },
    dedupeKey
  }))

/** Stores events of a tenant in one call. */
export const append = (tenant: Tenant, count: number) =>
  Effect.gen(function* () {
    const store = yield* EventStore
    return (yield* store.append(yield* Effect.replicateEffect(draftOf(tenant), count))).length
  })

/** Loads of appended events from one process, one or a hundred per call. */
export const appendLoads = ({ run }: RealtimeRig, tenants: ReadonlyArray<Tenant>): ReadonlyArray<Load> => {
  let next = 0
  const load = (name: string, workers: number, count: number): Load => ({
    name,
    workers,
    work: () => run(append(tenants[next++ % tenants.length]!, count))
  })
  return [
    load("events appended, one a call, one call at a time", 1, 1),
    load("events appended, one a call, 100 calls at a time", 100, 1),
    load("events appended, 100 a call, 4 calls at a time", 4, 100)
  ]
}
