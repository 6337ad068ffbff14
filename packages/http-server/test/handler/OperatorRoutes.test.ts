import type { ApiDescription } from "@agentos/api"
import {
  AS_CLAIMED,
  type AuditReport,
  JobStore,
  MessageStore,
  type OperationReport,
  OperationStore,
  type Page,
  type SalesStopReport,
  Timestamp,
  walletAddress
} from "@agentos/core"
import { ScriptedRail } from "@agentos/core/contract-tests"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { afterAll, beforeAll } from "vitest"
import { connect } from "../realtime/RealtimeClient.ts"
import {
  call,
  callPaid,
  dataOf,
  errorOf,
  fresh,
  freshWallet,
  newTenant,
  payFor,
  rawCall,
  type TestAnswer,
  textAt
} from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const TOKEN = "0123456789abcdef0123456789abcdef"
const JOBS = "/internal/jobs"
const PATHS = [
  ["GET", JOBS],
  ["POST", `${JOBS}/ledger-audit/run`],
  ["GET", "/internal/metrics"],
  ["GET", "/internal/operations"],
  ["GET", "/internal/selling"],
  ["POST", "/internal/selling/start"],
  ["GET", "/internal/mail/inbound"],
  ["GET", "/internal/mail/outbound"],
  ["GET", "/internal/webhooks"]
] as const
/** Every route for operators. */
const allPaths = async (server: TestServer) =>
  (await server.operatorRoutes()).map((route) => {
    const [method = "", path = ""] = route.replaceAll(/\{\w+\}/g, "x").split(" ")
    return [method, path] as const
  })

const bearing = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

interface ListedJob {
  readonly name: string
  readonly everySeconds: number
  readonly dueAt: string | null
  readonly succeededAt: string | null
  readonly failure: string | null
  readonly runs: number
  readonly failures: number
}

const jobIn = (answer: TestAnswer, name: string): ListedJob => {
  const { data } = JSON.parse(answer.text) as { readonly data: { readonly items: ReadonlyArray<ListedJob> } }
  const job = data.items.find((candidate) => candidate.name === name)
  if (job === undefined) throw new Error(`no job ${name}`)
  return job
}

describe("a server without an operator token", () => {
  it("answers the operator's paths like unknown ones", async () => {
    const server = await startServer()
    for (const [method, path] of await allPaths(server)) {
      for (const request of [{}, bearing(TOKEN), bearing("")]) {
        const answer = await call(server, method, path, request)
        const unknown = await call(server, method, `${path}-unknown`, request)
        const { requestId: _, ...error } = errorOf(answer)
        const { requestId: __, ...expected } = errorOf(unknown)
        assert.strictEqual(answer.status, 404)
        assert.deepStrictEqual(error, { ...expected, message: expected.message.replace("-unknown", "") })
      }
    }
    await server.stop()
  })
})

