import { assert, describe, it } from "@effect/vitest"
import { RateLimitStore } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { Effect } from "effect"
import { vi } from "vitest"
import { call, callPaid, errorOf, freshWallet, newTenant, payFor, type TestAnswer } from "../support/TestClient.ts"
import { startServer, type TestServer, type TestServerOptions } from "../support/TestServer.ts"

/** Refills so slowly that nothing is refilled during a test. */
const ONE_A_QUARTER_HOUR = 0.001
const burstOf = (burst: number) => ({ burst, perSecond: ONE_A_QUARTER_HOUR })

const PROXY = ["127.0.0.0/8", "::1/128"]
const from = (...addresses: ReadonlyArray<string>) => ({ headers: { "x-forwarded-for": addresses.join(", ") } })

const withServer = async <A>(options: TestServerOptions, use: (server: TestServer) => Promise<A>): Promise<A> => {
  const server = await startServer(options)
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

const answersOf = async (count: number, request: (index: number) => Promise<TestAnswer>) => {
  const answers: Array<TestAnswer> = []
  for (let index = 0; index < count; index++) answers.push(await request(index))
  return answers
}

const statusesOf = async (count: number, request: (index: number) => Promise<TestAnswer>) =>
  (await answersOf(count, request)).map(({ status }) => status)

/** Returns the number of catalog requests that an address may still make. */
const leftOf = async (server: TestServer, address: string) => {
  const answer = await call(server, "GET", "/api/v1", from(address))
  return answer.status === 429 ? 0 : Number(/"address";r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]) + 1
}

