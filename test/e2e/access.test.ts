import { wrapAxiosWithPayment, x402Client as AxiosClient } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x"
import { wrapFetchWithPayment, x402Client as FetchClient } from "@x402/fetch"
import axios from "axios"
import { execFile as execFileCallback } from "node:child_process"
import { randomUUID } from "node:crypto"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { describe, expect, it } from "vitest"
import { freshName } from "../support/Agent.ts"
import { Realtime } from "../support/Realtime.ts"
import { useSandbox } from "../support/useSandbox.ts"

const host = useSandbox()
const execFile = promisify(execFileCallback)
/** The program with which a directory checks the services that it lists. */
const DIRECTORY = join(dirname(createRequire(import.meta.url).resolve("@agentcash/discovery")), "../bin/discovery.js")
interface DirectoryReport {
  readonly resources: ReadonlyArray<Record<string, unknown>>
  readonly warnings: ReadonlyArray<{ readonly code: string; readonly severity: string }>
}
const UNKNOWN = "01900000-0000-7000-8000-000000000000"
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const bearerOperations = [
  ["GET", "/api/v1/email/mailboxes/query"],
  ["POST", "/api/v1/email/mailboxes/update"],
  ["POST", "/api/v1/email/mailboxes/delete"],
  ["POST", "/api/v1/email/messages/send"],
  ["GET", "/api/v1/email/messages/query"],
  ["GET", "/api/v1/events"],
  ["GET", "/api/v1/events/realtime-token"],
  ["POST", "/api/v1/events/list"],
  ["POST", "/api/v1/events/get"],
  ["POST", "/api/v1/events/ack"],
  ["POST", "/api/v1/events/ack-all"],
  ["POST", `/api/v1/events/${UNKNOWN}/acknowledge`]
] as const

const account = () => privateKeyToAccount(host.sandbox.wallets[0]!.privateKey)
const url = () => `${host.sandbox.baseUrl}/api/v1/email/mailboxes`

describe("discovery", () => {
  it("passes the audit of a directory of x402, which finds every paid service", async () => {
    const ask = async (...args: ReadonlyArray<string>): Promise<DirectoryReport> => {
      const { stdout } = await execFile(process.execPath, [DIRECTORY, ...args, "--json"])
      return JSON.parse(stdout) as DirectoryReport
    }
    const found = await ask("discover", host.sandbox.baseUrl)
    const checked = await ask("check", `${host.sandbox.baseUrl}/api/v1/email/mailboxes`)
    // It advises against more than 40 routes. Those beyond are free.
    const expected = ["L2_ROUTE_COUNT_HIGH"]
    for (const { warnings } of [found, checked])
      expect(warnings.filter(({ code, severity }) => severity !== "info" && !expected.includes(code))).toEqual([])
    expect(found.resources).toContainEqual(
      expect.objectContaining({
        path: "/api/v1/email/mailboxes",
        authHint: "paid",
        priceHint: "0.25 USD",
        protocols: ["x402"]
      })
    )
    const paid = found.resources.filter(({ authHint }) => authHint === "paid" || authHint === "apiKey+paid")
    const crawled = await host.agent(0).send({ path: "/.well-known/x402" })
    const { resources } = crawled.body as unknown as { readonly resources: ReadonlyArray<string> }
    expect(paid.map(({ path }) => `${host.sandbox.baseUrl}${String(path)}`)).toEqual(resources)
  })

  it("links the documents from the root, the API description and the API catalog", async () => {
    const agent = host.agent(0)
    const [root, description] = await Promise.all(["/", "/api/v1"].map((path) => agent.send({ path })))
    expect([root?.status, root?.body.data]).toEqual([200, description?.body.data])
    const catalog = await agent.send({ path: "/.well-known/api-catalog" })
    expect(catalog.headers.get("content-type")).toContain("application/linkset+json")
    const { linkset } = catalog.body as unknown as {
      readonly linkset: ReadonlyArray<Readonly<Record<string, string | ReadonlyArray<{ readonly href: string }>>>>
    }
    const links = linkset.flatMap(({ anchor: _anchor, ...relations }) => Object.values(relations)).flat()
    for (const link of links) {
      const { href } = link as { readonly href: string }
      const document = await fetch(href)
      expect([href, document.status]).toEqual([href, 200])
    }
    const catalogLink = `<${host.sandbox.baseUrl}/.well-known/api-catalog>; rel="api-catalog"`
    for (const path of ["/", "/api/v1", "/openapi.json", "/docs", "/llms.txt", "/.well-known/x402"]) {
      const { headers } = await fetch(`${host.sandbox.baseUrl}${path}`, { method: "HEAD" })
      expect([path, headers.get("link")]).toEqual([path, expect.stringContaining(catalogLink)])
    }
  })

  it("states the accepted networks, tokens and recipients without a challenge", async () => {
    const { asset, network, payTo } = host.sandbox.chain
    const { body } = await host.agent(0).send({ path: "/api/v1" })
    expect(body.data).toMatchObject({
      payment: {
        protocol: "x402",
        x402Version: 2,
        scheme: "exact",
        accepts: [{ network, asset, payTo, extra: { signatures: "eoa eip1271 eip6492" } }]
      }
    })
  })

  it("lists the services with prices and the environment", async () => {
    const agent = host.agent(0)
    const index = await agent.send({ path: "/api/v1" })
    expect(index.body.data).toMatchObject({ name: "AgentOS", environment: "sandbox" })
    const services = await agent.send({ path: "/api/v1/services" })
    const items = services.body.data["items"] as unknown as ReadonlyArray<{
      readonly serviceId: string
      readonly available: boolean
      readonly extension?: true
      readonly price: { readonly amount: string } | null
    }>
    expect(items.filter(({ extension }) => extension === undefined)).toHaveLength(25)
    for (const { available, serviceId } of items) {
      expect({ serviceId, available }).toEqual({ serviceId, available: serviceId !== "domain.register" })
      const one = await agent.send({ path: `/api/v1/services/${serviceId}` })
      expect(one.body.data["service"]).toMatchObject({ serviceId, available })
    }
    for (const path of [
      "/openapi.json",
      "/asyncapi.json",
      "/llms.txt",
      "/docs",
      "/.well-known/agent-skills/index.json",
      "/health/live",
      "/health/ready"
    ]) {
      expect([path, (await agent.send({ path })).status]).toEqual([path, 200])
    }
    const document = (await agent.send({ path: "/openapi.json" })).body as unknown as { readonly openapi: string }
    expect(document.openapi).toMatch(/^3\.1\./)
  })
})

