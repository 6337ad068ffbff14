import { randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Agent, freshName } from "../support/Agent.ts"
import { type Sandbox, startSandbox } from "../support/Sandbox.ts"
import { type CollectedSpan, startTraceCollector } from "../support/TraceCollector.ts"

type Description = Awaited<ReturnType<Sandbox["describe"]>>

let collector: Awaited<ReturnType<typeof startTraceCollector>>
let sandbox: Sandbox
let description: Description

beforeAll(async () => {
  collector = await startTraceCollector()
  sandbox = await startSandbox({
    environment: {
      AGENTOS_TRACES_URL: collector.url,
      AGENTOS_TRACES_HEADERS: "authorization=Bearer%20receiver",
      AGENTOS_TRACES_ONE_IN: "1"
    }
  })
  description = await sandbox.describe()
})

afterAll(async () => {
  await sandbox.stop()
  await collector.close()
})

const agentOf = () => new Agent(description, description.wallets[0]!.privateKey)

/** The part of a client's trace that it sends along: its id, and the span that makes the request. */
const newParent = () => {
  const [traceId, spanId] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")]
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } }
}

const named = (spans: ReadonlyArray<CollectedSpan>, name: string) => spans.filter((span) => span.name === name)

const attributeOf = ({ attributes }: CollectedSpan, key: string) =>
  Object.values(attributes.find((attribute) => attribute.key === key)?.value ?? {})[0]

/** The beginning of every access token. */
const AT_TOKEN = "at_v1_"

const ROUTE = "POST /api/v1/email/mailboxes"

describe("the trace of a purchase", () => {
  it("is that of its client, and a tree from the request to the database, the chain and the facilitator", async () => {
    const agent = agentOf()
    const { headers, spanId, traceId } = newParent()
    const localPart = freshName()
    const request = { path: "/api/v1/email/mailboxes", body: { localPart } }
    const signature = await agent.payment(request)
    const reply = await agent.replay({ ...request, headers }, signature, freshName())
    expect(reply.status).toBe(201)
    await expect.poll(() => named(collector.inTrace(traceId), ROUTE)).toHaveLength(1)
    const spans = collector.inTrace(traceId)
    const [root] = named(spans, ROUTE)
    expect(root).toMatchObject({ parentSpanId: spanId, kind: 2 })
    expect([
      attributeOf(root!, "http.response.status_code"),
      attributeOf(root!, "http.route"),
      attributeOf(root!, "agentos.request_id")
    ]).toEqual([201, "/api/v1/email/mailboxes", reply.headers.get("x-request-id")])
    const ids = new Set(spans.map((span) => span.spanId))
    for (const span of spans) if (span !== root) expect(ids).toContain(span.parentSpanId)
    for (const name of ["payment.verify", "payment.simulate", "payment.settle", "operation claimed", "sql.transaction"])
      expect(spans.map((span) => span.name)).toContain(name)
    const log = await readFile(join(sandbox.directory, "logs", "server.log"), "utf8")
    expect(log).toContain(`"traceId":"${traceId}"`)
    for (const { headers: sent } of collector.requests) expect(sent["authorization"]).toBe("Bearer receiver")
    const exported = collector.requests.map(({ text }) => text.toLowerCase()).join("\n")
    for (const secret of [localPart, agent.account.address, signature, AT_TOKEN])
      expect(exported).not.toContain(secret.toLowerCase())
  })

  it("continues while it is completed without its client", async () => {
    const agent = agentOf()
    const { headers, traceId } = newParent()
    const request = { path: "/api/v1/email/mailboxes", body: { localPart: freshName() } }
    const signature = await agent.payment(request)
    const armed = await fetch(`${description.facilitatorUrl}/sandbox/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ operation: "settle", mode: "before" })
    })
    expect(armed.ok).toBe(true)
    const reply = await agent.replay({ ...request, headers }, signature, freshName())
    expect(reply.body.error.code).toBe("PAYMENT_PENDING")
    const continuations = () => named(collector.inTrace(traceId), "complete operation")
    await expect.poll(continuations).not.toEqual([])
    const claiming = named(collector.inTrace(traceId), ROUTE).map(({ spanId }) => spanId)
    for (const { parentSpanId } of continuations())
      expect(collector.inTrace(traceId).map(({ spanId }) => spanId)).toContain(parentSpanId)
    expect(claiming).toHaveLength(1)
  })

  it("begins here if its client does not record the one that it names", async () => {
    const { traceId } = newParent()
    const unrecorded = await agentOf().send({
      path: "/api/v1/services",
      headers: { traceparent: `00-${traceId}-${"a".repeat(16)}-00` }
    })
    expect(unrecorded.status).toBe(200)
    const ofRequest = (id: string | null) =>
      collector.spans.filter((span) => attributeOf(span, "agentos.request_id") === id)
    await expect.poll(() => ofRequest(unrecorded.headers.get("x-request-id"))).toHaveLength(1)
    expect(collector.inTrace(traceId)).toEqual([])
  })
})
