import { SignIn } from "@agentos/core"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { createSiweMessage } from "viem/siwe"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { call, callPaid, dataOf, errorOf, fresh, freshWallet, payFor, textAt } from "../support/TestClient.ts"
import { SIGN_IN_NETWORK, startServer, type TestServer, testKeys } from "../support/TestServer.ts"

const TOKEN = "/api/v1/auth/token"
const REVOKE = "/api/v1/auth/revoke"
const PUBLIC_URL = "http://127.0.0.1:8080"
const MAILBOXES = "/api/v1/email/mailboxes"
const OPERATOR = "0123456789abcdef0123456789abcdef"

type Account = ReturnType<typeof privateKeyToAccount>
type Fields = Readonly<Record<string, unknown>>

/** The challenge of an operation, as x402 encodes it. */
const challengeOf = (header: string | null) =>
  JSON.parse(Buffer.from(header ?? "", "base64").toString()) as {
    readonly x402Version: number
    readonly accepts: ReadonlyArray<unknown>
    readonly resource: { readonly url: string }
    readonly extensions: {
      readonly "sign-in-with-x": {
        readonly info: Readonly<
          Record<"domain" | "uri" | "statement" | "version" | "nonce" | "issuedAt" | "expirationTime", string>
        >
        readonly supportedChains: ReadonlyArray<{ readonly chainId: string; readonly type: string }>
      }
    }
  }

const encode = (payload: unknown) => Buffer.from(JSON.stringify(payload)).toString("base64")

let server: TestServer
beforeAll(async () => {
  server = await startServer({
    publicUrl: PUBLIC_URL,
    operatorToken: OPERATOR,
    trustedProxies: ["127.0.0.0/8"],
    signInOrigins: ["https://app.example"]
  })
})
afterAll(() => server.stop())

const newInfo = async (path: string) => {
  const answer = await call(server, "POST", path)
  return challengeOf(answer.headers.get("payment-required")).extensions["sign-in-with-x"].info
}

/** Signs the payload with the changes `before`, and returns the header with the changes `after`. */
const signed = async (account: Account, info: Fields, before: Fields = {}, after: Fields = {}) => {
  const payload = { ...info, address: account.address, chainId: SIGN_IN_NETWORK, type: "eip191", ...before }
  const { address, domain, expirationTime, issuedAt, nonce, statement, uri } = payload as unknown as Awaited<
    ReturnType<typeof newInfo>
  > & { readonly address: `0x${string}` }
  const message = createSiweMessage({
    address,
    domain,
    uri,
    statement,
    nonce,
    version: "1",
    chainId: 402402,
    issuedAt: new Date(issuedAt),
    expirationTime: new Date(expirationTime)
  })
  return encode({ ...payload, signature: await account.signMessage({ message }), ...after })
}

const present = (path: string, header: string) => call(server, "POST", path, { headers: { "sign-in-with-x": header } })

const signIn = async (path: string, account: Account) => present(path, await signed(account, await newInfo(path)))

const tokenOf = (answer: Awaited<ReturnType<typeof call>>) => textAt(dataOf(answer), "authentication", "accessToken")

const newCustomer = async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  const bought = await callPaid(server, MAILBOXES, { body: { localPart: fresh("box") } }, account.address.toLowerCase())
  return { account, token: tokenOf(bought) }
}

/** A customer that has signed in before, so that another sign-in returns the same token. */
const signedIn = async () => {
  const { account } = await newCustomer()
  return { account, token: tokenOf(await signIn(TOKEN, account)) }
}

const listMailboxes = async (token: string) =>
  (await call(server, "GET", "/api/v1/email/mailboxes/query", { token })).status

