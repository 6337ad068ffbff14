import type { AuditReport, OperatorRole, Page } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { operatorTokenDigest } from "../../src/handler/operator/OperatorRoute.ts"
import { call, errorOf, newTenant, type TestAnswer } from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"

const DEFAULT = "0123456789abcdef0123456789abcdef"
const ROLES = ["read", "support", "money"] as const

/** Every route, with the least role that may call it, and the action of its record in the audit. */
const ROUTES: ReadonlyArray<readonly [method: "GET" | "POST", path: string, role: OperatorRole, action?: string]> = [
  ["GET", "/internal/jobs", "read"],
  ["POST", "/internal/jobs/{name}/run", "support", "job.run"],
  ["GET", "/internal/doctor", "read"],
  ["GET", "/internal/metrics", "read"],
  ["GET", "/internal/operations", "read"],
  ["GET", "/internal/operations/{operationId}", "read"],
  ["POST", "/internal/operations/{operationId}/retry", "support", "operation.retry"],
  ["POST", "/internal/operations/{operationId}/refund", "money", "operation.refund"],
  ["POST", "/internal/transfers/{received}/return", "money", "transfer.return"],
  ["GET", "/internal/selling", "read"],
  ["POST", "/internal/selling/stop", "money", "sales.stop"],
  ["POST", "/internal/selling/start", "money", "sales.start"],
  ["GET", "/internal/tenants", "read"],
  ["GET", "/internal/tenants/{tenant}/erasure", "read"],
  ["POST", "/internal/tenants/{tenant}/erase", "money", "tenant.erase"],
  ["GET", "/internal/tenants/{tenant}/retention", "read"],
  ["GET", "/internal/tenants/{tenant}/retention/preview", "read"],
  ["POST", "/internal/tenants/{tenant}/retention", "money", "tenant.set-retention"],
  ["GET", "/internal/tenants/{tenant}", "read"],
  ["POST", "/internal/tenants/{tenant}/suspend", "support", "tenant.suspend"],
  ["POST", "/internal/tenants/{tenant}/resume", "support", "tenant.resume"],
  ["POST", "/internal/tenants/{tenant}/revoke-tokens", "support", "tenant.revoke-tokens"],
  ["POST", "/internal/tenants/{tenant}/resume-sending", "support", "tenant.resume-sending"],
  ["GET", "/internal/tenants/{tenant}/calls", "support"],
  ["GET", "/internal/calls/{callId}", "support"],
  ["GET", "/internal/tenants/{tenant}/suppressions", "read"],
  ["POST", "/internal/tenants/{tenant}/suppressions/lift", "support", "suppression.lift"],
  ["GET", "/internal/mail/inbound", "read"],
  ["GET", "/internal/mail/inbound/{inboundMailId}", "read"],
  ["POST", "/internal/mail/inbound/{inboundMailId}/content", "money", "inbound-mail.read"],
  ["POST", "/internal/mail/inbound/{inboundMailId}/replay", "support", "inbound-mail.replay"],
  ["POST", "/internal/mail/inbound/{inboundMailId}/drop", "money", "inbound-mail.drop"],
  ["GET", "/internal/mail/outbound", "read"],
  ["POST", "/internal/mail/outbound/{messageId}/retry", "support", "outbound-message.retry"],
  ["POST", "/internal/mail/outbound/{messageId}/cancel", "money", "outbound-message.cancel"],
  ["GET", "/internal/webhooks", "read"],
  ["GET", "/internal/webhooks/redelivery", "read"],
  ["POST", "/internal/webhooks/redeliver", "support", "webhooks.redeliver"],
  ["GET", "/internal/audit", "read"],
  ["GET", "/internal/operators", "read"],
  ["POST", "/internal/operators", "money", "operator.add"],
  ["POST", "/internal/operators/{name}/rotate", "money", "operator.rotate"],
  ["POST", "/internal/operators/{name}/remove", "money", "operator.remove"]
]

const UNKNOWN = "0190aaaa-0000-7000-8000-00000000dead"

const dataIn = <A>({ text }: TestAnswer): A => (JSON.parse(text) as { readonly data: A }).data