describe("rate limiting", () => {
  it("returns the limit and the retry delay when an address exceeds its limit, except for health checks", async () => {
    const { health, limited, statuses } = await withServer({ rateLimit: burstOf(5) }, async (server) => ({
      statuses: await statusesOf(5, () => call(server, "GET", "/api/v1")),
      limited: await call(server, "GET", "/api/v1"),
      health: await call(server, "GET", "/health/ready")
    }))
    assert.deepStrictEqual(statuses, [200, 200, 200, 200, 200])
    assert.strictEqual(limited.status, 429)
    const error = errorOf(limited)
    assert.deepInclude(error, { code: "RATE_LIMITED", retryable: true })
    assert.match(error.message, /^Rate limit exceeded: 5 requests in 5000 s from one address\. Retry in \d+ s\.$/)
    assert.isAtLeast(Number(limited.headers.get("retry-after")), 900)
    assert.strictEqual(health.status, 200)
    assert.isNull(health.headers.get("ratelimit"))
  })

  it("shows the limits and the remaining quota on every limited response", async () => {
    const { anonymous, limited, ofTenant } = await withServer({ rateLimit: burstOf(20) }, async (server) => {
      const { token } = await newTenant(server)
      const anonymousAnswer = await call(server, "GET", "/api/v1")
      const tenantAnswer = await call(server, "GET", "/api/v1/events", { token })
      await statusesOf(20, () => call(server, "GET", "/api/v1"))
      return { anonymous: anonymousAnswer, ofTenant: tenantAnswer, limited: await call(server, "GET", "/api/v1") }
    })
    assert.strictEqual(anonymous.headers.get("ratelimit-policy"), '"address";q=20;w=20000')
    assert.match(anonymous.headers.get("ratelimit") ?? "", /^"address";r=14;t=\d+$/)
    assert.strictEqual(ofTenant.headers.get("ratelimit-policy"), '"address";q=20;w=20000, "tenant";q=20;w=20000')
    assert.match(ofTenant.headers.get("ratelimit") ?? "", /^"address";r=13;t=\d+, "tenant";r=19;t=\d+$/)
    assert.strictEqual(limited.status, 429)
    assert.match(limited.headers.get("ratelimit") ?? "", /^"address";r=0;t=\d+$/)
    assert.include(limited.headers.get("access-control-expose-headers"), "RateLimit, RateLimit-Policy")
  })

  it("counts refusals by the rule that refused", async () => {
    const token = "o".repeat(32)
    const refusals = async (server: TestServer) => {
      const { text } = await call(server, "GET", "/internal/metrics", { token, ...from("198.51.100.2") })
      return Number(/^agentos_rate_limit_refusals_total\{rule="address"\} (\d+)$/m.exec(text)?.[1] ?? 0)
    }
    const options = { rateLimit: burstOf(3), trustedProxies: PROXY, operatorToken: token }
    // Metrics belong to the process, so requests of other tests count, too.
    const counted = await withServer(options, async (server) => {
      const before = await refusals(server)
      await statusesOf(5, () => call(server, "GET", "/api/v1", from("198.51.100.1")))
      return (await refusals(server)) - before
    })
    assert.strictEqual(counted, 2)
  })

  it("refuses a request before its body is read", async () => {
    const answer = await withServer({ rateLimit: burstOf(1) }, async (server) => {
      await call(server, "GET", "/api/v1")
      return await call(server, "POST", "/api/v1/email/mailboxes", { body: "{not json" })
    })
    assert.strictEqual(answer.status, 429)
  })

  it("counts requests whose headers are refused", async () => {
    const statuses = await withServer({ rateLimit: burstOf(2) }, (server) =>
      statusesOf(3, () =>
        call(server, "POST", "/api/v1/email/mailboxes", { body: "x", headers: { "content-type": "text/plain" } })
      )
    )
    assert.deepStrictEqual(statuses, [415, 415, 429])
  })

  it("states that nothing was charged, or that an earlier payment was not checked", async () => {
    const { fresh, repeated } = await withServer({ rateLimit: burstOf(7) }, async (server) => {
      const path = "/api/v1/email/mailboxes"
      const body = { localPart: "ada" }
      const headers = await payFor(server, path, { body }, freshWallet())
      assert.strictEqual((await call(server, "POST", path, { body, headers })).status, 201)
      await statusesOf(2, () => call(server, "GET", "/api/v1"))
      return {
        repeated: await call(server, "POST", path, { body, headers }),
        fresh: await call(server, "POST", path, { body })
      }
    })
    assert.deepStrictEqual([repeated.status, errorOf(repeated).paymentState], [429, "unknown"])
    assert.notInclude(errorOf(repeated).message, "Nothing was charged")
    assert.deepStrictEqual([fresh.status, errorOf(fresh).paymentState], [429, "none"])
    assert.include(errorOf(fresh).message, "Nothing was charged.")
  })

  it("limits a tenant across all its addresses", async () => {
    const statuses = await withServer({ rateLimit: burstOf(10), trustedProxies: PROXY }, async (server) => {
      const { token } = await newTenant(server)
      return await statusesOf(11, (index) =>
        call(server, "GET", "/api/v1/events", { token, ...from(`198.51.100.${index}`) })
      )
    })
    assert.deepStrictEqual(statuses, [...Array.from({ length: 10 }, () => 200), 429])
  })

  it("counts ten requests for setting an event webhook", async () => {
    const statuses = await withServer({ rateLimit: burstOf(25) }, async (server) => {
      const { token } = await newTenant(server)
      const body = { url: "https://agent.example/" }
      return await statusesOf(3, () => call(server, "POST", "/api/v1/events/webhook", { token, body }))
    })
    assert.deepStrictEqual(statuses, [201, 200, 429])
  })

  it("limits a tenant's payments, and does not query the chain for a payment beyond the limit", async () => {
    const path = "/api/v1/email/mailboxes"
    const body = { localPart: "ada" }
    const { paid, statuses } = await withServer({ rateLimit: burstOf(10), trustedProxies: PROXY }, async (server) => {
      const { token, wallet } = await newTenant(server)
      const headers = await payFor(server, path, { token, body, ...from("198.51.100.1") }, wallet)
      return {
        statuses: await statusesOf(10, (index) =>
          call(server, "POST", path, { token, body, ...from(`192.0.2.${index}`) })
        ),
        paid: await call(server, "POST", path, {
          token,
          body,
          headers: { ...headers, "x-forwarded-for": "198.51.100.2" }
        })
      }
    })
    assert.deepStrictEqual(statuses, [...Array.from({ length: 9 }, () => 402), 429])
    // If the chain had been queried, the state of the payment would be known.
    assert.deepStrictEqual([paid.status, errorOf(paid).paymentState], [429, "unknown"])
  })
})