describe("a request without a valid access token", () => {
  it.each(bearerOperations)(
    "%s %s is refused with the onboarding hint, or with 401 for an invalid token",
    async (method, path) => {
      const agent = host.agent(0)
      const body = method === "POST" ? { body: {} } : {}
      const newcomer = await agent.send({ method, path, ...body })
      expect([newcomer.status, newcomer.body.error.code]).toEqual([428, "ONBOARDING_REQUIRED"])
      expect(newcomer.headers.get("payment-required")).toBeNull()
      expect(newcomer.body.error.onboarding).toMatchObject({
        serviceId: "email.mailbox.create",
        method: "POST",
        endpoint: expect.stringContaining("/api/v1/email/mailboxes"),
        price: { amount: "0.25", asset: "USDT" }
      })
      for (const token of ["nonsense", `at_v1_${"0".repeat(72)}`, "at_v1_"]) {
        agent.token = token
        const wrong = await agent.send({ method, path, ...body })
        expect([wrong.status, wrong.body.error.code]).toEqual([401, "AUTH_REQUIRED"])
      }
    }
  )

  it("is refused if its token is a realtime token", async () => {
    const agent = host.agent(0)
    await agent.createMailbox(freshName())
    const reply = await agent.send({ path: "/api/v1/events/realtime-token" })
    agent.token = (reply.body.data["realtime"] as unknown as { readonly token: string }).token
    const wrong = await agent.send({ path: "/api/v1/events" })
    expect([wrong.status, wrong.body.error.code]).toEqual([401, "INVALID_TOKEN"])
  })
})

describe("a resource of another tenant", () => {
  it("is visible to its owner alone, which is checked before a payment is requested", async () => {
    const [owner, stranger] = [host.agent(0), host.agent(1)]
    const mailbox = await owner.createMailbox(freshName())
    await stranger.createMailbox(freshName())
    const { mailboxId } = mailbox
    const attempts = [
      { path: "/api/v1/email/mailboxes/update", body: { mailboxId, active: false } },
      { path: "/api/v1/email/mailboxes/delete", body: { mailboxId } },
      { path: "/api/v1/email/messages/send", body: { mailboxId, to: ["a@b.test"], subject: "s", text: "t" } },
      { path: `/api/v1/email/messages/query?mailboxId=${mailboxId}` }
    ]
    for (const attempt of attempts) {
      const reply = await stranger.send(attempt)
      expect([attempt.path, reply.status, reply.body.error.code]).toEqual([attempt.path, 403, "RESOURCE_NOT_OWNED"])
    }
    const unknown = [
      { path: "/api/v1/email/mailboxes/update", body: { mailboxId: UNKNOWN, active: false } },
      { path: `/api/v1/email/messages/query?mailboxId=${UNKNOWN}` },
      { path: `/api/v1/email/messages/query?messageId=${UNKNOWN}` },
      { path: "/api/v1/events/get", body: { eventId: UNKNOWN } },
      { path: "/api/v1/events/ack", body: { eventId: UNKNOWN } },
      { path: `/api/v1/events/${UNKNOWN}/acknowledge`, method: "POST" }
    ]
    for (const attempt of unknown) {
      const reply = await stranger.send(attempt)
      expect([attempt.path, reply.status, reply.body.error.code]).toEqual([attempt.path, 404, "RESOURCE_NOT_FOUND"])
    }
  })

  it("accepts no payment from a wallet other than the owner's", async () => {
    const [owner, stranger] = [host.agent(0), host.agent(1)]
    const { mailboxId } = await owner.createMailbox(freshName())
    const request = { path: "/api/v1/email/mailboxes/update", body: { mailboxId, displayName: "x" } }
    stranger.token = owner.token
    const { amount, result } = await host.chain.charged(stranger.account.address, () => stranger.pay(request))
    expect([result.status, result.body.error.code, amount]).toEqual([403, "FORBIDDEN", 0n])
  })
})