describe("operators with tokens of their own", () => {
  let server: TestServer
  const tokens = new Map<string, string>([["default", DEFAULT]])
  const as = (operator: string, headers: Readonly<Record<string, string>> = {}) => ({
    headers: { authorization: `Bearer ${tokens.get(operator)}`, ...headers }
  })
  const post = (path: string, body?: unknown, operator = "default", headers = {}) =>
    call(server, "POST", path, { ...as(operator, headers), ...(body === undefined ? {} : { body }) })
  const get = (path: string, operator = "default") => call(server, "GET", path, as(operator))
  const add = async (name: string, role: string, more = {}) => {
    const { token, ...added } = dataIn<{ readonly token: string }>(
      await post("/internal/operators", { name, role, ...more })
    )
    tokens.set(name, token)
    return added
  }
  const audit = async (query = "") => dataIn<Page<AuditReport>>(await get(`/internal/audit?limit=100${query}`)).items

  beforeAll(async () => {
    server = await startServer({ operatorToken: DEFAULT })
    for (const role of ROLES) await add(`${role}-er`, role)
  })
  afterAll(() => server.stop())

  it("may call the routes of their role, and each attempt to change something leaves one record", async () => {
    for (const [index, [method, path, needed, action]] of ROUTES.entries()) {
      for (const role of ROLES) {
        const target = `x${index}-${role}`
        const named = path.replace(/\{\w+\}/, target)
        const before = await audit(`&actor=${role}-er`)
        const answer = await call(server, method, named, as(`${role}-er`))
        const isAllowed = ROLES.indexOf(role) >= ROLES.indexOf(needed)
        const name = `${method} ${path} as ${role}`
        assert.strictEqual(answer.status === 403, !isAllowed, name)
        if (!isAllowed) {
          assert.deepInclude(errorOf(answer), {
            code: "FORBIDDEN",
            message: `The operator ${role}-er has the role ${role}. This route needs ${needed}. Nothing was changed.`
          })
        }
        const records = (await audit(`&actor=${role}-er`)).slice(0, action === undefined ? 0 : 1)
        assert.lengthOf(await audit(`&actor=${role}-er`), before.length + records.length, name)
        if (action === undefined) continue
        assert.deepInclude(records[0], {
          actor: `${role}-er`,
          action,
          target: path.includes("{") ? target : action === "sales.start" && isAllowed ? "all" : null,
          outcome: answer.status === 200 ? "succeeded" : "failed"
        })
        if (!isAllowed) assert.include(records[0]?.failure, "OperatorForbidden")
      }
    }
  })

  it("are the callers of every route that there is", async () => {
    const unlisted = (await server.operatorRoutes()).filter(
      (route) => !ROUTES.some(([method, path]) => route === `${method} ${path}`)
    )
    assert.deepStrictEqual([unlisted, (await server.operatorRoutes()).length], [[], ROUTES.length])
  })

  it("are named in the record of a change, with its reason and the fields before and after", async () => {
    const { wallet } = await newTenant(server)
    const path = `/internal/tenants/${wallet}`
    await post(`${path}/suspend`, { reason: "Sends spam" }, "support-er")
    await post(`${path}/resume`, undefined, "support-er", { "x-operator-reason": "It was a mistake" })
    const [resumed, suspended] = await audit(`&target=${wallet}`)
    assert.deepInclude(suspended, {
      action: "tenant.suspend",
      reason: "Sends spam",
      outcome: "succeeded",
      failure: null
    })
    assert.deepInclude(resumed, { actor: "support-er", reason: "It was a mistake", before: suspended?.after })
    assert.include(JSON.stringify(suspended?.after), "Sends spam")
    assert.deepStrictEqual(resumed?.after, { suspension: null })

    await post(`${path}/suspend`, { reason: "Sends spam" }, "support-er", { "x-operator-reason": "Complaint 17" })
    assert.include((await audit(`&target=${wallet}`))[0]?.reason, "Complaint 17")
    // As bytes, which a header consists of.
    for (const encoding of ["utf8", "latin1"] as const) {
      const reason = Buffer.from("Rückfrage", encoding).toString("latin1")
      await post(`${path}/resume`, undefined, "support-er", { "x-operator-reason": reason })
      assert.strictEqual((await audit(`&target=${wallet}`))[0]?.reason, "Rückfrage")
    }

    await post("/internal/selling/stop", { service: "email.mailbox.create", reason: "Moving" }, "money-er")
    await post("/internal/selling/start", { service: "email.mailbox.create" }, "money-er")
    const [started] = await audit("&actor=money-er")
    assert.deepInclude(started, { action: "sales.start", target: "email.mailbox.create", after: [] })
    assert.lengthOf(started?.before as ReadonlyArray<unknown>, 1)
  })

  it("leave a record of a change that fails, or whose reason is refused", async () => {
    const target = UNKNOWN
    await post(`/internal/operations/${target}/retry`)
    await post(`/internal/operations/${target}/retry`, undefined, "default", { "x-operator-reason": "x".repeat(501) })
    const [refused, unknown] = await audit(`&target=${target}`)
    assert.deepInclude(unknown, { outcome: "failed", failure: "ResourceNotFound", before: null, after: null })
    assert.deepInclude(refused, { outcome: "failed", reason: null })
    assert.include(refused?.failure, "x-operator-reason")
    await post(`/internal/operations/${target.toUpperCase()}/retry`)
    for (const name of [target, target.toUpperCase()]) assert.lengthOf(await audit(`&target=${name}`), 3)
    const job = await post("/internal/jobs/event-expiry/run", undefined, "support-er")
    assert.strictEqual(job.status, 200)
    assert.lengthOf(await audit("&target=event-expiry"), 1)
  })

  it("leave a record that names its target also if the change fails and only its body named it", async () => {
    for (const [path, body, action, target] of [
      ["/internal/selling/stop", { network: "eip155:9", reason: "The chain has halted" }, "sales.stop", "eip155:9"],
      ["/internal/operators", { name: "read-er", role: "read" }, "operator.add", "read-er"],
      [
        "/internal/webhooks/redeliver",
        { since: "2026-01-31T12:00:00Z", webhookId: UNKNOWN },
        "webhooks.redeliver",
        UNKNOWN
      ]
    ] as const) {
      assert.include([400, 404, 409], (await post(path, body)).status, path)
      assert.deepInclude((await audit())[0], { action, target, outcome: "failed" })
    }
  })

  it("keep the record of a change out of the audit if the change is undone", async () => {
    const records = await audit()
    const added = await post("/internal/operators", { name: "read-er", role: "money" })
    assert.deepStrictEqual([added.status, errorOf(added).code], [409, "CONFLICT"])
    const [failed] = await audit()
    assert.lengthOf(await audit(), records.length + 1)
    assert.deepInclude(failed, { action: "operator.add", outcome: "failed", after: null })
  })

  it("are added, listed and removed without a restart, and no answer or log repeats a token", async () => {
    const added = await add("ada", "read", { expiresInDays: 30 })
    const listed = dataIn<{
      readonly items: ReadonlyArray<{ readonly name: string; readonly expiresAt: string | null }>
    }>(await get("/internal/operators")).items
    assert.deepStrictEqual(
      listed.find(({ name }) => name === "ada"),
      added
    )
    assert.strictEqual((await get("/internal/jobs", "ada")).status, 200)
    const before = tokens.get("ada") ?? ""
    tokens.set("ada", dataIn<{ readonly token: string }>(await post("/internal/operators/ada/rotate")).token)
    assert.strictEqual((await get("/internal/jobs", "ada")).status, 200)
    const old = { headers: { authorization: `Bearer ${before}` } }
    assert.strictEqual((await call(server, "GET", "/internal/jobs", old)).status, 401)
    assert.strictEqual((await post("/internal/operators/ada/remove")).status, 200)
    assert.strictEqual((await get("/internal/jobs", "ada")).status, 401)
    assert.strictEqual((await post("/internal/operators/ada/remove")).status, 404)
    for (const text of [...server.logs, JSON.stringify(await audit())]) {
      assert.notInclude(text, before)
      assert.notInclude(text, operatorTokenDigest(before))
    }
    for (const name of ["default", "Ada", "a b", ""]) {
      assert.strictEqual((await post("/internal/operators", { name, role: "read" })).status, 400, name)
    }
  })
})