/** A request with a payment that was signed elsewhere. */
const paymentFrom = async (server: TestServer, address: string) => {
  const request = { body: { localPart: "ada" }, ...from("198.51.100.9") }
  const signed = await payFor(server, "/api/v1/email/mailboxes", request, freshWallet())
  return { headers: { ...from(address).headers, "payment-signature": signed["payment-signature"] } }
}

describe("the cost of a request", () => {
  const options = { rateLimit: burstOf(100), trustedProxies: PROXY, operatorToken: "o".repeat(32) }
  const cases: ReadonlyArray<
    readonly [
      what: string,
      cost: number,
      status: number,
      request: (server: TestServer, address: string) => Promise<TestAnswer>
    ]
  > = [
    ["a document", 1, 200, (server, address) => call(server, "GET", "/llms.txt", from(address))],
    [
      "a challenge",
      1,
      402,
      (server, address) =>
        call(server, "POST", "/api/v1/email/mailboxes", { body: { localPart: "ada" }, ...from(address) })
    ],
    ["an unknown path", 5, 404, (server, address) => call(server, "GET", "/.env", from(address))],
    [
      "a method that a path does not take",
      5,
      405,
      (server, address) => call(server, "PUT", "/api/v1/events", from(address))
    ],
    [
      "a token that is not valid",
      10,
      401,
      (server, address) => call(server, "GET", "/api/v1/events", { token: "at_v1_guess", ...from(address) })
    ],
    [
      "a guessed operator token",
      10,
      401,
      (server, address) => call(server, "GET", "/internal/jobs", { token: "guess", ...from(address) })
    ],
    [
      "the status of a payment",
      4,
      200,
      async (server, address) => call(server, "POST", "/api/v1/payments/status", await paymentFrom(server, address))
    ],
    [
      "the status of a used payment that no operation holds, for which the chain is searched",
      40,
      200,
      async (server, address) => {
        const request = await paymentFrom(server, address)
        server.payments.useNonce(request.headers["payment-signature"])
        return await call(server, "POST", "/api/v1/payments/status", request)
      }
    ],
    [
      "a payment that is not valid",
      10,
      402,
      (server, address) =>
        call(server, "POST", "/api/v1/email/mailboxes", {
          body: { localPart: "ada" },
          headers: { "x-forwarded-for": address, "payment-signature": "e30=", "idempotency-key": "k" }
        })
    ]
  ]
  for (const [what, cost, status, request] of cases) {
    it(`is ${cost} for ${what}`, async () => {
      const { answer, left } = await withServer(options, async (server) => ({
        answer: await request(server, "198.51.100.1"),
        left: await leftOf(server, "198.51.100.1")
      }))
      assert.strictEqual(answer.status, status)
      assert.strictEqual(left, 100 - cost)
    })
  }

  it("is 5 for a challenge and its payment", async () => {
    const left = await withServer(options, async (server) => {
      const paid = await callPaid(
        server,
        "/api/v1/email/mailboxes",
        { body: { localPart: "ada" }, ...from("::1") },
        freshWallet()
      )
      assert.strictEqual(paid.status, 201)
      return await leftOf(server, "::1")
    })
    assert.strictEqual(left, 95)
  })

  it("remains as debt of an address that guesses tokens faster than its limit is refilled", async () => {
    const { honest, statuses } = await withServer({ ...options, rateLimit: burstOf(20) }, async (server) => ({
      statuses: await statusesOf(4, () =>
        call(server, "GET", "/api/v1/events", { token: "at_v1_guess", ...from("198.51.100.1") })
      ),
      honest: await call(server, "GET", "/api/v1", from("198.51.100.2"))
    }))
    assert.deepStrictEqual(statuses, [401, 401, 429, 429])
    assert.strictEqual(honest.status, 200)
  })
})