describe("an unavailable service", () => {
  it("responds with 503 and without a challenge", async () => {
    const reply = await host.agent(0).send({ path: "/api/v1/domains/register", body: {} })
    expect([reply.status, reply.body.error.code]).toEqual([503, "SERVICE_UNAVAILABLE"])
    expect(reply.headers.get("payment-required")).toBeNull()
  })
})

describe("a request outside of the API", () => {
  it("is refused with the error envelope", async () => {
    const agent = host.agent(0)
    const cases = [
      [{ path: "/api/v1/nothing" }, 404],
      [{ path: "/nothing", body: {} }, 404],
      [{ path: "/api/v1/services/nothing" }, 404],
      [{ method: "DELETE", path: "/api/v1/email/mailboxes" }, 405],
      [{ path: "/api/v1/email/mailboxes" }, 405],
      [{ path: "/api/v1/email/mailboxes", body: "x", headers: { "content-type": "text/plain" } }, 415],
      [{ path: "/api/v1/email/mailboxes", body: JSON.stringify({ localPart: "x".repeat(300_000) }) }, 413]
    ] as const
    for (const [request, status] of cases) {
      const reply = await agent.send(request)
      expect([request.path, reply.status]).toEqual([request.path, status])
      expect(reply.body).toStrictEqual({
        error: expect.objectContaining({
          code: expect.stringMatching(/^[A-Z_]+$/),
          message: expect.stringMatching(/\.$/),
          requestId: reply.headers.get("x-request-id")
        }),
        guides: { llms: "/llms.txt", serviceCatalog: "/api/v1/services", openapi: "/openapi.json" }
      })
      expect(reply.body.error.requestId).toMatch(UUID)
    }
    const wrongMethod = await agent.send({ path: "/api/v1/email/mailboxes" })
    expect(wrongMethod.headers.get("allow")).toContain("POST")
  })
})

