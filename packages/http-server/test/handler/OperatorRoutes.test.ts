import { JobStore, OperationStore } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { afterAll, beforeAll } from "vitest"
import { call, errorOf, newTenant, type TestAnswer } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const TOKEN = "0123456789abcdef0123456789abcdef"
const JOBS = "/internal/jobs"
const PATHS = [
  ["GET", JOBS],
  ["POST", `${JOBS}/ledger-audit/run`],
  ["GET", "/internal/metrics"]
] as const

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

describe("a server without a token for its operator", () => {
  it("has nothing at the operator's paths", async () => {
    const server = await startServer()
    for (const [method, path] of PATHS) {
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

describe("the routes of the operator", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer({ operatorToken: TOKEN })
  })
  afterAll(() => server.stop())

  const get = (path: string) => call(server, "GET", path, bearing(TOKEN))
  const runJob = (name: string) => call(server, "POST", `${JOBS}/${name}/run`, bearing(TOKEN))

  it("are for who has the token", async () => {
    const { token } = await newTenant(server)
    const wrong = [token, TOKEN.slice(1), `${TOKEN}0`, TOKEN.replace("0", "1"), ""].map(bearing)
    for (const [method, path] of PATHS) {
      for (const request of [{}, { headers: { authorization: TOKEN } }, ...wrong]) {
        const answer = await call(server, method, path, request)
        assert.strictEqual(answer.status, 401)
        assert.strictEqual(errorOf(answer).code, "AUTH_REQUIRED")
        assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
      }
      assert.strictEqual((await call(server, method, path, bearing(TOKEN))).status, 200)
    }
  })

  it("take one method each", async () => {
    for (const [method, path] of PATHS) {
      const answer = await call(server, method === "GET" ? "POST" : "GET", path, bearing(TOKEN))
      assert.strictEqual(answer.status, 405)
      assert.strictEqual(errorOf(answer).code, "METHOD_NOT_ALLOWED")
      assert.strictEqual(answer.headers.get("allow"), method === "GET" ? "GET, HEAD" : "POST")
    }
    assert.strictEqual((await call(server, "HEAD", JOBS, bearing(TOKEN))).status, 200)
  })

  it("are in no document, and each request of them is logged, without the token", async () => {
    await get(JOBS)
    for (const path of ["/openapi.json", "/llms.txt", "/docs", "/api/v1", "/api/v1/services"]) {
      assert.notInclude((await call(server, "GET", path)).text, "/internal")
    }
    const lines = server.logs.filter((line) => line.includes(`"path":"${JOBS}"`))
    assert.isTrue(lines.some((line) => line.includes('"operation":"operator.jobs"') && line.includes('"status":200')))
    for (const line of server.logs) assert.notInclude(line, TOKEN)
  })

  it("list every job, also one that was never run, and run it when they are told to, due or not", async () => {
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

  it("say that there is no job of the name, and that another runner is at it", async () => {
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

  it("say that a job failed, and why to who lists the jobs", async () => {
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

  it("are held to the rate of an address, whether the token is right or not", async () => {
    const limited = await startServer({ operatorToken: TOKEN, rateLimit: { burst: 2, perSecond: 0.001 } })
    const statuses: Array<number> = []
    for (const token of ["guess", TOKEN, TOKEN]) {
      statuses.push((await call(limited, "GET", JOBS, bearing(token))).status)
    }
    await limited.stop()
    assert.deepStrictEqual(statuses, [401, 200, 429])
  })
})