describe("a request without a signed message", () => {
  it.each([TOKEN, REVOKE])("%s answers 402 with the message to sign and nothing to pay", async (path) => {
    const answer = await call(server, "POST", path)
    const error = errorOf(answer)
    expect([answer.status, error.code]).toEqual([402, "PAYMENT_REQUIRED"])
    expect(error.message).toContain("No payment is needed")
    expect(error.next).toEqual({ method: "POST", path })
    const { accepts, extensions, resource, x402Version } = challengeOf(answer.headers.get("payment-required"))
    expect({ accepts, resource: resource.url, x402Version }).toEqual({
      accepts: [],
      resource: `${PUBLIC_URL}${path}`,
      x402Version: 2
    })
    const { info, supportedChains } = extensions["sign-in-with-x"]
    expect(supportedChains).toEqual([{ chainId: SIGN_IN_NETWORK, type: "eip191" }])
    expect(info).toMatchObject({ domain: "127.0.0.1:8080", uri: `${PUBLIC_URL}${path}`, version: "1" })
    expect(info.nonce).toMatch(/^[0-9A-Za-z]{8,}$/)
    expect(info.statement).toMatch(/^[\x20\x21\x23-\x7e]+$/)
    expect(Date.parse(info.expirationTime) - Date.parse(info.issuedAt)).toBe(60_000)
  })

  it("is refused for a body that the operation does not have", async () => {
    const answer = await call(server, "POST", TOKEN, { body: { wallet: "x" } })
    expect([answer.status, errorOf(answer).code]).toEqual([400, "INVALID_REQUEST"])
  })

  it("lets a page in a browser sign in and pay", async () => {
    const answer = await call(server, "OPTIONS", TOKEN)
    const allowed = answer.headers.get("access-control-allow-headers")?.split(", ")
    expect(allowed).toEqual(
      expect.arrayContaining(["SIGN-IN-WITH-X", "PAYMENT-SIGNATURE", "Access-Control-Expose-Headers"])
    )
    expect(answer.headers.get("access-control-expose-headers")).toContain("PAYMENT-REQUIRED")
  })
})

describe("auth.token", () => {
  it("returns the token that the wallet has, as often as it signs in", async () => {
    const { account } = await newCustomer()
    const first = await signIn(TOKEN, account)
    for (let times = 0; times < 2; times++) {
      const answer = await signIn(TOKEN, account)
      expect([answer.status, tokenOf(answer)]).toEqual([200, tokenOf(first)])
    }
  })

  it.each([TOKEN, REVOKE])("%s answers 404 for a wallet that has bought nothing", async (path) => {
    const account = privateKeyToAccount(generatePrivateKey())
    for (let times = 0; times < 2; times++) {
      const answer = await signIn(path, account)
      const error = errorOf(answer)
      expect([answer.status, error.code]).toEqual([404, "RESOURCE_NOT_FOUND"])
      expect(error.message).toContain("has bought nothing here")
      expect(error.next).toEqual({ method: "POST", path: MAILBOXES })
    }
  })

  it("answers 404 for a wallet whose only payment was refused", async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const wallet = account.address.toLowerCase()
    server.payments.script.push("refuse")
    const paid = await callPaid(server, MAILBOXES, { body: { localPart: fresh("box") } }, wallet)
    expect(paid.status).not.toBe(201)
    expect((await signIn(TOKEN, account)).status).toBe(404)
  })
})