describe("the address of a client", () => {
  it("is the one reported by the last untrusted hop, even if the client adds more addresses", async () => {
    const statuses = await withServer({ rateLimit: burstOf(2), trustedProxies: PROXY }, (server) =>
      statusesOf(3, (index) => call(server, "GET", "/api/v1", from(`203.0.113.${index}`, "unknown", "198.51.100.1")))
    )
    assert.deepStrictEqual(statuses, [200, 200, 429])
  })

  it("is the peer's own if no proxy is trusted, whatever the header contains", async () => {
    const statuses = await withServer({ rateLimit: burstOf(2) }, (server) =>
      statusesOf(3, (index) => call(server, "GET", "/api/v1", from(`198.51.100.${index}`)))
    )
    assert.deepStrictEqual(statuses, [200, 200, 429])
  })

  it("is its /64 over IPv6", async () => {
    const statuses = await withServer({ rateLimit: burstOf(1), trustedProxies: PROXY }, (server) =>
      statusesOf(3, (index) =>
        call(server, "GET", "/api/v1", from(["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:2::1"][index]!))
      )
    )
    assert.deepStrictEqual(statuses, [200, 429, 200])
  })

  it("also counts toward its /48, whose limit is ten times as high", async () => {
    const answers = await withServer({ rateLimit: burstOf(2), trustedProxies: PROXY }, (server) =>
      answersOf(21, (index) => call(server, "GET", "/api/v1", from(`2001:db8:7:${index}::1`)))
    )
    assert.deepStrictEqual(
      answers.slice(0, 20).map(({ status }) => status),
      Array.from({ length: 20 }, () => 200)
    )
    assert.strictEqual(answers[20]?.status, 429)
    assert.include(errorOf(answers[20]!).message, "20 requests in 2000 s from one IPv6 /48 network")
  })

  it("also charges the cost of its guesses to its /48", async () => {
    const statuses = await withServer({ rateLimit: burstOf(2), trustedProxies: PROXY }, (server) =>
      statusesOf(3, (index) =>
        call(server, "GET", "/api/v1/events", { token: "at_v1_guess", ...from(`2001:db8:7:${index}::1`) })
      )
    )
    assert.deepStrictEqual(statuses, [401, 401, 429])
  })
})

describe("servers on one store", () => {
  it("share the limit of an address", async () => {
    const store = await Effect.runPromise(Effect.provide(RateLimitStore, Memory.layer))
    let reported = 0
    const rateLimitStore: typeof store = {
      ...store,
      exchange: (uses) =>
        Effect.tap(store.exchange(uses), () =>
          Effect.sync(() => {
            for (const { tokens } of uses) reported += tokens
          })
        )
    }
    const untilReported = (tokens: number) =>
      vi.waitFor(() => assert.isAtLeast(reported, tokens), { timeout: 60_000, interval: 5 })
    const options = { rateLimit: burstOf(10), rateLimitStore }
    const admittedByOther = await withServer(options, (one) =>
      withServer(options, async (other) => {
        await statusesOf(8, () => call(one, "GET", "/api/v1"))
        await untilReported(8)
        let count = 0
        while ((await call(other, "GET", "/api/v1")).status === 200) {
          count++
          // Alone, the server would admit 10 requests.
          await untilReported(8 + count)
        }
        return count
      })
    )
    assert.isAtMost(admittedByOther, 9)
  })
})
