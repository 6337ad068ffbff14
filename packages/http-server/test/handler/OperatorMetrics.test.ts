import {
  InboundMailStore,
  JobStore,
  MessageRetryStore,
  NO_MESSAGE_YET,
  OperationStore,
  TenantStore,
  Timestamp,
  walletAddress
} from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { vi } from "vitest"
import { WebSocket } from "ws"
import { readMetrics, type Sample } from "../support/PrometheusText.ts"
import {
  call,
  callPaid,
  dataOf,
  errorOf,
  fresh,
  freshWallet,
  newTenant,
  payFor,
  textAt
} from "../support/TestClient.ts"
import { startServer, type TestServer } from "../support/TestServer.ts"
import {
  answerCall,
  ask,
  CARRIER_TOKEN,
  newNumber,
  placeCall,
  PUBLIC_URL,
  RelayClient
} from "../ingress/CarrierClient.ts"

const TOKEN = "0123456789abcdef0123456789abcdef"
const HEADERS = { headers: { authorization: `Bearer ${TOKEN}` } }

const scrape = async (server: TestServer): Promise<ReadonlyArray<Sample>> => {
  const answer = await call(server, "GET", "/internal/metrics", HEADERS)
  assert.strictEqual(answer.status, 200)
  assert.strictEqual(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
  return readMetrics(answer.text)
}

/** Returns the samples of a name that have at least these labels. */
const all = (samples: ReadonlyArray<Sample>, name: string, labels: Sample["labels"] = {}) =>
  samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  )

/** Returns the value of the only sample of a name with these labels; 0 before the first sample. */
const valueOf = (samples: ReadonlyArray<Sample>, name: string, labels: Sample["labels"] = {}): number => {
  const found = all(samples, name, labels)
  assert.isAtMost(found.length, 1)
  return found[0]?.value ?? 0
}

/** Returns the increase of a counter between two scrapes. Metrics belong to the process, so only differences count. */
const gained = (before: ReadonlyArray<Sample>, after: ReadonlyArray<Sample>, name: string, labels: Sample["labels"]) =>
  valueOf(after, name, labels) - valueOf(before, name, labels)

const MEBIBYTE = 1024 * 1024
const PATIENCE = { timeout: 60_000, interval: 50 }