describe("auth.revoke", () => {
  it("ends every older token and returns the new one, which auth.token then returns too", async () => {
    const { account, token } = await newCustomer()
    const other = await newCustomer()
    const revoked = tokenOf(await signIn(REVOKE, account))
    expect(revoked).not.toBe(token)
    expect([await listMailboxes(token), await listMailboxes(revoked)]).toEqual([401, 200])
    expect(await listMailboxes(other.token)).toBe(200)
    expect(tokenOf(await signIn(TOKEN, account))).toBe(revoked)
    const again = tokenOf(await signIn(REVOKE, account))
    expect([await listMailboxes(revoked), await listMailboxes(again)]).toEqual([401, 200])
  })

  it("is also the operator's, after which the wallet gets its new token by signing in", async () => {
    const { account, token } = await newCustomer()
    const path = `/internal/tenants/${account.address}/revoke-tokens`
    expect((await call(server, "POST", path, { token })).status).toBe(401)
    expect(await listMailboxes(token)).toBe(200)
    const answer = await call(server, "POST", path, { token: OPERATOR })
    expect([answer.status, textAt(JSON.parse(answer.text), "data", "wallet")]).toEqual([
      200,
      account.address.toLowerCase()
    ])
    expect(answer.text).not.toContain("at_v1")
    expect(await listMailboxes(token)).toBe(401)
    const renewed = tokenOf(await signIn(TOKEN, account))
    expect([renewed === token, await listMailboxes(renewed)]).toEqual([false, 200])
    expect(
      (await call(server, "POST", `/internal/tenants/${freshWallet()}/revoke-tokens`, { token: OPERATOR })).status
    ).toBe(404)
  })

  it("serializes concurrent revocations and recoveries: the last token is valid, the others are not", async () => {
    const { account, token } = await newCustomer()
    const answers = await Promise.all([REVOKE, TOKEN, REVOKE, TOKEN, REVOKE].map((path) => signIn(path, account)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const current = tokenOf(await signIn(TOKEN, account))
    const seen = new Set([token, ...answers.map(tokenOf)])
    expect(seen.size).toBe(4)
    for (const each of seen) expect(await listMailboxes(each)).toBe(each === current ? 200 : 401)
  })
})

/** Each is signed by the customer, for the operation that revokes tokens, except for the change. */
const REFUSED: Readonly<Record<string, { before?: Fields; after?: Fields; status: number; says: RegExp }>> = {
  "a message for another domain": { before: { domain: "evil.example" }, status: 401, says: /domain .* "127/ },
  "a message for another operation": { before: { uri: `${PUBLIC_URL}${TOKEN}` }, status: 401, says: /uri .* must be/ },
  "another statement": { before: { statement: "Log in." }, status: 401, says: /statement .* must be/ },
  "a nonce that is not the server's": { before: { nonce: "a".repeat(66) }, status: 401, says: /nonce .* not issued/ },
  "another time than the challenge's": {
    before: { issuedAt: "2026-01-01T00:00:00.000Z", expirationTime: "2026-01-01T00:01:00.000Z" },
    status: 401,
    says: /nonce .* time/
  },
  "a later end": { before: { expirationTime: "2099-01-01T00:00:00.000Z" }, status: 401, says: /expirationTime/ },
  "a wallet that did not sign": { after: { address: `0x${"1".repeat(40)}` }, status: 401, says: /another wallet/ },
  "a signature of zeros": { after: { signature: `0x${"0".repeat(130)}` }, status: 401, says: /signature .* not valid/ },
  "a signature of a smart account": {
    after: { signature: `0x${"1".repeat(300)}` },
    status: 400,
    says: /Smart accounts .* can't sign in/
  },
  "the scheme of a smart account": { after: { signatureScheme: "eip1271" }, status: 400, says: /Smart accounts/ },
  "another chain": { after: { chainId: "eip155:1" }, status: 400, says: /chainId must be one of eip155:402402/ },
  "a chain that is not EVM": {
    after: { chainId: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" },
    status: 400,
    says: /chainId/
  },
  "no nonce": { after: { nonce: undefined }, status: 400, says: /nonce/ },
  "a time in another form": { after: { issuedAt: "2026-01-01" }, status: 400, says: /issuedAt must be a time/ },
  "a field that the challenge does not have": { after: { requestId: "x" }, status: 400, says: /requestId/ }
}

describe("a sign-in that is not valid", () => {
  it.each(Object.entries(REFUSED))("is refused with %s, and changes nothing", async (_name, refusal) => {
    const { account, token } = await newCustomer()
    const info = await newInfo(REVOKE)
    const header = await signed(account, info, refusal.before, refusal.after)
    const answer = await present(REVOKE, header)
    const error = errorOf(answer)
    expect([answer.status, error.code]).toEqual([
      refusal.status,
      refusal.status === 401 ? "AUTH_REQUIRED" : "INVALID_REQUEST"
    ])
    expect(error.message).toMatch(refusal.says)
    if (answer.status === 401) expect(answer.headers.get("www-authenticate")).toBe("SIGN-IN-WITH-X")
    expect(await listMailboxes(token)).toBe(200)
    // The message of the challenge itself is still unused.
    expect((await present(REVOKE, await signed(account, info))).status).toBe(200)
  })

  it.each([
    ["nothing", ""],
    ["no base64", "{}"],
    ["no JSON", Buffer.from("x").toString("base64")],
    ["a list", encode([])],
    ["more than 8,192 characters", "A".repeat(8_200)]
  ])("is refused with %s in the header", async (_name, header) => {
    const answer = await present(TOKEN, header)
    expect([answer.status, errorOf(answer).code]).toEqual([400, "INVALID_REQUEST"])
    expect(errorOf(answer).message).toContain("SIGN-IN-WITH-X")
  })

  it("is refused if it was used before, and for the other operation", async () => {
    const { account } = await newCustomer()
    const header = await signed(account, await newInfo(TOKEN))
    const first = await present(TOKEN, header)
    expect(first.status).toBe(200)
    const again = await present(TOKEN, header)
    expect([again.status, errorOf(again).message]).toEqual([401, expect.stringContaining("already used")])
    expect((await present(REVOKE, header)).status).toBe(401)
    expect(await listMailboxes(tokenOf(first))).toBe(200)
  })

  it("is used once by concurrent requests", async () => {
    const { account } = await newCustomer()
    const header = await signed(account, await newInfo(REVOKE))
    const answers = await Promise.all([1, 2, 3, 4].map(() => present(REVOKE, header)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3)
  })

  it("is refused a minute after the challenge", async () => {
    const { account, token } = await newCustomer()
    const resource = { url: `${PUBLIC_URL}${REVOKE}`, statement: (await newInfo(REVOKE)).statement }
    const issued = (millis: number) =>
      Effect.runPromise(
        Effect.andThen(TestClock.setTime(millis), SignIn.issue(resource, "127.0.0.1")).pipe(
          Effect.provide([TestClock.layer(), testKeys])
        )
      )
    const headerOf = async (millis: number) => {
      const { expiresAt, issuedAt, ...terms } = await issued(millis)
      const times = { issuedAt: new Date(issuedAt).toISOString(), expirationTime: new Date(expiresAt).toISOString() }
      return signed(account, { ...terms, ...times, version: "1" })
    }
    const late = await present(REVOKE, await headerOf(Date.now() - 60_000))
    expect([late.status, errorOf(late).message]).toEqual([401, expect.stringMatching(/expired at 20/)])
    expect(await listMailboxes(token)).toBe(200)
    expect((await present(REVOKE, await headerOf(Date.now() - 30_000))).status).toBe(200)
  })
})

describe("a signed message", () => {
  it.each([TOKEN, REVOKE])("%s is accepted from the client that requested it alone", async (path) => {
    const { account, token } = await signedIn()
    const from = (address: string, headers: Readonly<Record<string, string>> = {}) =>
      call(server, "POST", path, { headers: { "x-forwarded-for": address, ...headers } })
    const requested = async (address: string) => {
      const { headers } = await from(address)
      const { info } = challengeOf(headers.get("payment-required")).extensions["sign-in-with-x"]
      return signed(account, info)
    }
    for (const [requester, same, others] of [
      ["192.0.2.1", "::ffff:192.0.2.1", ["192.0.2.2", "2001:db8::1"]],
      ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2", ["2001:db8:0:2::1", "192.0.2.1"]]
    ] as const) {
      const header = await requested(requester)
      for (const other of others) {
        const refused = await from(other, { "sign-in-with-x": header })
        expect([refused.status, errorOf(refused).code]).toEqual([401, "AUTH_REQUIRED"])
        expect(errorOf(refused).message).toContain("not to this network address")
      }
      expect(await listMailboxes(token)).toBe(200)
      expect((await from(same, { "sign-in-with-x": header })).status).toBe(200)
      if (path === REVOKE) return
    }
  })
})

describe("a page in a browser", () => {
  const APP = "https://app.example"
  const asPage = (path: string, headers: Readonly<Record<string, string>>, header?: string) =>
    call(server, "POST", path, {
      headers: { ...headers, ...(header === undefined ? {} : { "sign-in-with-x": header }) }
    })

  it.each([
    ["of another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["that another site has redirected", { "sec-fetch-site": "cross-site", origin: "null" }],
    ["of another site without an origin", { "sec-fetch-site": "cross-site" }],
    ["of another site in an old browser", { origin: "https://evil.example" }],
    ["of an unknown site in an old browser", { origin: "null" }],
    [
      "whose origin only begins with a configured one",
      { "sec-fetch-site": "cross-site", origin: `${APP}.evil.example` }
    ]
  ])("%s gets no message to sign, and can't use one", async (_name, headers) => {
    const { account, token } = await signedIn()
    for (const path of [TOKEN, REVOKE]) {
      const header = await signed(account, await newInfo(path))
      for (const answer of [await asPage(path, headers), await asPage(path, headers, header)]) {
        expect([answer.status, errorOf(answer).code]).toEqual([403, "FORBIDDEN"])
        expect(errorOf(answer).message).toContain("A page of another site can't sign in here")
        expect(answer.headers.get("payment-required")).toBeNull()
      }
      expect(await listMailboxes(token)).toBe(200)
      // The message is still unused.
      if (path === TOKEN) expect((await present(path, header)).status).toBe(200)
    }
  })

  it.each([
    ["of the server's own site", { "sec-fetch-site": "same-origin", origin: PUBLIC_URL }],
    ["of the server's own site in an old browser", { origin: PUBLIC_URL }],
    ["of a configured origin", { "sec-fetch-site": "cross-site", origin: APP }],
    ["of a configured origin in an old browser", { origin: APP }],
    ["of this machine, in a sandbox", { "sec-fetch-site": "cross-site", origin: "http://localhost:5173" }]
  ])("%s signs in", async (_name, headers) => {
    const { account } = await newCustomer()
    const answer = await asPage(TOKEN, headers)
    const { info } = challengeOf(answer.headers.get("payment-required")).extensions["sign-in-with-x"]
    expect((await asPage(TOKEN, headers, await signed(account, info))).status).toBe(200)
  })
})

describe("the rate limit", () => {
  it("counts a sign-in as four requests, and one that is not valid as thirteen, before its signature is checked", async () => {
    const limited = await startServer({ publicUrl: PUBLIC_URL, rateLimit: { burst: 39, perSecond: 0.001 } })
    const attempt = () => call(limited, "POST", TOKEN, { headers: { "sign-in-with-x": encode({}) } })
    const forged = async () => {
      const { headers } = await call(limited, "POST", TOKEN)
      const { info } = challengeOf(headers.get("payment-required")).extensions["sign-in-with-x"]
      const account = privateKeyToAccount(generatePrivateKey())
      const header = await signed(account, info, {}, { address: freshWallet() })
      return call(limited, "POST", TOKEN, { headers: { "sign-in-with-x": header } })
    }
    expect((await attempt()).headers.get("ratelimit")).toContain("r=35")
    expect((await forged()).status).toBe(401)
    expect((await attempt()).headers.get("ratelimit")).toContain("r=17")
    expect((await forged()).status).toBe(401)
    const refused = await attempt()
    expect([refused.status, errorOf(refused).code]).toEqual([429, "RATE_LIMITED"])
    await limited.stop()
  })
})

describe("a wallet that has an access token", () => {
  const buy = (account: Account, token?: string) =>
    callPaid(
      server,
      MAILBOXES,
      { body: { localPart: fresh("box") }, ...(token === undefined ? {} : { token }) },
      account.address.toLowerCase()
    )
  const authenticationOf = (answer: Awaited<ReturnType<typeof call>>) => dataOf(answer)["authentication"]

  it("gets the goods of a payment alone without the token, and learns how to get it", async () => {
    const { account, token } = await newCustomer()
    const answer = await buy(account)
    expect([answer.status, textAt(dataOf(answer), "mailbox", "mailboxId")]).toEqual([201, expect.any(String)])
    expect(authenticationOf(answer)).toEqual({
      next: { method: "POST", path: TOKEN },
      message: expect.stringContaining("sign in with the wallet")
    })
    expect(answer.text).not.toContain(token)
    // The mailbox is the wallet's: its token shows both.
    const list = await call(server, "GET", "/api/v1/email/mailboxes/query", { token })
    expect(dataOf(list)["items"]).toHaveLength(2)
  })

  it("gets the token of a purchase that carried it", async () => {
    const { account, token } = await newCustomer()
    expect(authenticationOf(await buy(account, token))).toEqual({ accessToken: token })
  })

  it("replaces the token of its first payment at its first sign-in, since others may know it", async () => {
    const { account, token } = await newCustomer()
    const proven = tokenOf(await signIn(TOKEN, account))
    expect(proven).not.toBe(token)
    expect([await listMailboxes(token), await listMailboxes(proven)]).toEqual([401, 200])
    expect(tokenOf(await signIn(TOKEN, account))).toBe(proven)
    expect(authenticationOf(await buy(account))).not.toHaveProperty("accessToken")
  })

  it("is not shown its new token by the payment that returned the first one", async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const request = { body: { localPart: fresh("box") } }
    const headers = await payFor(server, MAILBOXES, request, account.address.toLowerCase())
    const first = await call(server, "POST", MAILBOXES, { ...request, headers })
    const proven = tokenOf(await signIn(TOKEN, account))
    const again = await call(server, "POST", MAILBOXES, { ...request, headers })
    expect(again.text).toBe(first.text)
    expect(again.text).not.toContain(proven)
    expect(await listMailboxes(tokenOf(again))).toBe(401)
  })

  it("keeps the token that its first sign-in carries", async () => {
    const { account, token } = await newCustomer()
    const header = await signed(account, await newInfo(TOKEN))
    const kept = await call(server, "POST", TOKEN, { token, headers: { "sign-in-with-x": header } })
    expect(tokenOf(kept)).toBe(token)
    expect(tokenOf(await signIn(TOKEN, account))).toBe(token)
  })

  describe("and an event webhook", () => {
    const HOOK = "/api/v1/events/webhook"
    const set = (token: string) =>
      call(server, "POST", HOOK, { token, body: { url: "https://hooks.example/", types: ["email.received"] } })
    const statusOf = async (token: string) =>
      textAt(dataOf(await call(server, "GET", HOOK, { token })), "webhook", "status")

    it.each([TOKEN, REVOKE])("that was set with a token which others may know is paused by %s", async (path) => {
      const { account, token } = await newCustomer()
      const known = dataOf(await set(token))["signingSecret"]
      const proven = tokenOf(await signIn(path, account))
      expect(await statusOf(proven)).toBe("paused")
      // The wallet's own is not: setting it again resumes it, and later sign-ins leave it.
      const own = dataOf(await set(proven))
      expect(own["signingSecret"]).not.toBe(known)
      expect(own["webhook"]).toMatchObject({ status: "active", previousSecretValidUntil: null })
      expect(await statusOf(tokenOf(await signIn(path, account)))).toBe("active")
    })

    it("keeps it active if the first sign-in carries the token", async () => {
      const { account, token } = await newCustomer()
      expect((await set(token)).status).toBe(201)
      const header = await signed(account, await newInfo(TOKEN))
      await call(server, "POST", TOKEN, { token, headers: { "sign-in-with-x": header } })
      expect(await statusOf(token)).toBe("active")
    })
  })

  it("gets a new token although its sign-in carries a token that is not valid", async () => {
    const { account, token } = await newCustomer()
    const header = await signed(account, await newInfo(TOKEN))
    const answer = await call(server, "POST", TOKEN, { token: "at_v1_wrong", headers: { "sign-in-with-x": header } })
    expect(answer.status).toBe(200)
    expect(tokenOf(answer)).not.toBe(token)
  })

  it("keeps no token of another wallet that its sign-in carries", async () => {
    const [owner, other] = [await newCustomer(), await newCustomer()]
    const header = await signed(owner.account, await newInfo(TOKEN))
    const answer = await call(server, "POST", TOKEN, { token: other.token, headers: { "sign-in-with-x": header } })
    expect(tokenOf(answer)).not.toBe(owner.token)
    expect(await listMailboxes(owner.token)).toBe(401)
  })

  it("has one token after many first sign-ins at once", async () => {
    const { account, token } = await newCustomer()
    const headers = await Promise.all(Array.from({ length: 5 }, async () => signed(account, await newInfo(TOKEN))))
    const tokens = await Promise.all(headers.map(async (header) => tokenOf(await present(TOKEN, header))))
    expect(new Set(tokens).size).toBe(1)
    expect(tokens).not.toContain(token)
  })
})