describe("events by REST", () => {
  it("are listed, read and acknowledged one by one and all together, and reading takes no lease", async () => {
    const agent = host.agent(2)
    const mailbox = await agent.createMailbox(freshName())
    const friend = host.agent(1)
    const sender = await friend.createMailbox(freshName())
    for (let i = 0; i < 3; i++) {
      const body = { mailboxId: sender.mailboxId, to: [mailbox.address], subject: `event ${i}`, text: "x" }
      expect((await friend.pay({ path: "/api/v1/email/messages/send", body })).status).toBe(201)
    }
    type EventFields = {
      readonly eventId: string
      readonly status: string
      readonly createdAt: string
      readonly resourceId: string
    }
    const pending = async (): Promise<ReadonlyArray<EventFields>> => {
      const reply = await agent.send({ path: "/api/v1/events?limit=200" })
      return (
        reply.body.data["items"] as unknown as ReadonlyArray<
          EventFields & { readonly type: string; readonly agentId: string }
        >
      ).filter(({ agentId }) => agentId === mailbox.mailboxId)
    }
    let events = await pending()
    for (let tries = 0; events.length < 3 && tries < 100; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      events = await pending()
    }
    expect(events.map(({ status }) => status)).toEqual(["pending", "pending", "pending"])
    const [first, second, third] = events as [EventFields, EventFields, EventFields]
    const ack = await agent.send({ path: "/api/v1/events/ack", body: { eventId: first.eventId } })
    expect(ack.body.data["event"]).toMatchObject({ eventId: first.eventId, status: "acknowledged" })
    const again = await agent.send({ method: "POST", path: `/api/v1/events/${first.eventId}/acknowledge` })
    expect([again.status, again.body.data["event"]]).toMatchObject([200, { status: "acknowledged" }])
    const realtime = await Realtime.open(agent)
    const ready = await realtime.next("session.ready")
    expect(ready.pending).toBeGreaterThanOrEqual(2)
    let delivery = await realtime.next("event.delivery")
    while (delivery.event!.eventId !== second.eventId) delivery = await realtime.next("event.delivery")
    realtime.close()
    const before = new Date(Date.parse(third.createdAt) + 1).toISOString()
    const all = await agent.send({ path: "/api/v1/events/ack-all", body: { before, types: ["email.received"] } })
    expect(all.status).toBe(200)
    expect(all.body.data["acknowledged"]).toBeGreaterThanOrEqual(2)
    expect(await pending()).toEqual([])
    const filter = { agentId: mailbox.mailboxId, types: ["email.received"], status: "acknowledged", limit: 2 }
    const page = await agent.send({ path: "/api/v1/events/list", body: filter })
    const { items, nextCursor } = page.body.data as unknown as {
      readonly items: ReadonlyArray<EventFields>
      readonly nextCursor: string
    }
    expect(items.map(({ eventId }) => eventId)).toEqual([first.eventId, second.eventId])
    const rest = await agent.send({ path: "/api/v1/events/list", body: { ...filter, cursor: nextCursor } })
    expect(rest.body.data).toMatchObject({ items: [{ eventId: third.eventId }], nextCursor: null })
    const foreign = await friend.send({ path: "/api/v1/events/list", body: { ...filter, cursor: nextCursor } })
    expect([foreign.status, foreign.body.error.issues?.[0]?.path]).toEqual([400, "cursor"])
    const stolen = await friend.send({ path: "/api/v1/events/get", body: { eventId: first.eventId } })
    expect([stolen.status, stolen.body.error.code]).toEqual([403, "RESOURCE_NOT_OWNED"])
  })
})

describe("clients of x402", () => {
  it("@x402/axios pays", async () => {
    const client = wrapAxiosWithPayment(
      axios.create(),
      new AxiosClient().register("eip155:*", new ExactEvmScheme(account()))
    )
    const { amount, result } = await host.chain.charged(account().address, () =>
      client.post(url(), { localPart: freshName() }, { headers: { "idempotency-key": randomUUID() } })
    )
    expect([result.status, amount]).toEqual([201, 250_000n])
    expect(result.headers["payment-response"]).toBeTruthy()
  })

  it("@x402/fetch pays if it is allowed to spend the asset", async () => {
    const wallet = new FetchClient().register("eip155:*", new ExactEvmScheme(account()))
    const { asset, network } = host.sandbox.chain
    wallet.setSpendControls({ allowedAssets: [{ network, asset, maxAmountPerPayment: "5000000" }] })
    const paying = wrapFetchWithPayment(fetch, wallet)
    const { amount, result } = await host.chain.charged(account().address, () =>
      paying(url(), {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": randomUUID() },
        body: JSON.stringify({ localPart: freshName() })
      })
    )
    expect([result.status, amount]).toEqual([201, 250_000n])
  })
})

describe("a client of x402 with the extension sign-in-with-x", () => {
  const signing = (signer: ReturnType<typeof account>) =>
    wrapFetchWithPayment(fetch, new FetchClient().registerExtension(createSIWxClientExtension({ signers: [signer] })))

  it("gets the token of its wallet back, and replaces it, without payment", async () => {
    const agent = host.agent(1)
    await agent.createMailbox(freshName())
    const post = async (path: string) => {
      const response = await signing(agent.account)(`${host.sandbox.baseUrl}${path}`, { method: "POST" })
      const body = (await response.json()) as { readonly data: { authentication: { readonly accessToken: string } } }
      return [response.status, body.data.authentication.accessToken]
    }
    const { amount } = await host.chain.charged(agent.account.address, async () => {
      const [, lost] = await post("/api/v1/auth/token")
      expect(await post("/api/v1/auth/token")).toEqual([200, lost])
      agent.token = String(lost)
      const [status, replaced] = await post("/api/v1/auth/revoke")
      expect([status, replaced === lost]).toEqual([200, false])
      expect(await post("/api/v1/auth/token")).toEqual([200, replaced])
      expect((await agent.send({ path: "/api/v1/events" })).status).toBe(401)
      agent.token = String(replaced)
      expect((await agent.send({ path: "/api/v1/events" })).status).toBe(200)
    })
    expect(amount).toBe(0n)
  })

  it("gets 404 for a wallet that has bought nothing", async () => {
    const stranger = privateKeyToAccount(generatePrivateKey())
    const response = await signing(stranger)(`${host.sandbox.baseUrl}/api/v1/auth/token`, { method: "POST" })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: "RESOURCE_NOT_FOUND" } })
  })
})