const openSocket = async (server: TestServer, token: string) => {
  const data = dataOf(await call(server, "GET", "/api/v1/events/realtime-token", { token }))
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/v1/events/socket`)
  const messages: Array<{ readonly type: string; readonly event?: { readonly eventId: string } }> = []
  socket.on("message", (text: Buffer) => messages.push(JSON.parse(text.toString()) as (typeof messages)[number]))
  await once(socket, "open")
  socket.send(JSON.stringify({ type: "session.authenticate", token: textAt(data, "realtime", "token") }))
  await vi.waitFor(
    () =>
      assert.include(
        messages.map(({ type }) => type),
        "session.replay.complete"
      ),
    PATIENCE
  )
  return { socket, messages }
}

describe("the metrics for the operator", () => {
  it("count requests by route, method and status, and measure their duration", async () => {
    const server = await startServer({ operatorToken: TOKEN })
    const before = await scrape(server)
    const { token } = await newTenant(server)
    await call(server, "GET", "/api/v1/services/email.mailbox.create")
    await call(server, "GET", "/api/v1/services/no.such.service")
    for (const path of ["/a", "/b", "/api/v1/services/a/b"]) await call(server, "GET", path, { token })
    await call(server, "PROPFIND", "/a")
    const after = await scrape(server)
    await server.stop()
    const requests = (route: string, method: string, status: string) =>
      gained(before, after, "agentos_http_requests_total", { route, method, status })
    assert.strictEqual(requests("/api/v1/email/mailboxes", "POST", "402"), 1)
    assert.strictEqual(requests("/api/v1/email/mailboxes", "POST", "201"), 1)
    assert.strictEqual(requests("/api/v1/services/{serviceId}", "GET", "200"), 1)
    assert.strictEqual(requests("/api/v1/services/{serviceId}", "GET", "404"), 1)
    assert.strictEqual(requests("none", "GET", "404"), 3)
    assert.strictEqual(requests("none", "other", "404"), 1)
    assert.strictEqual(requests("/internal/metrics", "GET", "200"), 1)
    const name = "agentos_http_request_duration_seconds"
    const labels = { route: "/api/v1/email/mailboxes" }
    assert.strictEqual(gained(before, after, `${name}_count`, labels), 2)
    assert.isAbove(gained(before, after, `${name}_sum`, labels), 0)
    const buckets = all(after, `${name}_bucket`, labels)
    assert.strictEqual(buckets.at(-1)?.labels["le"], "+Inf")
    assert.strictEqual(buckets.at(-1)?.value, valueOf(after, `${name}_count`, labels))
    for (const [index, bucket] of buckets.entries()) {
      if (index > 0) assert.isAtLeast(bucket.value, buckets[index - 1]!.value)
    }
  })

  it("report sockets, sessions, deliveries and the outcomes of acknowledgements", async () => {
    const server = await startServer({ operatorToken: TOKEN })
    const { token, wallet } = await newTenant(server)
    const { messages, socket } = await openSocket(server, token)
    const before = await scrape(server)
    await server.append(wallet, [fresh("event"), fresh("event")])
    const events = () => messages.flatMap(({ event }) => (event === undefined ? [] : [event.eventId]))
    const replayed = events().length
    await vi.waitFor(() => assert.lengthOf(events(), replayed + 2), PATIENCE)
    socket.send(JSON.stringify({ type: "event.ack", eventId: events()[0] }))
    socket.send(JSON.stringify({ type: "event.ack", eventId: crypto.randomUUID() }))
    await vi.waitFor(
      () =>
        assert.include(
          messages.map(({ type }) => type),
          "error"
        ),
      PATIENCE
    )
    const there = await vi.waitFor(async () => {
      const samples = await scrape(server)
      assert.strictEqual(valueOf(samples, "agentos_realtime_sockets"), 1)
      // Both are of the last second, in which the socket may have opened before its session.
      assert.strictEqual(valueOf(samples, "agentos_realtime_sessions", { mode: "deliver" }), 1)
      return samples
    }, PATIENCE)
    assert.strictEqual(valueOf(there, "agentos_realtime_sessions", { mode: "observe" }), 0)
    assert.strictEqual(gained(before, there, "agentos_realtime_deliveries_total", {}), 2)
    assert.strictEqual(gained(before, there, "agentos_event_delivery_seconds_count", {}), 2)
    const acknowledged = (outcome: string) =>
      gained(before, there, "agentos_realtime_acknowledgements_total", { outcome })
    assert.strictEqual(acknowledged("acknowledged"), 1)
    assert.strictEqual(acknowledged("missing"), 1)
    socket.close()
    await vi.waitFor(
      async () => assert.strictEqual(valueOf(await scrape(server), "agentos_realtime_sockets"), 0),
      PATIENCE
    )
    await server.stop()
  })

  it("report active call relays, and those that broke", async () => {
    const server = await startServer({ operatorToken: TOKEN, carrierToken: CARRIER_TOKEN, publicUrl: PUBLIC_URL })
    const placed = await placeCall(server, await newNumber(server))
    const before = await scrape(server)
    const led = async () => gained(before, await scrape(server), "agentos_call_relays", {})
    const relay = new RelayClient(server.port, (await answerCall(server, placed)).relay)
    assert.strictEqual(await relay.status, 101)
    relay.setUp(placed.providerCallId)
    await vi.waitFor(async () => assert.strictEqual(await led(), 1), PATIENCE)
    relay.socket.terminate()
    await vi.waitFor(async () => assert.strictEqual(await led(), 0), PATIENCE)
    const end = { CallSid: placed.providerCallId, CallStatus: "in-progress", SessionStatus: "failed" }
    await ask(server, `/webhooks/twilio/resume/${placed.callId}`, end)
    const after = await scrape(server)
    await server.stop()
    assert.strictEqual(gained(before, after, "agentos_call_relays_broken_total", {}), 1)
  })

  it("count the prices of sales, from the start", async () => {
    const server = await startServer({ operatorToken: TOKEN })
    const before = await scrape(server)
    assert.isAtLeast(valueOf(before, "agentos_money_usdt_total", { account: "refunded" })!, 0)
    await newTenant(server)
    const sold = gained(before, await scrape(server), "agentos_money_usdt_total", { account: "fulfilled" })
    await server.stop()
    assert.closeTo(sold, 0.25, 1e-6)
  })

  it("report jobs and open operations, and omit final operations", async () => {
    const server = await startServer({ operatorToken: TOKEN })
    const { mailboxId, token, wallet } = await newTenant(server)
    const done = await scrape(server)
    assert.deepStrictEqual(all(done, "agentos_operations_open"), [])
    assert.strictEqual(valueOf(done, "agentos_database_up"), 1)

    const path = "/api/v1/email/messages/send"
    const request = { body: { mailboxId, to: ["a@example.com"], subject: "s", text: "t" }, token }
    const headers = await payFor(server, path, request, wallet)
    server.sendScript.push("Temporary")
    const paidAt = performance.now()
    await call(server, "POST", path, { ...request, headers })
    const open = await scrape(server)
    const openSeconds = (performance.now() - paidAt) / 1_000
    assert.strictEqual(valueOf(open, "agentos_operations_open", { state: "fulfilling" }), 1)
    const oldestSeconds = valueOf(open, "agentos_operations_open_oldest_seconds", { state: "fulfilling" })
    assert.isAtMost(oldestSeconds, Math.ceil(openSeconds))

    const job = { job: "event-expiry" }
    assert.strictEqual(valueOf(open, "agentos_job_runs_total", job), 0)
    const runAt = Math.floor(Date.now() / 1_000)
    await call(server, "POST", "/internal/jobs/event-expiry/run", HEADERS)
    assert.strictEqual((await call(server, "POST", path, { ...request, headers })).status, 201)
    await scrape(server)
    const run = await scrape(server)
    await server.stop()
    assert.deepStrictEqual(all(run, "agentos_operations_open"), [])
    assert.strictEqual(valueOf(run, "agentos_job_runs_total", job), 1)
    assert.strictEqual(valueOf(run, "agentos_job_failures_total", job), 0)
    assert.strictEqual(valueOf(run, "agentos_job_running", job), 0)
    assert.strictEqual(valueOf(run, "agentos_job_overdue_seconds", job), 0)
    const succeededAt = valueOf(run, "agentos_job_last_success_timestamp_seconds", job)
    assert.isTrue(runAt <= succeededAt && succeededAt <= Date.now() / 1_000, `${succeededAt}`)
    const jobs = (name: string) => all(run, name).map(({ labels }) => labels["job"])
    assert.isAtLeast(jobs("agentos_job_runs_total").length, 2)
    assert.deepStrictEqual(jobs("agentos_job_done_total"), jobs("agentos_job_runs_total"))
  })

  it("report the debts to payers by token, from the start and until it is refunded", async () => {
    const server = await startServer({ operatorToken: TOKEN })
    const { mailboxId, token, wallet } = await newTenant(server)
    const due = async () =>
      all(await scrape(server), "agentos_refunds_due_usdt").map(({ labels, value }) => ({ labels, value }))
    const labels = { network: "eip155:402402", asset: "0x00000000000000000000000000000000000000a1" }
    assert.deepStrictEqual(await due(), [{ labels, value: 0 }])

    const path = "/api/v1/email/messages/send"
    server.payments.refunding.mode = "no wallet"
    for (const to of ["a@example.com", "b@example.com"]) {
      server.sendScript.push("Rejected")
      const request = { body: { mailboxId, to: [to], subject: "s", text: "t" }, token }
      assert.strictEqual(errorOf(await callPaid(server, path, request, wallet)).paymentState, "refund_due")
    }
    const paid = server.payments.log.slice(-2).reduce((sum, { amount }) => sum + Number(amount), 0)
    assert.isAbove(paid, 0)
    assert.deepStrictEqual(await due(), [{ labels, value: paid / 1e6 }])
    assert.strictEqual(valueOf(await scrape(server), "agentos_operations_open", { state: "refund_due" }), 2)
    server.payments.change({ extra: { decimals: 8 } })
    assert.deepStrictEqual(await due(), [{ labels, value: paid / 1e8 }])

    const refund = Effect.gen(function* () {
      const { advance, list, takeOver } = yield* OperationStore
      for (const { operationId } of yield* list({ state: "refund_due", limit: 2 })) {
        const taken = Option.getOrThrow(yield* takeOver(operationId, 1_000))
        yield* advance(taken, { to: "refunded", change: {}, next: { kind: "none" } })
      }
    })
    await server.run(refund)
    assert.deepStrictEqual(await due(), [{ labels, value: 0 }])
    await server.stop()
  })

  it("report outbound messages that wait, and how long the first is overdue", async () => {
    const server = await startServer({ operatorToken: TOKEN })
    const { mailboxId, token, wallet } = await newTenant(server)
    const waiting = async () => {
      const samples = await scrape(server)
      const states = all(samples, "agentos_messages_waiting").map(({ labels, value }) => [labels["state"], value])
      const [overdue] = all(samples, "agentos_messages_overdue_seconds")
      return { ...Object.fromEntries(states), overdue: Math.floor(overdue!.value / 60) }
    }
    assert.deepStrictEqual(await waiting(), { scheduled: 0, deferred: 0, overdue: 0 })

    const sendAt = new Date(Date.now() + 3_600_000).toISOString()
    const body = { mailboxId, to: ["a@example.com"], subject: "s", text: "t", sendAt }
    assert.strictEqual((await callPaid(server, "/api/v1/email/messages/send", { body, token }, wallet)).status, 201)
    assert.deepStrictEqual(await waiting(), { scheduled: 1, deferred: 0, overdue: 0 })

    const late = Effect.gen(function* () {
      const { findByWallet } = yield* TenantStore
      const { tenantId } = Option.getOrThrow(yield* findByWallet(walletAddress(wallet)))
      yield* (yield* MessageRetryStore).schedule(crypto.randomUUID(), tenantId, -10 * 60_000)
    })
    await server.run(late)
    assert.deepStrictEqual(await waiting(), { scheduled: 1, deferred: 1, overdue: 10 })
    await server.stop()
  })

  it("report accepted mail and due webhooks that wait", async () => {
    const server = await startServer({ operatorToken: TOKEN })
    const { mailboxId, token } = await newTenant(server)
    const waiting = async () => {
      const samples = await scrape(server)
      const of = (name: string) => Math.floor(valueOf(samples, name))
      return [
        [of("agentos_inbound_mails_waiting"), of("agentos_inbound_mails_oldest_seconds") / 60],
        [of("agentos_inbound_mails_failing")],
        [of("agentos_webhooks_due"), of("agentos_webhooks_overdue_seconds")]
      ]
    }
    const none = [0, 0]
    assert.deepStrictEqual(await waiting(), [none, [0], none])
    const accept = Effect.gen(function* () {
      const mail = {
        inboundMailId: crypto.randomUUID(),
        envelope: { mailFrom: "", rcptTo: [], remoteAddress: "192.0.2.1", helo: "a.example", secure: false },
        raw: new Uint8Array(9),
        receivedAt: Timestamp.add(yield* Timestamp.now, -10 * Timestamp.MINUTE),
        attempts: 0
      }
      const store = yield* InboundMailStore
      yield* store.add([{ mail, mailboxIds: [mailboxId], leaseMillis: Timestamp.MINUTE }])
      return (failure: string) => store.postpone(mail, Timestamp.MINUTE, failure)
    })
    const fail = await server.run(accept)
    assert.deepStrictEqual(await waiting(), [[1, 10], [0], none])
    assert.isTrue(await server.run(fail(NO_MESSAGE_YET)))
    assert.deepStrictEqual(await waiting(), [[1, 10], [0], none])
    assert.isTrue(await server.run(fail("the database refused")))
    const set = await call(server, "POST", "/api/v1/events/webhook", { body: { url: "https://agent.example/" }, token })
    assert.strictEqual(set.status, 201)
    assert.deepStrictEqual(await waiting(), [[1, 10], [1], [1, 0]])
    await server.stop()
  })

  it("report memory, processor time, descriptors and a blocked event loop of the process", async () => {
    const server = await startServer({ operatorToken: TOKEN })
    const before = await scrape(server)
    const files = Array.from({ length: 50 }, () => openSync("/dev/null", "r"))
    const bytes = Buffer.alloc(256 * MEBIBYTE, 1)
    await sleep(100)
    const until = performance.now() + 400
    while (performance.now() < until) continue
    await sleep(100)
    const after = await scrape(server)
    files.forEach(closeSync)
    const closed = await scrape(server)
    await server.stop()
    assert.lengthOf(bytes, 256 * MEBIBYTE)
    const grown = (name: string) => gained(before, after, name, {})
    assert.isAbove(valueOf(before, "process_resident_memory_bytes"), 32 * MEBIBYTE)
    assert.isAbove(grown("process_resident_memory_bytes"), 128 * MEBIBYTE)
    assert.isAbove(valueOf(before, "nodejs_heap_size_used_bytes"), MEBIBYTE)
    assert.isBelow(valueOf(after, "nodejs_heap_size_used_bytes"), valueOf(after, "process_resident_memory_bytes"))
    assert.isAbove(valueOf(before, "process_cpu_seconds_total"), 0)
    assert.isAbove(grown("process_cpu_seconds_total"), 0.1)
    assert.lengthOf(all(before, "nodejs_eventloop_lag_p99_seconds"), 1)
    assert.isAtLeast(valueOf(after, "nodejs_eventloop_lag_p99_seconds"), 0.3)
    const lags = [closed, after].map((samples) => valueOf(samples, "nodejs_eventloop_lag_p99_seconds"))
    assert.isBelow(lags[0]!, lags[1]!, "each answer begins a new window")
    if (process.platform !== "linux") return assert.deepStrictEqual(all(before, "process_open_fds"), [])
    assert.isAtLeast(grown("process_open_fds"), 45)
    assert.isAtMost(gained(after, closed, "process_open_fds", {}), -45)
    const limit = Number(execFileSync("sh", ["-c", "ulimit -n"]))
    assert.strictEqual(valueOf(before, "process_max_fds"), limit)
  })

  it("contain no tenant, address or secret", async () => {
    const server = await startServer({ operatorToken: TOKEN })
    const tenant = await newTenant(server)
    const path = `/api/v1/events/${crypto.randomUUID()}/ack`
    await call(server, "POST", path, { token: tenant.token })
    await callPaid(server, "/api/v1/email/mailboxes", { body: { localPart: fresh("box") } }, freshWallet())
    const { text } = await call(server, "GET", "/internal/metrics", HEADERS)
    await server.stop()
    assert.notInclude(text, "127.0.0.1")
    for (const secret of [TOKEN, ...Object.values(tenant), path]) assert.notInclude(text, secret)
    // A token's contract is public. Metrics belong to the process, so those of other tests appear, too.
    const ofOthers = text.replaceAll(/,?asset="0x[0-9a-f]{40}"/g, "")
    assert.isEmpty(ofOthers.match(/[0-9a-f]{8}-[0-9a-f]{4}|0x[0-9a-f]{8}/g) ?? [])
  })

  it("are available without the store, and report that it is down", async () => {
    const away = Effect.die(new Error("the store is away"))
    const jobStore = JobStore.of({ take: () => away, renew: () => away, finish: () => away, list: away })
    const server = await startServer({ operatorToken: TOKEN, jobStore })
    const samples = await scrape(server)
    const jobs = await call(server, "GET", "/internal/jobs", HEADERS)
    await server.stop()
    assert.strictEqual(valueOf(samples, "agentos_database_up"), 0)
    assert.deepStrictEqual(all(samples, "agentos_job_runs_total"), [])
    assert.isAbove(all(samples, "agentos_http_requests_total").length, 0)
    assert.deepStrictEqual([jobs.status, errorOf(jobs).code], [500, "INTERNAL_ERROR"])
  })
})
