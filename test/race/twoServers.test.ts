import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { createHmac, randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { updateMailbox } from "../faults/client/Requests.ts"
import { newWallets, type Wallet } from "../faults/client/Wallet.ts"
import { Testbed } from "../faults/server/Testbed.ts"
import { usageOf } from "../bench/ProcessUsage.ts"
import { freshName } from "../support/Agent.ts"
import { execute } from "../support/ClusterDatabase.ts"
import { dataOf, PhoneCustomer } from "../support/PhoneCustomer.ts"
import { PhoneCarrier } from "../support/PhoneCarrier.ts"
import { Realtime, type RealtimeMessage } from "../support/Realtime.ts"
import { socketUrl } from "../support/RealtimeRig.ts"

const [A, B] = [0, 1]
const FUNDS = 100

let testbed: Testbed
beforeAll(async () => {
  testbed = await Testbed.start({ database: "postgres", servers: 2 })
})
afterAll(() => testbed?.stop())
afterEach(() => testbed.cluster.phones.routeTo(undefined))

const server = (index: number) => testbed.cluster.servers[index]!
const sql = (statement: string) => execute(testbed.cluster.database.url, statement)

const newWallet = async (): Promise<Wallet> => (await newWallets(testbed.cluster, testbed.treasury, 1, FUNDS))[0]!

/** Returns a wallet with a mailbox. */
const newTenant = async () => {
  const wallet = await newWallet()
  const { mailboxId } = await wallet.on(A).createMailbox(freshName())
  wallet.token = wallet.on(A).token
  return { wallet, mailboxId }
}

/** Returns a customer with a number that the sandbox's agent answers by its URL: it repeats the caller's words. */
const newCustomer = async () => {
  const wallet = await newWallet()
  const customer = new PhoneCustomer(wallet.on(A), testbed.cluster.phones.agentWebhookUrl)
  const bought = await customer.buy()
  wallet.token = wallet.on(A).token
  return { wallet, customer, bought }
}

/** Opens a session of the wallet on a server. */
const openSession = async (wallet: Wallet, index: number, more: Record<string, string> = {}): Promise<Realtime> => {
  const reply = await wallet.on(index).send({ path: "/api/v1/events/realtime-token" })
  const { realtime } = dataOf<{ readonly realtime: { readonly token: string } }>(reply)
  const socket = await Realtime.connect({ url: socketUrl(server(index)), token: realtime.token }, more)
  await socket.next("session.ready")
  return socket
}

/**
 * Signs in with the wallet as a stock client does, and returns the access token. The message names the public URL of
 * both servers; the requests go to one of them.
 */
const signIn = async (wallet: Wallet, index: number, operation: "token" | "revoke"): Promise<string> => {
  const { publicUrl } = testbed.cluster.phones
  const client = new x402Client().registerExtension(createSIWxClientExtension({ signers: [wallet.account] }))
  const send: typeof fetch = async (input, init) => {
    const { headers, method, url } = new Request(input, init)
    const response = await fetch(url.replace(publicUrl, server(index).baseUrl), { headers, method })
    return Object.defineProperty(response, "url", { value: url })
  }
  const response = await wrapFetchWithPayment(send, client)(`${publicUrl}/api/v1/auth/${operation}`, { method: "POST" })
  const { data } = (await response.json()) as { readonly data: { authentication: { readonly accessToken: string } } }
  return data.authentication.accessToken
}

const statusWith = async (wallet: Wallet, index: number, token: string): Promise<number> =>
  (await wallet.on(index).send({ path: "/api/v1/events", headers: { authorization: `Bearer ${token}` } })).status

/** Waits until only the new token is valid, on both servers. */
const expectOnly = async (wallet: Wallet, old: string, renewed: string) => {
  for (const index of [A, B]) {
    await vi.waitFor(async () => expect(await statusWith(wallet, index, old)).toBe(401), { timeout: 60_000 })
    expect(await statusWith(wallet, index, renewed)).toBe(200)
  }
}

describe("a token that is revoked on one server", () => {
  it("closes the sessions of another one, whose paid request is charged and fulfilled once", async () => {
    const { mailboxId, wallet } = await newTenant()
    const old = wallet.token!
    const session = await openSession(wallet, B)
    const request = updateMailbox(mailboxId, "Renamed meanwhile")
    const payment = await wallet.sign(request, B)
    const nonce = payment.authorization.nonce.toLowerCase()
    const hold = { [nonce]: { step: "after_settle", until: "released" } } as const
    testbed.gate.set(hold)
    const key = randomUUID()
    const answered = wallet.on(B).replay(request, payment.header, key)
    await testbed.gate.untilHeld(hold)

    const closed = session.closed()
    const renewed = await signIn(wallet, A, "revoke")
    expect(await closed).toBe(4401)
    await expectOnly(wallet, old, renewed)
    testbed.gate.set({})
    const reply = await answered
    expect(reply.body.data["mailbox"]).toMatchObject({ displayName: "Renamed meanwhile" })

    wallet.token = renewed
    for (const index of [A, B])
      expect((await wallet.on(index).replay(request, payment.header, key)).text).toBe(reply.text)
    const moved = (await testbed.token.read()).filter((movement) => movement.nonce === nonce)
    expect(moved.map(({ value }) => value)).toEqual([10_000n])
  })

  it("stays revoked if that server is killed as it answers, and auth.token returns the new one", async () => {
    const { wallet } = await newTenant()
    const old = wallet.token!
    const version = async () =>
      Number(
        (await sql(`select token_version from tenants where wallet = '${wallet.address.toLowerCase()}'`))[0]?.[
          "token_version"
        ]
      )
    const before = await version()
    // Its answer is not read: after the commit it makes no difference whether the server sends one.
    const asking = signIn(wallet, A, "revoke").catch(() => undefined)
    await vi.waitFor(async () => expect(await version()).toBe(before + 1), { timeout: 60_000, interval: 1 })
    const killed = server(A).kill()
    const renewed = await signIn(wallet, B, "token")
    expect(renewed).not.toBe(old)
    await killed
    await asking
    await server(A).start()
    await expectOnly(wallet, old, renewed)
    expect(await version()).toBe(before + 1)
    expect(await signIn(wallet, A, "token")).toBe(renewed)
  })
})

describe("an event webhook that has failed for three days", () => {
  const PATH = "/api/v1/events/webhook"
  const THREE_DAYS = 3 * 24 * 3_600_000

  it("is paused once by two servers, one of which is killed, and receives nothing until it is set again", async () => {
    const { wallet } = await newTenant()
    const call = async (path: string, body?: object) =>
      dataOf<{
        readonly webhook: { readonly webhookId: string; readonly status: string }
        readonly items: ReadonlyArray<{ readonly outcome: string }>
      }>(await wallet.on(B).send({ path, ...(body && { body }) }))
    // The agent of calls refuses event records.
    const set = () => call(PATH, { url: testbed.cluster.phones.agentWebhookUrl })
    const { webhook } = await set()
    const attempts = async () => (await call(`${PATH}/deliveries`)).items.length
    // The first attempt was three days ago, and the next one is due. A turn under way would store its own progress.
    const isMoved = async () => {
      const idle = `webhook_id = '${webhook.webhookId}' and leased_until is null`
      const [row] = await sql(`select retries from event_webhooks where ${idle}`)
      if (typeof row?.["retries"] !== "string") return false
      const retries = JSON.parse(row["retries"]) as ReadonlyArray<{ readonly firstAttemptAt: number }>
      const old = retries.map((retry) => ({
        ...retry,
        firstAttemptAt: retry.firstAttemptAt - THREE_DAYS,
        nextAttemptAt: 0
      }))
      if (old.length === 0) return false
      const moved = await sql(`
        update event_webhooks set retries = '${JSON.stringify(old)}', due_at = 0, resting = false
        where ${idle} returning webhook_id`)
      return moved.length === 1
    }
    await vi.waitFor(async () => expect(await isMoved()).toBe(true), { timeout: 60_000, interval: 50 })
    await server(A).kill()
    const status = async () => (await call(PATH)).webhook.status
    // The killed server may have held the lease.
    await vi.waitFor(async () => expect(await status()).toBe("paused"), { timeout: 60_000, interval: 100 })
    await server(A).start()
    const count = await attempts()
    const paused = await call("/api/v1/events/list", { types: ["events.webhook.paused"] })
    expect(paused.items).toHaveLength(1)
    // No server will lease it.
    expect(
      await sql(`select leased_until, due_at from event_webhooks where webhook_id = '${webhook.webhookId}'`)
    ).toEqual([{ leased_until: null, due_at: null }])
    expect(await attempts()).toBe(count)
    await set()
    await vi.waitFor(async () => expect(await attempts()).toBeGreaterThan(count), { timeout: 60_000, interval: 50 })
  })
})

describe("a voice session on another server than the call's relay", () => {
  it("answers; if its server is killed meanwhile the next session goes on, and the URL when none is left", async () => {
    const { bought, customer, wallet } = await newCustomer()
    testbed.cluster.phones.routeTo(A)
    const far = await openSession(wallet, B, { mode: "voice" })
    const lines = ["One?", "Two?", "Three?", "Four?"]
    const person = await testbed.carrier.person({ lines, patienceSeconds: 50 })
    const { callId } = await customer.callOut(bought.phoneNumberId, person, "Hello.")
    const reply = (socket: Realtime, { turnId }: RealtimeMessage, more: object) =>
      socket.send({ type: "call.reply", callId, turnId, ...more })
    const turnOf = async (socket: Realtime, text: string) => {
      const turn = await socket.next("call.turn")
      expect(turn).toMatchObject({ callId, turn: { text } })
      return turn
    }

    reply(far, await turnOf(far, "One?"), { text: "From the other server." })
    const near = await openSession(wallet, A, { mode: "voice" })
    reply(far, await turnOf(far, "Two?"), { text: "Let me see. ", more: true })
    await testbed.carrier.until(
      () => testbed.carrier.playTo(person),
      (play) => play.heard.at(-1) === "Let me see. "
    )
    const killedAt = performance.now()
    await server(B).kill()
    reply(near, await turnOf(near, "Two?"), { text: "From the server of the relay." })
    const silentMillis = performance.now() - killedAt
    await turnOf(near, "Three?")
    near.socket.terminate()
    const closedAt = performance.now()
    const heard = [
      "Hello.",
      "From the other server.",
      "Let me see. From the server of the relay.",
      "You said: Three?",
      "You said: Four?"
    ]
    const isHeard = await testbed.carrier.until(
      () => testbed.carrier.playTo(person),
      (play) => play.heard.length >= heard.length - 1
    )
    const fallbackMillis = performance.now() - closedAt
    await server(B).start()
    const { id } = isHeard
    expect((await testbed.carrier.over(id)).heard).toEqual(heard)
    await testbed.carrier.until(
      () => customer.call(callId),
      ({ status }) => status === "ended"
    )
    const { complete, turns } = await customer.transcript(callId)
    expect([complete, turns.map(({ role, text }) => `${role}: ${text}`)]).toEqual([
      true,
      heard.flatMap((text, index) =>
        index === 0 ? [`agent: ${text}`] : [`caller: ${lines[index - 1]}`, `agent: ${text}`]
      )
    ])
    console.log(
      `next session asked after ${Math.round(silentMillis)} ms, URL answered after ${Math.round(fallbackMillis)} ms`
    )
    expect(silentMillis).toBeLessThan(8_000)
  })
})

describe("a number without allowance that is called 100 times a second", () => {
  const CALLERS = 5
  const SECONDS = 4
  const CALLS = 100 * SECONDS
  /** Growth of a server under any short load: modules, connections, buffers. */
  const MEMORY_MAX = 64 * 1024 * 1024

  it("has one record and one event for each caller and minute, with their count", async () => {
    const { bought, customer } = await newCustomer()
    const { account, publicUrl } = testbed.cluster.phones
    const url = `${publicUrl}/webhooks/twilio/voice`
    const callers = Array.from({ length: CALLERS }, () => PhoneCarrier.personNumber())
    const call = async (index: number): Promise<string> => {
      const form = {
        AccountSid: account.accountSid,
        CallSid: `CA${randomUUID().replaceAll("-", "")}`,
        CallStatus: "ringing",
        Direction: "inbound",
        From: callers[index % CALLERS]!,
        To: bought.number
      }
      const sorted = Object.entries(form).toSorted(([a], [b]) => (a < b ? -1 : 1))
      const signature = createHmac("sha1", account.authToken)
        .update(url + sorted.flat().join(""))
        .digest("base64")
      const headers = { "x-twilio-signature": signature }
      const response = await fetch(url, { method: "POST", headers, body: new URLSearchParams(form) })
      expect(response.status).toBe(200)
      return response.text()
    }
    const memory = () => testbed.cluster.servers.map((each) => usageOf(each.pid()).residentBytes)
    await call(0)
    const before = memory()
    const startedAt = performance.now()
    const answers: Array<Promise<string>> = []
    for (let index = 1; index < CALLS; index++) {
      answers.push(call(index))
      await sleep(Math.max(0, index * 10 - (performance.now() - startedAt)))
    }
    for (const answer of await Promise.all(answers)) expect(answer).toContain("<Reject")
    const seconds = (performance.now() - startedAt) / 1_000
    const grown = memory().map((bytes, index) => bytes - before[index]!)

    const declinedOf = async () => {
      const events = await customer.events("phone.call.ended")
      return events.map(({ payload }) => [String(payload["fromNumber"]), Number(payload["declinedCalls"])] as const)
    }
    const first = await declinedOf()
    expect(first).toHaveLength(CALLERS)
    expect(new Map(first)).toEqual(new Map(callers.map((caller) => [caller, 1])))
    expect(await sql("select count(*)::int as rows from declined_calls")).toEqual([{ rows: CALLERS }])
    // The minute ends.
    await sql("update declined_calls set due_at = due_at - 60000")
    await vi.waitFor(async () => expect(await declinedOf()).toHaveLength(2 * CALLERS), {
      timeout: 60_000,
      interval: 100
    })
    const rest = (await declinedOf()).slice(CALLERS)
    expect(new Map(rest)).toEqual(new Map(callers.map((caller) => [caller, CALLS / CALLERS - 1])))
    const reply = await customer.agent.send({ path: "/api/v1/phone/calls?direction=inbound&limit=100" })
    const { items } = dataOf<{ readonly items: ReadonlyArray<{ readonly connectedSeconds: number }> }>(reply)
    expect(items.map(({ connectedSeconds }) => connectedSeconds)).toEqual(Array.from({ length: 2 * CALLERS }, () => 0))
    console.log(
      `${CALLS} calls in ${seconds.toFixed(1)} s; memory grew by ${grown.map((bytes) => Math.round(bytes / 2 ** 20)).join(" and ")} MiB`
    )
    for (const bytes of grown) expect(bytes).toBeLessThan(MEMORY_MAX)
  })
})
