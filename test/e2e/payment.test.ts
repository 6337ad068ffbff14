import { encodePaymentSignatureHeader } from "@x402/core/http"
import type { PaymentPayload, PaymentRequired } from "@x402/core/types"
import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  findAcceptsObjectFromSignedOffer,
  isJWSSignedOffer,
  isJWSSignedReceipt,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS
} from "@x402/extensions/offer-receipt"
import type { PaymentStatusRecord } from "@agentos/core"
import { type SandboxAccount, sandboxAccount, type SandboxSignature } from "@agentos/sandbox"
import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { type Hex, parseErc6492Signature, serializeErc6492Signature } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { describe, expect, it } from "vitest"
import { Agent, freshName, type Reply, untilNotPending } from "../support/Agent.ts"
import { useSandbox } from "../support/useSandbox.ts"

const CREATE = "/api/v1/email/mailboxes"
const MAILBOX_PRICE = 250_000n

const host = useSandbox()

const createRequest = (localPart: string = freshName()) => ({ path: CREATE, body: { localPart } })

/** Sets a fault of the facilitator. */
const arm = async (operation: "verify" | "settle", mode: "before" | "after" | "reject" | "hang", times = 1) => {
  const response = await fetch(`${host.sandbox.facilitatorUrl}/sandbox/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ operation, mode, times })
  })
  expect(response.ok).toBe(true)
}

const hexOf = (text: unknown): Hex => `0x${String(text).slice(2)}`

/** Repeats a request until `isDone` accepts the response. */
const until = async <A = Reply>(attempt: () => Promise<A>, isDone: (reply: A) => boolean): Promise<A> => {
  for (let tries = 0; ; tries++) {
    const reply = await attempt()
    if (isDone(reply) || tries > 60) return reply
    await sleep(250)
  }
}

/** Returns the header of a payment with changed terms, authorization or signature. */
const tampered = (
  payload: PaymentPayload,
  change: {
    readonly accepted?: Record<string, unknown>
    readonly authorization?: Record<string, unknown>
    readonly signature?: string
  }
): string => {
  const inner = payload.payload as { readonly signature: string; readonly authorization: Record<string, unknown> }
  return encodePaymentSignatureHeader({
    ...payload,
    accepted: { ...payload.accepted, ...change.accepted },
    payload: {
      signature: change.signature ?? inner.signature,
      authorization: { ...inner.authorization, ...change.authorization }
    }
  })
}

/** Returns the receipt of a response. */
const receiptOf = ({ headers }: Reply) => {
  const receipt = extractReceiptFromResponse(new Response(null, { headers }))
  if (receipt === undefined || !isJWSSignedReceipt(receipt)) throw new Error("the response has no receipt as JWS")
  return receipt
}

/** Verifies a receipt with the key that its service publishes, and returns its fields. */
const verifiedReceipt = async (reply: Reply) => ({ ...(await verifyReceiptSignatureJWS(receiptOf(reply))) })

/** Settles the authorization at the facilitator before the server receives it. */
const settleElsewhere = async (payload: PaymentPayload): Promise<void> => {
  const settle = await fetch(`${host.sandbox.facilitatorUrl}/settle`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ x402Version: 2, paymentPayload: payload, paymentRequirements: payload.accepted })
  })
  expect(await settle.json()).toMatchObject({ success: true })
}

const isReturned = (reply: Reply) => reply.body.error?.paymentState === "refunded"

describe("a start-here request", () => {
  it("is challenged without a body, and refused with an invalid one", async () => {
    const agent = host.agent(0)
    const probe = await agent.send({ method: "POST", path: CREATE })
    expect(probe.status).toBe(402)
    expect(probe.body.error.code).toBe("PAYMENT_REQUIRED")
    for (const body of [
      {},
      { localPart: 1 },
      { localPart: "a", more: 1 },
      "[]",
      "nonsense",
      '{"localPart":"a","localPart":"b"}'
    ]) {
      const reply = await agent.send({ path: CREATE, body })
      expect([reply.status, reply.body.error.code]).toEqual([400, "INVALID_REQUEST"])
    }
  })

  it("is offered the terms of the configured chain", async () => {
    const challenge = await host.agent(0).challenge(createRequest())
    const { asset, assetName, assetVersion, network, payTo } = host.sandbox.chain
    expect(challenge.x402Version).toBe(2)
    expect(challenge.accepts).toHaveLength(1)
    expect(challenge.accepts[0]).toMatchObject({
      scheme: "exact",
      network,
      asset,
      payTo,
      amount: "250000",
      extra: { name: assetName, version: assetVersion }
    })
  })

  it("is charged exactly the price once, and a retry receives the same bytes", async () => {
    const agent = host.agent(0)
    const request = createRequest()
    const key = randomUUID()
    const signature = await agent.payment(request)
    const first = await host.chain.charged(agent.account.address, () => agent.replay(request, signature, key))
    expect(first.result.status).toBe(201)
    expect(first.amount).toBe(MAILBOX_PRICE)
    expect(first.result.body.data).toMatchObject({
      mailbox: { localPart: request.body.localPart, active: true },
      authentication: { accessToken: expect.stringMatching(/^at_v1_/) },
      operationId: expect.any(String)
    })
    const again = await host.chain.charged(agent.account.address, () => agent.replay(request, signature, key))
    expect(again.amount).toBe(0n)
    expect(again.result.status).toBe(201)
    expect(again.result.text).toBe(first.result.text)
    expect(again.result.headers.get("payment-response")).toBe(first.result.headers.get("payment-response"))
    const receipt = JSON.parse(
      Buffer.from(first.result.headers.get("payment-response")!, "base64").toString()
    ) as unknown
    expect(receipt).toMatchObject({ success: true, network: host.sandbox.chain.network })
  })

  it("returns the same token for the same wallet, and refuses the token of another wallet", async () => {
    const agent = host.agent(1)
    await agent.createMailbox(freshName())
    const token = agent.token
    await agent.createMailbox(freshName())
    expect(agent.token).toBe(token)
    const stranger = host.agent(0)
    stranger.token = token
    const reply = await stranger.pay(createRequest())
    expect([reply.status, reply.body.error.code]).toEqual([403, "FORBIDDEN"])
  })

  it("is refused for a taken or reserved name before payment", async () => {
    const agent = host.agent(0)
    const { localPart } = await agent.createMailbox(freshName())
    const taken = await agent.send({ path: CREATE, body: { localPart: localPart.toUpperCase() } })
    expect([taken.status, taken.body.error.code]).toEqual([409, "CONFLICT"])
    const reserved = await agent.send({ path: CREATE, body: { localPart: "Postmaster" } })
    expect([reserved.status, reserved.body.error.issues?.[0]?.path]).toEqual([400, "localPart"])
  })
})

describe("an invalid payment", () => {
  const attempt = async (
    header: (challenge: PaymentRequired, agent: Agent) => Promise<string>,
    expected: readonly [number, string]
  ) => {
    const agent = host.agent(0)
    const request = createRequest()
    const challenge = await agent.challenge(request)
    const signature = await header(challenge, agent)
    const { amount, result } = await host.chain.charged(agent.account.address, () =>
      agent.replay(request, signature, randomUUID())
    )
    expect([result.status, result.body.error.code]).toEqual(expected)
    expect(amount).toBe(0n)
    if (result.status === 402) {
      expect(result.headers.get("payment-required")).not.toBeNull()
      expect(result.body.error.message.length).toBeGreaterThan(10)
    }
    return result
  }
  const required = [402, "PAYMENT_REQUIRED"] as const

  it.each([
    ["amount", { amount: "1" }],
    ["network", { network: "eip155:1" }],
    ["asset", { asset: "0x00000000000000000000000000000000000000aa" }],
    ["recipient", { payTo: "0x00000000000000000000000000000000000000aa" }],
    ["time-out", { maxTimeoutSeconds: 3600 }]
  ])("is refused when its terms have another %s", async (_name, change) => {
    await attempt(async (challenge, agent) => tampered(await agent.sign(challenge), { accepted: change }), required)
    await attempt(async (challenge, agent) => {
      const changed = { ...challenge.accepts[0]!, ...change } as PaymentRequired["accepts"][number]
      return encodePaymentSignatureHeader(
        await agent
          .sign({ ...challenge, accepts: [changed] })
          .catch(() => agent.sign(challenge).then((payload) => ({ ...payload, accepted: changed })))
      )
    }, required)
  })

  it.each([
    ["value", { value: "1" }],
    ["recipient", { to: "0x00000000000000000000000000000000000000aa" }],
    ["expiry", { validBefore: "1" }],
    ["payer", { from: "0x00000000000000000000000000000000000000aa" }]
  ])("is refused when its authorization has another %s than was signed", async (_name, change) => {
    await attempt(
      async (challenge, agent) => tampered(await agent.sign(challenge), { authorization: change }),
      required
    )
  })

  it("is refused when it is malformed", async () => {
    for (const header of ["nonsense", "e30=", Buffer.from('{"x402Version":1}').toString("base64")]) {
      await attempt(async () => header, required)
    }
    await attempt(async (challenge, agent) => tampered(await agent.sign(challenge), { signature: "0x1234" }), required)
  })

  it("is refused for a request other than its own", async () => {
    await attempt(async (_challenge, agent) => agent.payment(createRequest()), required)
  })

  it("needs an Idempotency-Key of 255 characters at most", async () => {
    const agent = host.agent(0)
    const request = createRequest()
    const signature = await agent.payment(request)
    for (const key of [undefined, "", "k".repeat(256)]) {
      const headers = { "payment-signature": signature, ...(key === undefined ? {} : { "idempotency-key": key }) }
      const reply = await agent.send({ ...request, headers })
      expect([reply.status, reply.body.error.code]).toEqual([400, "INVALID_REQUEST"])
    }
    expect((await agent.replay(request, signature, "k".repeat(255))).status).toBe(201)
  })

  it("is refused if its key or proof was used for another request", async () => {
    const agent = host.agent(0)
    const [request, other] = [createRequest(), createRequest()]
    const key = randomUUID()
    const [signature, otherSignature] = [await agent.payment(request), await agent.payment(other)]
    expect((await agent.replay(request, signature, key)).status).toBe(201)
    const { amount, result } = await host.chain.charged(agent.account.address, async () => [
      await agent.replay(request, signature, randomUUID()),
      await agent.replay(other, signature, key),
      await agent.replay(other, otherSignature, key),
      await agent.replay({ path: "/api/v1/email/mailboxes?a=1", body: request.body }, signature, key)
    ])
    for (const reply of result) expect([reply.status, reply.body.error.code]).toEqual([409, "IDEMPOTENCY_CONFLICT"])
    expect(amount).toBe(0n)
  })

  it("buys nothing and is refunded if its authorization was settled by a third party", async () => {
    const agent = host.agent(0)
    const request = createRequest()
    const payload = await agent.sign(await agent.challenge(request))
    const key = randomUUID()
    const attempt = () => agent.replay(request, encodePaymentSignatureHeader(payload), key)
    const before = await host.chain.balanceOf(agent.account.address)
    await settleElsewhere(payload)
    const first = await attempt()
    const replies = [first, await until(attempt, isReturned)]
    for (const reply of replies) {
      expect([reply.status, reply.body.error.code]).toEqual([409, "IDEMPOTENCY_CONFLICT"])
      expect(reply.body.error.message).not.toContain("Nothing was charged")
    }
    expect(first.body.error.paymentState).toBe("refund_due")
    expect(first.headers.get("payment-response")).toBeNull()
    const refunded = replies[1]!
    const report = JSON.parse(Buffer.from(refunded.headers.get("payment-response")!, "base64").toString()) as Record<
      string,
      unknown
    >
    expect(report).toMatchObject({ success: false, errorReason: "refunded" })
    const receipt = await verifiedReceipt(refunded)
    expect(receipt).toMatchObject({ payer: agent.account.address.toLowerCase(), refundOf: report["transaction"] })
    expect(receipt.transaction).not.toBe(report["transaction"])
    expect(receipt.resourceUrl).not.toContain(CREATE)
    expect((await attempt()).headers.get("payment-response")).toBe(refunded.headers.get("payment-response"))
    expect(await host.chain.balanceOf(agent.account.address)).toBe(before)
    // The request reserved nothing, so the name is free.
    expect((await agent.pay(request)).status).toBe(201)
  })

  it("is refunded if its authorization was settled by a third party and the request cannot be fulfilled", async () => {
    const [agent, other] = [host.agent(0), host.agent(1)]
    const request = createRequest()
    const payload = await agent.sign(await agent.challenge(request))
    expect((await other.pay(request)).status).toBe(201)
    const key = randomUUID()
    const attempt = () => agent.replay(request, encodePaymentSignatureHeader(payload), key)
    const before = await host.chain.balanceOf(agent.account.address)
    await settleElsewhere(payload)
    expect((await attempt()).body.error.paymentState).toBe("refund_due")
    expect(isReturned(await until(attempt, isReturned))).toBe(true)
    expect(await host.chain.balanceOf(agent.account.address)).toBe(before)
  })

  it("is refused with the challenge of an interceptor", async () => {
    const [victim, thief] = [host.agent(0), host.agent(1)]
    const payload = await victim.sign(await victim.challenge(createRequest()))
    const stolen = createRequest()
    const [accepted] = (await thief.challenge(stolen)).accepts
    const header = encodePaymentSignatureHeader({ ...payload, accepted: accepted! })
    const { amount, result } = await host.chain.charged(victim.account.address, () =>
      thief.replay(stolen, header, randomUUID())
    )
    expect([result.status, result.body.error.code, amount]).toEqual([402, "PAYMENT_REQUIRED", 0n])
    expect(result.body.error.message).toContain("bound to the challenge of another request")
  })
})

describe("the status of a payment", () => {
  /** Reads a status with nothing but the signed payment. */
  const statusOf = async (payload: PaymentPayload): Promise<PaymentStatusRecord> => {
    const headers = { "payment-signature": encodePaymentSignatureHeader(payload) }
    const response = await fetch(`${host.sandbox.baseUrl}/api/v1/payments/status`, { method: "POST", headers })
    const { data } = (await response.json()) as { readonly data: { readonly payment: PaymentStatusRecord } }
    return data.payment
  }
  const settledStatus = (payload: PaymentPayload) =>
    until(
      () => statusOf(payload),
      ({ paymentState }) => paymentState === "settled"
    )

  it("leads a client that has only its request and payment to one mailbox", async () => {
    const agent = host.agent(0)
    const request = createRequest()
    const payload = await agent.sign(await agent.challenge(request))
    expect(await statusOf(payload)).toMatchObject({ paymentState: "none", operationId: null, advice: "retry_same" })
    const { amount, result } = await host.chain.charged(agent.account.address, () =>
      agent.replay(request, encodePaymentSignatureHeader(payload), randomUUID())
    )
    expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
    const status = await statusOf(payload)
    expect(status).toMatchObject({ serviceId: "email.mailbox.create", paymentState: "settled", advice: "done" })
    expect(status.receipt).toBe(result.headers.get("payment-response"))
    expect(result.body.data).toMatchObject({ operationId: status.operationId })
  })

  it("finds the transfer of a third party on the chain, and leads to its refund", async () => {
    const agent = host.agent(0)
    const request = createRequest()
    const payload = await agent.sign(await agent.challenge(request))
    const before = await host.chain.balanceOf(agent.account.address)
    await settleElsewhere(payload)
    const found = await settledStatus(payload)
    expect(found).toMatchObject({ operationId: null, advice: "retry_same" })
    // The echoed challenge is not authenticated, and decides nothing.
    const extra = { ...payload.accepted.extra, issuedAt: Date.now() + 60_000, expiresAt: Date.now() + 900_000 }
    const forged = { ...payload, accepted: { ...payload.accepted, extra } }
    expect(await statusOf(forged)).toMatchObject({ transaction: found.transaction, advice: "retry_same" })
    const repeated = await agent.replay(request, encodePaymentSignatureHeader(payload), randomUUID())
    expect(repeated.body.error.paymentState).toBe("refund_due")
    const refunded = await until(
      () => statusOf(payload),
      ({ advice }) => advice !== "wait"
    )
    expect(refunded).toMatchObject({ paymentState: "refunded", transaction: found.transaction, advice: "done" })
    expect(refunded.refund?.transaction).toMatch(/^0x[0-9a-f]{64}$/)
    expect(await host.chain.balanceOf(agent.account.address)).toBe(before)
  })
})

describe("a smart account", () => {
  const smartAgent = (kind: SandboxSignature, ownerKey = generatePrivateKey()): Agent =>
    new Agent(host.sandbox, ownerKey, (owner) => sandboxAccount(owner, { kind }))

  /** Returns the token that the account gets by a signed message. */
  const signedIn = async (signer: SandboxAccount): Promise<string> => {
    const client = new x402Client().registerExtension(createSIWxClientExtension({ signers: [signer] }))
    const response = await wrapFetchWithPayment(fetch, client)(`${host.sandbox.baseUrl}/api/v1/auth/token`, {
      method: "POST"
    })
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
    const { data } = (await response.json()) as { readonly data: { readonly authentication: { accessToken: string } } }
    return data.authentication.accessToken
  }

  /** Has the facilitator move the price of a mailbox from one of the wallets to the account. */
  const fund = async ({ payer }: Agent): Promise<void> => {
    const challenge = await host.agent(2).challenge(createRequest())
    const accepts = challenge.accepts.map((terms) => ({ ...terms, payTo: payer.address }))
    await settleElsewhere(await host.agent(2).sign({ ...challenge, accepts }))
  }

  it("is deployed by its first payment, and a retry receives the same bytes", async () => {
    const ownerKey = generatePrivateKey()
    const agent = smartAgent("undeployed", ownerKey)
    await fund(agent)
    const request = createRequest()
    const challenge = await agent.challenge(request)
    expect(challenge.accepts[0]?.extra).toMatchObject({ signatures: "eoa eip1271 eip6492" })
    const signature = encodePaymentSignatureHeader(await agent.sign(challenge))
    const key = randomUUID()
    const { amount, result } = await host.chain.charged(agent.payer.address, async () => [
      await agent.replay(request, signature, key),
      await agent.replay(request, signature, key)
    ])
    expect(result.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([201, result[0]!.text]))
    expect(amount).toBe(MAILBOX_PRICE)
    expect(await verifiedReceipt(result[0]!)).toMatchObject({ payer: agent.payer.address.toLowerCase() })

    // It is the tenant, and signs without its factory from now on.
    const deployed = smartAgent("account", ownerKey)
    deployed.token = String(Object(result[0]!.body.data["authentication"])["accessToken"])
    await fund(deployed)
    expect((await deployed.pay(createRequest())).status).toBe(201)
    const own = new Agent(host.sandbox, ownerKey)
    own.token = deployed.token
    expect((await own.pay(createRequest())).body.error.code).toBe("FORBIDDEN")
    const token = await signedIn(sandboxAccount(own.account))
    expect(token).toMatch(/^at_v1_/)
    expect(await signedIn(sandboxAccount(own.account))).toBe(token)
    const stranger = sandboxAccount(privateKeyToAccount(generatePrivateKey()))
    await expect(signedIn({ ...stranger, address: deployed.payer.address })).rejects.toThrow("401")
  })

  it("is refunded if its authorization was settled by a third party", async () => {
    const agent = smartAgent("undeployed")
    await fund(agent)
    const request = createRequest()
    const payload = await agent.sign(await agent.challenge(request))
    const key = randomUUID()
    const attempt = () => agent.replay(request, encodePaymentSignatureHeader(payload), key)
    await settleElsewhere(payload)
    expect(await host.chain.balanceOf(agent.payer.address)).toBe(0n)
    expect((await attempt()).body.error.paymentState).toBe("refund_due")
    expect(isReturned(await until(attempt, isReturned))).toBe(true)
    expect(await host.chain.balanceOf(agent.payer.address)).toBe(MAILBOX_PRICE)
  })

  it("is refused before the claim if it did not sign, or a factory that is not accepted would deploy it", async () => {
    const agent = smartAgent("undeployed")
    const [stranger, payee] = [smartAgent("undeployed"), host.sandbox.chain.payTo]
    await fund(agent)
    const request = createRequest()
    const payload = await agent.sign(await agent.challenge(request))
    const { address, data, signature } = parseErc6492Signature(hexOf(payload.payload["signature"]))
    if (address === undefined || data === undefined) throw new Error("the signature names no factory")
    const foreign = await stranger.sign(await stranger.challenge(request))
    const refusals = [
      [String(foreign.payload["signature"]), "did not accept the signature"],
      [serializeErc6492Signature({ address: hexOf(payee), data, signature }), "factory is not accepted"],
      [signature, "is not a smart account"]
    ] as const
    const key = randomUUID()
    for (const [changed, message] of refusals) {
      const { amount, result } = await host.chain.charged(agent.payer.address, () =>
        agent.replay(request, tampered(payload, { signature: changed }), key)
      )
      expect([result.status, result.body.error.code, amount]).toEqual([402, "PAYMENT_REQUIRED", 0n])
      expect(result.body.error.message).toContain(message)
    }
    // Nothing was claimed: neither the key nor the authorization.
    expect((await agent.replay(request, encodePaymentSignatureHeader(payload), key)).status).toBe(201)
  })
})

describe("signed offers and receipts", () => {
  it("state the terms of a challenge and the delivery, verifiable with the published key", async () => {
    const agent = host.agent(0)
    const request = createRequest()
    const challenge = await agent.challenge(request)
    const [offer] = extractOffersFromPaymentRequired(challenge)
    if (offer === undefined || !isJWSSignedOffer(offer)) throw new Error("the challenge has no offer as JWS")
    const [decoded] = decodeSignedOffers([offer])
    expect(findAcceptsObjectFromSignedOffer(offer, challenge.accepts)).toEqual(challenge.accepts[0])
    expect(await verifyOfferSignatureJWS(offer)).toMatchObject({
      version: 1,
      resourceUrl: challenge.resource?.url,
      amount: "250000"
    })
    const { issuedAt, expiresAt } = challenge.accepts[0]!.extra as { issuedAt: number; expiresAt: number }
    expect(decoded!.validUntil * 1_000).toBeGreaterThanOrEqual(expiresAt)
    expect(decoded!.validUntil * 1_000).toBeLessThanOrEqual(expiresAt + 60_000)

    const signature = encodePaymentSignatureHeader(await agent.sign(challenge))
    const reply = await agent.replay(request, signature, randomUUID())
    const { transaction } = JSON.parse(
      Buffer.from(reply.headers.get("payment-response")!, "base64").toString()
    ) as Record<string, string>
    const receipt = await verifiedReceipt(reply)
    expect(receipt).toEqual({
      version: 1,
      network: host.sandbox.chain.network,
      resourceUrl: challenge.resource?.url,
      payer: agent.account.address.toLowerCase(),
      issuedAt: expect.any(Number),
      transaction
    })
    expect(receipt.issuedAt * 1_000).toBeGreaterThan(issuedAt - 1_000)
    expect(verifyReceiptMatchesOffer(receiptOf(reply), decoded!, [agent.account.address])).toBe(true)
  })

  it("do not verify after a change, and offers are the same within a minute", async () => {
    const agent = host.agent(0)
    const offersOf = async () => extractOffersFromPaymentRequired(await agent.challenge(createRequest()))
    // Two challenges of different minutes differ, four do not span three minutes.
    const signatures = new Set(
      [await offersOf(), await offersOf(), await offersOf()].map(([offer]) => offer?.signature)
    )
    expect(signatures.size).toBeLessThanOrEqual(2)
    const [offer] = await offersOf()
    if (offer === undefined || !isJWSSignedOffer(offer)) throw new Error("the challenge has no offer as JWS")
    const [header, payload, signature] = offer.signature.split(".")
    const cheaper = Buffer.from(payload!, "base64url").toString().replace('"250000"', '"1"')
    const forged = [header, Buffer.from(cheaper).toString("base64url"), signature].join(".")
    await expect(verifyOfferSignatureJWS({ ...offer, signature: forged })).rejects.toThrow()
  })
})

describe("a hundred copies of one paid request", () => {
  it("cause one transfer and one mailbox and receive one response", async () => {
    const agent = host.agent(2)
    await agent.createMailbox(freshName())
    const request = createRequest()
    const key = randomUUID()
    const signature = await agent.payment(request)
    const { amount, result } = await host.chain.charged(agent.account.address, async () => {
      const replies = await Promise.all(Array.from({ length: 100 }, () => agent.replay(request, signature, key)))
      return [...replies, await untilNotPending(() => agent.replay(request, signature, key))]
    })
    expect(amount).toBe(MAILBOX_PRICE)
    const finished = result.filter(({ status }) => status === 201)
    expect(new Set(finished.map(({ text }) => text)).size).toBe(1)
    expect(result.at(-1)!.status).toBe(201)
    for (const reply of result.filter(({ status }) => status !== 201)) {
      expect([reply.status, reply.body.error.code]).toEqual([409, "PAYMENT_PENDING"])
      expect(reply.headers.get("retry-after")).not.toBeNull()
    }
    const mailboxes = await agent.send({ path: "/api/v1/email/mailboxes/query" })
    const items = mailboxes.body.data["items"] as unknown as ReadonlyArray<{ readonly localPart: string }>
    expect(items.filter(({ localPart }) => localPart === request.body.localPart)).toHaveLength(1)
  })
})

describe("a facilitator that fails", () => {
  const payOnce = async (agent: Agent) => {
    const request = createRequest()
    const key = randomUUID()
    const signature = await agent.payment(request)
    return () => agent.replay(request, signature, key)
  }

  it("in verification has no effect, because the server does not use it", async () => {
    const agent = host.agent(0)
    const attempt = await payOnce(agent)
    await arm("verify", "reject")
    const { amount, result } = await host.chain.charged(agent.account.address, attempt)
    expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
  })

  it("by losing its response after settling: one charge, one delivery", async () => {
    const agent = host.agent(0)
    const attempt = await payOnce(agent)
    await arm("settle", "after")
    const { amount, result } = await host.chain.charged(agent.account.address, () => untilNotPending(attempt))
    expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
  })

  it("before settling: the response is not a 402, and a retry settles once", async () => {
    const agent = host.agent(0)
    const attempt = await payOnce(agent)
    await arm("settle", "before")
    const { amount, result } = await host.chain.charged(agent.account.address, async () => {
      const first = await attempt()
      expect([first.status, first.body.error.code]).toEqual([409, "PAYMENT_PENDING"])
      return untilNotPending(attempt)
    })
    expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
  })

  it("by refusing to settle: no charge", async () => {
    const agent = host.agent(0)
    const attempt = await payOnce(agent)
    await arm("settle", "reject")
    const { amount, result } = await host.chain.charged(agent.account.address, attempt)
    expect([result.status, result.body.error.code, amount]).toEqual([409, "PAYMENT_PENDING", 0n])
    expect(result.body.error.paymentState).toBe("unknown")
  })

  it("by hanging after the broadcast: one charge, one delivery", async () => {
    const agent = host.agent(0)
    const attempt = await payOnce(agent)
    await arm("settle", "hang")
    const { amount, result } = await host.chain.charged(agent.account.address, () => untilNotPending(attempt))
    expect([result.status, amount]).toEqual([201, MAILBOX_PRICE])
  })
})