describe("the operator's routes", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer({ operatorToken: TOKEN })
  })
  afterAll(() => server.stop())

  it("are found at the operator's address alone, under one spelling of their paths", async () => {
    const statusOf = async (target: string, port: number): Promise<string> => {
      const lines = ["Host: agentos.test", `Authorization: Bearer ${TOKEN}`, "Connection: close", "\r\n"]
      return (await rawCall({ port }, `GET ${target} HTTP/1.1\r\n${lines.join("\r\n")}`)).slice(9, 12)
    }
    const operatorPort = Number(new URL(server.operatorUrl).port)
    const spellings = [
      "/%69nternal/jobs",
      "/internal/%6Aobs",
      "/%49nternal/jobs",
      "//internal/jobs",
      "///internal/jobs",
      "/internal//jobs",
      "/./internal/jobs",
      "/x/../internal/jobs",
      "/%2e/internal/jobs",
      "/x/%2E%2e/internal/jobs",
      "/x/..%2Finternal/jobs",
      "/internal%2Fjobs",
      "/internal/jobs/.",
      "/internal/jobs/x/..",
      "/\\internal/jobs",
      "/x/..\\internal/jobs",
      "http://agentos.test//internal/jobs",
      "http://agentos.test/x/../internal/jobs",
      "http://agentos.test/%69nternal/jobs",
      "http://agentos.test/x/%2e%2e/internal/jobs"
    ]
    const paths = [JOBS, `http://agentos.test${JOBS}`]
    for (const target of spellings) assert.strictEqual(await statusOf(target, operatorPort), "404", target)
    for (const target of [...spellings, ...paths]) {
      assert.strictEqual(await statusOf(target, server.port), "404", target)
    }
    for (const target of paths) assert.strictEqual(await statusOf(target, operatorPort), "200", target)
  })

  it("have an address of their own, which has no route for clients", async () => {
    for (const path of ["/api/v1", "/health", "/docs", "/openapi.json"]) {
      assert.strictEqual((await fetch(`${server.operatorUrl}${path}`)).status, 404, path)
    }
  })

  const get = (path: string) => call(server, "GET", path, bearing(TOKEN))
  const runJob = (name: string) => call(server, "POST", `${JOBS}/${name}/run`, bearing(TOKEN))

  it("require the operator token", async () => {
    const { token } = await newTenant(server)
    const wrong = [token, TOKEN.slice(1), `${TOKEN}0`, TOKEN.replace("0", "1"), ""].map(bearing)
    for (const [method, path] of await allPaths(server)) {
      const onPublicPort = await fetch(`${server.url}${path}`, { method, ...bearing(TOKEN) })
      assert.strictEqual(onPublicPort.status, 404, path)
      for (const request of [{}, { headers: { authorization: TOKEN } }, ...wrong]) {
        const answer = await call(server, method, path, request)
        assert.strictEqual(answer.status, 401)
        assert.strictEqual(errorOf(answer).code, "AUTH_REQUIRED")
        assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
      }
    }
    for (const [method, path] of PATHS) {
      assert.strictEqual((await call(server, method, path, bearing(TOKEN))).status, 200)
    }
  })

  it("accept one method each", async () => {
    for (const [method, path] of PATHS) {
      const answer = await call(server, method === "GET" ? "POST" : "GET", path, bearing(TOKEN))
      assert.strictEqual(answer.status, 405)
      assert.strictEqual(errorOf(answer).code, "METHOD_NOT_ALLOWED")
      assert.strictEqual(answer.headers.get("allow"), method === "GET" ? "GET, HEAD" : "POST")
    }
    assert.strictEqual((await call(server, "HEAD", JOBS, bearing(TOKEN))).status, 200)
  })

  it("appear in no document, and log each request without the token", async () => {
    await get(JOBS)
    for (const path of ["/openapi.json", "/llms.txt", "/docs", "/api/v1", "/api/v1/services"]) {
      assert.notInclude((await call(server, "GET", path)).text, "/internal")
    }
    const lines = server.logs.filter((line) => line.includes(`"path":"${JOBS}"`))
    assert.isTrue(lines.some((line) => line.includes('"operation":"operator.jobs"') && line.includes('"status":200')))
    for (const line of server.logs) assert.notInclude(line, TOKEN)
  })

  it("list every job, even before its first run, and run it on request, whether due or not", async () => {
    const name = "event-expiry"
    assert.deepInclude(jobIn(await get(JOBS), name), { dueAt: null, succeededAt: null, failure: null, runs: 0 })
    const answer = await runJob(name)
    assert.strictEqual(answer.status, 200)
    assert.deepStrictEqual(JSON.parse(answer.text), {
      data: { name, done: 0 },
      requestId: answer.headers.get("x-request-id")
    })
    const job = jobIn(await get(JOBS), name)
    assert.deepInclude(job, { runs: 1, failures: 0, failure: null })
    assert.strictEqual(Date.parse(job.dueAt ?? "") - Date.parse(job.succeededAt ?? ""), job.everySeconds * 1_000)
    assert.strictEqual((await runJob(name)).status, 200)
    assert.strictEqual(jobIn(await get(JOBS), name).runs, 2)
  })

  it("report an unknown job, and a job that another runner has leased", async () => {
    const unknown = await runJob("no-such-job")
    assert.deepStrictEqual([unknown.status, errorOf(unknown).code], [404, "RESOURCE_NOT_FOUND"])
    const name = "event-retention"
    const run = await server.run(Effect.flatMap(JobStore, (store) => store.take(name, "now", 60_000)))
    const busy = await runJob(name)
    assert.deepStrictEqual([busy.status, errorOf(busy).code], [409, "CONFLICT"])
    const finish = (store: JobStore["Service"]) =>
      store.finish(Option.getOrThrow(run), { _tag: "Succeeded", done: 0 }, 0)
    assert.isTrue(await server.run(Effect.flatMap(JobStore, finish)))
    assert.strictEqual((await runJob(name)).status, 200)
  })

  it("report a failed job, with the reason only in the list of jobs", async () => {
    const entry = { operationId: crypto.randomUUID(), network: "eip155:4242", asset: "0xa" }
    const post = (store: OperationStore["Service"]) => store.post([{ ...entry, account: "received", amount: 1n }])
    await server.run(Effect.flatMap(OperationStore, post))
    const failed = await runJob("ledger-audit")
    assert.deepStrictEqual([failed.status, errorOf(failed).code], [500, "INTERNAL_ERROR"])
    assert.notInclude(failed.text, "eip155:4242")
    const job = jobIn(await get(JOBS), "ledger-audit")
    assert.strictEqual(job.failures, 1)
    assert.include(job.failure ?? "", "eip155:4242")
  })

  it("suspend a tenant, which may then read but not pay, and resume it", async () => {
    const { mailboxId, token, wallet } = await newTenant(server)
    const tenant = `/internal/tenants/${wallet}`
    const post = (path: string, body?: unknown) =>
      call(server, "POST", path, { ...bearing(TOKEN), ...(body === undefined ? {} : { body }) })
    const found = await get(tenant)
    assert.deepInclude(found, { status: 200 })
    const { data } = JSON.parse(found.text) as { readonly data: { readonly tenantId: string; [key: string]: unknown } }
    assert.deepInclude(data, { wallet, suspension: null })

    for (const body of [undefined, {}, { reason: " " }, { reason: "x".repeat(501) }]) {
      assert.strictEqual(errorOf(await post(`${tenant}/suspend`, body)).code, "INVALID_REQUEST")
    }
    const reason = "Sends spam"
    const suspended = await post(`/internal/tenants/${data.tenantId}/suspend`, { reason })
    assert.deepInclude(JSON.parse(suspended.text).data.suspension, { reason })

    const message = { mailboxId, to: ["friend@example.com"], subject: "Hello", text: "Hi" }
    const refused = await call(server, "POST", "/api/v1/email/messages/send", { token, body: message })
    assert.deepInclude(errorOf(refused), {
      code: "FORBIDDEN",
      paymentState: "none",
      message:
        "Your account is suspended: Sends spam. You can still read and acknowledge events. Contact the operator of this service. Nothing was charged."
    })
    const realtime = await call(server, "GET", "/api/v1/events/realtime-token", { token })
    assert.deepStrictEqual([realtime.status, errorOf(realtime).code], [403, "FORBIDDEN"])
    for (const [method, path, body] of [
      ["GET", "/api/v1/email/mailboxes/query"],
      ["GET", "/api/v1/email/messages/query"],
      ["GET", "/api/v1/events"],
      ["POST", "/api/v1/events/list", {}]
    ] as const) {
      assert.strictEqual((await call(server, method, path, { token, body })).status, 200)
    }
    const metrics = (await get("/internal/metrics")).text
    assert.match(metrics, /agentos_quota_refusals_total\{reason="tenant_suspended"\} [1-9]/)

    assert.isNull(JSON.parse((await post(`${tenant}/resume`)).text).data.suspension)
    const sent = await callPaid(server, "/api/v1/email/messages/send", { token, body: message }, wallet)
    assert.strictEqual(sent.status, 201)
    for (const unknown of ["01900000-0000-7000-8000-00000000dead", `0x${"e".repeat(40)}`, "x"]) {
      assert.strictEqual((await get(`/internal/tenants/${unknown}`)).status, 404)
      assert.strictEqual((await post(`/internal/tenants/${unknown}/suspend`, { reason })).status, 404)
    }
    assert.isTrue(
      server.logs.some((line) => line.includes(`tenant ${data.tenantId} suspended by the operator: ${reason}`))
    )
  })

  it("take the id and the wallet of a tenant in any case, and know no tenant by another text", async () => {
    const { wallet } = await newTenant(server)
    const dataIn = ({ text }: TestAnswer) => (JSON.parse(text) as { readonly data: Record<string, unknown> }).data
    const { tenantId } = dataIn(await get(`/internal/tenants/${wallet}`))
    for (const name of [wallet.toUpperCase().replace("0X", "0x"), String(tenantId).toUpperCase()]) {
      for (const path of ["", "/erasure", "/retention", "/suppressions", "/calls"])
        assert.strictEqual((await get(`/internal/tenants/${name}${path}`)).status, 200, `${name}${path}`)
      assert.lengthOf(dataIn(await get(`/internal/operations?state=fulfilled&tenant=${name}`))["items"] as [], 1)
    }
    for (const name of ["0x12", `0x${"g".repeat(40)}`, "0x"]) {
      for (const path of ["", "/erasure", "/retention", "/suppressions", "/calls"])
        assert.strictEqual((await get(`/internal/tenants/${name}${path}`)).status, 404, `${name}${path}`)
      assert.strictEqual((await call(server, "POST", `/internal/tenants/${name}/erase`, bearing(TOKEN))).status, 404)
      for (const list of ["operations", "mail/inbound", "mail/outbound", "webhooks"])
        assert.deepStrictEqual(dataIn(await get(`/internal/${list}?tenant=${name}`)), { items: [], nextCursor: null })
    }
  })

  it("list and lift suppressions, and resume the sending of a tenant that is paused", async () => {
    const { mailboxId, token, wallet } = await newTenant(server)
    const tenant = `/internal/tenants/${wallet}`
    const dataIn = ({ text }: TestAnswer) => (JSON.parse(text) as { readonly data: Record<string, unknown> }).data
    const tenantId = String(dataIn(await get(tenant))["tenantId"])
    const until = Timestamp.Timestamp.make(Date.now() + Timestamp.DAY)
    await server.run(
      Effect.gen(function* () {
        const store = yield* MessageStore
        yield* store.suppress(tenantId, ["a@example.com", "b@example.com", "c@example.com"], "bounced")
        const record = { day: 0, recipients: 0, recipientsBefore: 0, level: 0 }
        yield* store.putSending(tenantId, { ...record, pause: { until, reason: "complained" } })
        const at = Timestamp.Timestamp.make(Date.now())
        const feedback = { tenantId, reason: "complained", reporters: ["@a.test"], messageId: mailboxId, at } as const
        yield* store.addFeedback(feedback, Timestamp.DAY)
      })
    )
    const post = (path: string, body?: unknown) => call(server, "POST", `${tenant}${path}`, { ...bearing(TOKEN), body })
    const page = dataIn(await get(`${tenant}/suppressions?limit=2`)) as { readonly nextCursor: string }
    const item = (name: string): unknown => ({ address: `${name}@example.com`, reason: "bounced" })
    assert.deepStrictEqual(
      JSON.parse(JSON.stringify(page), (key, value) => (key === "createdAt" ? undefined : value)),
      {
        items: [item("a"), item("b")],
        nextCursor: "b@example.com"
      }
    )
    const rest = dataIn(await get(`${tenant}/suppressions?cursor=${encodeURIComponent(page.nextCursor)}`))
    assert.lengthOf(rest["items"] as ReadonlyArray<unknown>, 1)
    const lifted = { address: "A@example.com", lifted: true }
    assert.deepStrictEqual(dataIn(await post("/suppressions/lift", { address: "A@example.com" })), lifted)
    const again = { ...lifted, lifted: false }
    assert.deepStrictEqual(dataIn(await post("/suppressions/lift", { address: "A@example.com" })), again)
    for (const wrong of [{}, { address: "a" }]) {
      assert.strictEqual(errorOf(await post("/suppressions/lift", wrong)).code, "INVALID_REQUEST")
    }
    assert.strictEqual(errorOf(await get(`${tenant}/suppressions?limit=0`)).code, "INVALID_REQUEST")

    const body = { mailboxId, to: ["friend@example.com"], subject: "Hello", text: "Hi" }
    const send = () => call(server, "POST", "/api/v1/email/messages/send", { token, body })
    assert.include(errorOf(await send()).message, "Sending is paused until")
    assert.deepStrictEqual(dataIn(await get(tenant))["sendingPause"], {
      until: Timestamp.toIso(until),
      reason: "complained"
    })
    assert.isNull(dataIn(await post("/resume-sending"))["sendingPause"])
    assert.strictEqual((await send()).status, 402)
    const feedback = { tenantId, reason: "complained", reporters: [], messageId: mailboxId, at: until } as const
    const left = await server.run(
      Effect.flatMap(MessageStore, (store) => store.addFeedback(feedback, 2 * Timestamp.DAY))
    )
    assert.strictEqual(left.reporters, 0)
    for (const path of ["/suppressions", "/suppressions/lift", "/resume-sending"]) {
      const unknown = await call(server, path === "/suppressions" ? "GET" : "POST", `/internal/tenants/x${path}`, {
        ...bearing(TOKEN),
        ...(path.endsWith("lift") ? { body: { address: "a@example.com" } } : {})
      })
      assert.strictEqual(unknown.status, 404)
    }
  })

  it("stop the sale of a service, for challenges, payments and the catalog, and start it again", async () => {
    const post = (path: string, body?: unknown) =>
      call(server, "POST", `/internal/selling/${path}`, { ...bearing(TOKEN), ...(body === undefined ? {} : { body }) })
    const stopsOf = ({ status, text }: TestAnswer) => {
      assert.strictEqual(status, 200)
      return (JSON.parse(text) as { readonly data: { readonly stops: ReadonlyArray<SalesStopReport> } }).data.stops
    }
    const service = "email.mailbox.create"
    const path = "/api/v1/email/mailboxes"
    const before = await newTenant(server)
    const wallet = freshWallet()
    const request = { body: { localPart: fresh("sell") } }
    const headers = await payFor(server, path, request, wallet)
    const known = (await call(server, "GET", "/api/v1")).headers.get("etag") ?? ""

    for (const body of [
      undefined,
      {},
      { service },
      { sevice: service, reason: "x" },
      { reason: " " },
      { reason: "a\nb" },
      { reason: "x".repeat(201) }
    ]) {
      assert.strictEqual(errorOf(await post("stop", body)).code, "INVALID_REQUEST")
    }
    const free = errorOf(await post("stop", { service: "events.list", reason: "x" }))
    assert.deepInclude(free, { code: "INVALID_REQUEST" })
    assert.include(free.message, "service")
    assert.deepStrictEqual(stopsOf(await get("/internal/selling")), [])
    assert.lengthOf(stopsOf(await post("stop", { service, reason: "x" })), 1)
    const stops = stopsOf(await post("stop", { service, reason: "The domain is moving" }))
    assert.deepInclude(stops[0], { service, reason: "The domain is moving" })
    assert.deepStrictEqual(stopsOf(await get("/internal/selling")), stops)

    const refusals = [
      await call(server, "POST", path),
      await call(server, "POST", path, request),
      await call(server, "POST", path, { ...request, headers }),
      await call(server, "POST", path, { ...request, headers: { ...headers, "payment-signature": "unreadable" } })
    ]
    for (const refused of refusals) {
      assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "120"])
      assert.isNull(refused.headers.get("payment-required"))
      assert.deepInclude(errorOf(refused), {
        code: "SERVICE_UNAVAILABLE",
        retryable: true,
        paymentState: "none",
        next: { method: "GET", path: "/api/v1/services" },
        message:
          "The operator has stopped the sale of email.mailbox.create: The domain is moving. Retry in 120 s, or see the catalog for the services that are available. Operations that are already paid continue. Nothing was charged."
      })
    }
    assert.isUndefined(server.payments.transfers.get(wallet))
    assert.strictEqual((await call(server, "GET", path + "/query", { token: before.token })).status, 200)

    const services = async () => {
      const description = await call(server, "GET", "/api/v1", { headers: { "if-none-match": known } })
      if (description.status === 304) return undefined
      const { data } = JSON.parse(description.text) as { readonly data: ApiDescription }
      return data.services.find(({ serviceId }) => serviceId === service)?.available
    }
    const one = async () => dataOf(await call(server, "GET", `/api/v1/services/${service}`))["service"]
    assert.isFalse(await services())
    assert.deepInclude(await one(), { available: false, marketplaceListing: false })
    const all = await call(server, "GET", "/api/v1/services")
    assert.include(all.text, `"serviceId":"${service}","method":"POST","path":"${path}"`)
    const { items } = JSON.parse(all.text).data as { readonly items: ReadonlyArray<ApiDescription["services"][number]> }
    assert.deepInclude(
      items.find(({ serviceId }) => serviceId === service),
      { available: false }
    )
    assert.deepInclude(
      items.find(({ serviceId }) => serviceId === "email.message.send"),
      { available: true }
    )
    assert.match((await get("/internal/metrics")).text, /^agentos_sales_stopped 1$/m)

    const started = await post("start", { service })
    assert.deepStrictEqual(JSON.parse(started.text).data, { started: true, stops: [] })
    assert.isUndefined(await services(), "the catalog is the one from before")
    assert.deepInclude(await one(), { available: true })
    assert.strictEqual((await call(server, "POST", path, { ...request, headers })).status, 201)
    assert.strictEqual(server.payments.transfers.get(wallet), 1)
    for (const body of [undefined, {}, { service: "all" }]) {
      assert.deepStrictEqual(JSON.parse((await post("start", body)).text).data, { started: false, stops: [] })
    }
    for (const line of [
      `sale of ${service} stopped by the operator: The domain is moving`,
      `sale of ${service} started by the operator`
    ]) {
      assert.isTrue(
        server.logs.some((logged) => logged.includes(line)),
        line
      )
    }
  })

  it("stop all sales, except the answers to earlier payments", async () => {
    const path = "/api/v1/email/mailboxes"
    const wallet = freshWallet()
    const request = { body: { localPart: fresh("paid") } }
    const headers = await payFor(server, path, request, wallet)
    const paid = await call(server, "POST", path, { ...request, headers })
    assert.strictEqual(paid.status, 201)
    const stop = { ...bearing(TOKEN), body: { reason: "Maintenance." } }
    assert.strictEqual((await call(server, "POST", "/internal/selling/stop", stop)).status, 200)
    assert.strictEqual((await call(server, "POST", path, { ...request, headers })).text, paid.text)
    assert.strictEqual((await call(server, "POST", path, { body: { localPart: fresh("new") } })).status, 503)
    const { data } = JSON.parse((await call(server, "GET", "/api/v1")).text) as { readonly data: ApiDescription }
    assert.isEmpty(data.services.filter(({ available, price }) => available && price !== null))
    assert.isNotEmpty(data.services.filter(({ available }) => available))
    assert.strictEqual((await call(server, "POST", "/internal/selling/start", bearing(TOKEN))).status, 200)
    assert.strictEqual((await call(server, "POST", path, { body: { localPart: fresh("new") } })).status, 402)
  })

  it("stop payments on a network, for challenges and payments, and accept them again", async () => {
    const path = "/api/v1/email/mailboxes"
    const [first, second] = ["eip155:402402", "eip155:56"]
    const post = (action: string, body: object) =>
      call(server, "POST", `/internal/selling/${action}`, { ...bearing(TOKEN), body })
    const challenged = async () => {
      const { headers, status } = await call(server, "POST", path, { body: { localPart: fresh("net") } })
      const challenge = headers.get("payment-required")
      return {
        status,
        networks: challenge && ScriptedRail.readChallenge(challenge).accepts.map((each) => each.network)
      }
    }
    server.payments.otherNetworks.push(second)
    try {
      const paid = { body: { localPart: fresh("net") } }
      const paidHeaders = await payFor(server, path, paid, freshWallet())
      const bought = await call(server, "POST", path, { ...paid, headers: paidHeaders })
      assert.strictEqual(bought.status, 201)
      const wallet = freshWallet()
      const request = { body: { localPart: fresh("net") } }
      const headers = await payFor(server, path, request, wallet)

      const unknown = errorOf(await post("stop", { network: "eip155:1", reason: "x" }))
      assert.strictEqual(
        unknown.message,
        `network must be one on which this server accepts payments: ${first}, ${second}.`
      )
      for (const named of [{ network: "x" }, { network: first, service: "email.mailbox.create" }, { country: "MX" }]) {
        assert.strictEqual(errorOf(await post("stop", { ...named, reason: "x" })).code, "INVALID_REQUEST")
      }
      assert.deepStrictEqual(await challenged(), { status: 402, networks: [first, second] })

      const stopped = await post("stop", { network: first, reason: "Its chain has halted" })
      assert.match(
        stopped.text,
        /"stops":\[\{"network":"eip155:402402","at":"[^"]+Z","reason":"Its chain has halted"\}\]/
      )
      assert.match((await get("/internal/metrics")).text, /^agentos_sales_stopped 1$/m)
      assert.deepStrictEqual(await challenged(), { status: 402, networks: [second] })
      const refused = await call(server, "POST", path, { ...request, headers })
      assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "120"])
      assert.deepInclude(errorOf(refused), {
        code: "SERVICE_UNAVAILABLE",
        retryable: true,
        paymentState: "none",
        next: { method: "POST", path },
        message: `The operator has stopped payments on ${first}: Its chain has halted. The payment was not submitted. Repeat the request without it for a challenge on another network, or retry with it in 120 s. Nothing was charged.`
      })
      assert.isUndefined(server.payments.transfers.get(wallet))
      assert.strictEqual((await call(server, "POST", path, { ...paid, headers: paidHeaders })).text, bought.text)

      await post("stop", { network: second, reason: "Its chain has halted" })
      assert.deepStrictEqual(await challenged(), { status: 503, networks: null })
      await post("start", { network: second })
      assert.strictEqual(
        (await callPaid(server, path, { body: { localPart: fresh("net") } }, freshWallet())).status,
        201
      )
      assert.deepStrictEqual(JSON.parse((await post("start", { network: first })).text).data, {
        started: true,
        stops: []
      })
      assert.strictEqual((await call(server, "POST", path, { ...request, headers })).status, 201)
      assert.strictEqual(server.payments.transfers.get(wallet), 1)
      const { text } = await post("stop", { country: "CA", reason: "No numbers." })
      assert.include(text, '"stops":[{"service":"phone.number.ca.30d"')
    } finally {
      server.payments.otherNetworks.length = 0
      for (const scope of [{ network: first }, { network: second }, { country: "CA" }]) await post("start", scope)
    }
  })

  it("list operations in pages, newest first, and show each of them", async () => {
    const { wallet, token, mailboxId } = await newTenant(server)
    const update = { token, body: { mailboxId, displayName: "Ada" } }
    assert.strictEqual((await callPaid(server, "/api/v1/email/mailboxes/update", update, wallet)).status, 200)
    const list = async (query: string) => {
      const answer = await get(`/internal/operations?${query}`)
      assert.strictEqual(answer.status, 200)
      return (JSON.parse(answer.text) as { readonly data: Page<OperationReport> }).data
    }
    const all = await list(`payer=${wallet.toUpperCase().replace("X", "x")}`)
    assert.deepStrictEqual(
      all.items.map(({ serviceId, state }) => [serviceId, state]),
      [
        ["email.mailbox.update", "fulfilled"],
        ["email.mailbox.create", "fulfilled"]
      ]
    )
    const [newest, oldest] = all.items
    const first = await list("limit=1")
    assert.deepStrictEqual(first, { items: [newest!], nextCursor: newest!.operationId })
    assert.deepStrictEqual((await list(`limit=1&cursor=${first.nextCursor}`)).items, [oldest!])
    assert.deepStrictEqual(await list(`state=open&payer=${wallet}`), { items: [], nextCursor: null })
    const shown = await get(`/internal/operations/${oldest!.operationId}`)
    const { timeline, ...data } = JSON.parse(shown.text).data
    assert.deepStrictEqual(data, oldest)
    assert.deepInclude(timeline.at(-1), { event: "fulfilled", transaction: oldest!.transaction })
    assert.deepInclude(oldest, { payer: wallet, paymentState: "settled", baseUnits: "250000", nextAttempt: null })
    assert.notInclude(shown.text, token)

    for (const [query, parameter] of [
      ["state=fulfilled", "state"],
      ["payer=0x1", "payer"],
      ["limit=101", "limit"],
      ["cursor=x", "cursor"],
      ["status=open", "status"]
    ] as const) {
      const refused = await get(`/internal/operations?${query}`)
      assert.deepInclude(errorOf(refused), { code: "INVALID_REQUEST" })
      assert.include(errorOf(refused).message, parameter)
    }
  })

  it("make an open operation due, and refuse a final one, a leased one and an unknown one", async () => {
    const { wallet } = await newTenant(server)
    const retry = (operationId: string) =>
      call(server, "POST", `/internal/operations/${operationId}/retry`, bearing(TOKEN))
    const operationId = crypto.randomUUID()
    const fulfilled = await server.run(
      Effect.gen(function* () {
        const store = yield* OperationStore
        const [paid] = yield* store.list({ payer: walletAddress(wallet), limit: 1 })
        const { proof, ...operation } = Option.getOrThrow(yield* store.find(paid!.operationId))
        const claimed = { ...operation, ...AS_CLAIMED, operationId, idempotencyKey: operationId }
        yield* store.claim({ ...claimed, proof: { ...proof, nonce: operationId } }, 60_000)
        return paid!.operationId
      })
    )
    const [final, leased] = [await retry(fulfilled), await retry(operationId)]
    assert.deepStrictEqual([final.status, errorOf(final).code], [409, "CONFLICT"])
    assert.include(errorOf(final).message, "is fulfilled, which is final. There is nothing to retry.")
    assert.deepStrictEqual([leased.status, errorOf(leased).code], [409, "CONFLICT"])
    assert.include(errorOf(leased).message, "A worker holds the lease")

    const schedule = (store: OperationStore["Service"]) =>
      store.setNextAttempt(operationId, 1, { kind: "scheduled", millis: 60_000 })
    assert.isTrue(await server.run(Effect.flatMap(OperationStore, schedule)))
    const retried = await retry(operationId)
    assert.deepInclude(retried, { status: 200 })
    // The completion job may have taken it over already.
    assert.include(["due", "leased"], JSON.parse(retried.text).data.nextAttempt.kind)
    assert.isTrue(server.logs.some((line) => line.includes(`operation ${operationId} made due by the operator`)))
    for (const unknown of ["01900000-0000-7000-8000-00000000dead", "x"]) {
      assert.strictEqual((await get(`/internal/operations/${unknown}`)).status, 404)
      const answer = await retry(unknown)
      assert.deepStrictEqual([answer.status, errorOf(answer).code], [404, "RESOURCE_NOT_FOUND"])
    }
    // The calls of customers are no next step of the operator.
    for (const answer of [final, leased, await retry("x")]) assert.notProperty(errorOf(answer), "next")
    assert.strictEqual((await get(`/internal/operations/${fulfilled.toUpperCase()}`)).status, 200)
  })

  it("close the open sockets of a suspended tenant, and of no other", async () => {
    const server = await startServer({ operatorToken: TOKEN, leaseMillis: 3_000 })
    const [suspended, other] = [await newTenant(server), await newTenant(server)]
    const open = Effect.fnUntraced(function* ({ token }: typeof other) {
      const answer = yield* Effect.promise(() => call(server, "GET", "/api/v1/events/realtime-token", { token }))
      const client = yield* connect(server.port)
      client.send({ type: "session.authenticate", token: textAt(dataOf(answer), "realtime", "token") })
      yield* client.expect("session.ready")
      const { event } = yield* client.expect("event.delivery")
      assert.strictEqual(event.type, "payment.completed")
      yield* client.expect("session.replay.complete")
      return client
    })
    await Effect.runPromise(
      Effect.gen(function* () {
        const [closing, staying] = [yield* open(suspended), yield* open(other)]
        const path = `/internal/tenants/${suspended.wallet}/suspend`
        const request = { ...bearing(TOKEN), body: { reason: "Sends spam" } }
        assert.strictEqual((yield* Effect.promise(() => call(server, "POST", path, request))).status, 200)
        assert.strictEqual((yield* closing.expect("error")).code, "AUTH_REQUIRED")
        assert.strictEqual(yield* closing.closed, 4401)
        yield* Effect.promise(() => server.append(other.wallet, ["after the suspension"]))
        assert.strictEqual((yield* staying.expect("event.delivery")).event.resourceId, "after the suspension")
      }).pipe(Effect.scoped)
    )
    await server.stop()
  })

  it("report unclaimed transfers by the job ledger-audit, in the log and as a metric, and outflows as its failure", async () => {
    const server = await startServer({ operatorToken: TOKEN })
    await newTenant(server)
    const unclaimed = async () => {
      const { text } = await call(server, "GET", "/internal/metrics", bearing(TOKEN))
      return /^agentos_ledger_unclaimed_transfers\{.*\} (\d+)$/m.exec(text)?.[1]
    }
    const audit = () => call(server, "POST", `${JOBS}/ledger-audit/run`, bearing(TOKEN))
    const [transfer] = server.payments.log
    server.payments.log.push({ ...transfer!, transaction: "0xstray", block: 7n })
    // The scripted chain returns these blocks as the last ones before the requested moments.
    server.payments.blocksBefore.push(1n, 7n)
    assert.strictEqual((await audit()).status, 200)
    assert.strictEqual(await unclaimed(), "1")
    const alert = server.logs.find((line) => line.includes("1 transfers on"))
    assert.include(alert, '"level":"ERROR"')
    assert.include(alert, "0xstray")
    server.payments.blocksBefore.push(7n, 9n)
    await audit()
    assert.strictEqual(await unclaimed(), "0")
    const movement = { direction: "refunded", transaction: "0x5e", wallet: `0x${"f1".repeat(20)}`, amount: 5n } as const
    server.payments.log.push({ ...movement, block: 8n, ownWallet: `0x${"f2".repeat(20)}` })
    server.payments.blocksBefore.push(7n, 9n)
    assert.strictEqual((await audit()).status, 200)
    server.payments.log.push({ ...movement, block: 9n })
    server.payments.blocksBefore.push(7n, 9n)
    assert.strictEqual((await audit()).status, 500)
    assert.include((await call(server, "GET", JOBS, bearing(TOKEN))).text, "0x5e without an operation")
    await server.stop()
  })

  it("record the return of an unclaimed transfer, once, if the chain shows it", async () => {
    const own = await startServer({ operatorToken: TOKEN })
    const [received, sent] = [`0x${"a1".repeat(32)}`, `0x${"b2".repeat(32)}`]
    const wallet = `0x${"c3".repeat(20)}`
    const give = async (body: unknown, path = received) => {
      const { status, text } = await call(own, "POST", `/internal/transfers/${path}/return`, {
        ...bearing(TOKEN),
        body
      })
      return { status, ...(JSON.parse(text) as { readonly data?: unknown }) }
    }
    try {
      own.payments.log.push({ direction: "received", transaction: received, wallet, amount: 5n, block: 40n })
      assert.strictEqual((await give({ transaction: sent })).status, 409)
      own.payments.strangers.push({ direction: "refunded", transaction: sent, wallet, amount: 5n, block: 50n })
      assert.strictEqual((await give({ transaction: "0x1" })).status, 400)
      assert.strictEqual((await give({ transaction: sent }, "0x1")).status, 400)
      const data = {
        network: "eip155:402402",
        wallet,
        receivedTransaction: received,
        transaction: sent,
        baseUnits: "5"
      }
      for (const body of [{ transaction: sent.toUpperCase().replace("X", "x"), wallet }, { transaction: sent }]) {
        assert.deepInclude(await give(body), { status: 200, data })
      }
      const audit = await call(own, "GET", `/internal/audit?target=${received}`, bearing(TOKEN))
      const { items } = (JSON.parse(audit.text) as { readonly data: Page<AuditReport> }).data
      assert.deepStrictEqual(
        items.map(({ action, outcome }) => `${action} ${outcome}`),
        ["succeeded", "succeeded", "failed", "failed"].map((outcome) => `transfer.return ${outcome}`)
      )
    } finally {
      await own.stop()
    }
  })

  it("are limited by the rate of the address, with or without a valid token", async () => {
    const limited = await startServer({ operatorToken: TOKEN, rateLimit: { burst: 11, perSecond: 0.001 } })
    const statuses: Array<number> = []
    for (const token of ["guess", TOKEN, TOKEN]) {
      statuses.push((await call(limited, "GET", JOBS, bearing(token))).status)
    }
    await limited.stop()
    assert.deepStrictEqual(statuses, [401, 200, 429])
  })
})
