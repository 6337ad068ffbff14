import { mkdtemp, rm } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HTTPFacilitatorClient } from "@x402/core/http"
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types"
import { type Address, parseEventLogs } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { type Chain, startChain } from "../../src/chain/Chain.ts"
import { sandboxClient, sandboxUsdtAbi, usdt } from "../../src/chain/SandboxNetwork.ts"
import { type FacilitatorServer, startFacilitator } from "../../src/facilitator/FacilitatorServer.ts"
import { killChain } from "../chain/TestChain.ts"
import { startStandIn } from "../shared/ChildProcesses.ts"
import { pay, requirementsOf } from "./Buyer.ts"

let dataDir: string
let chain: Chain
let facilitator: FacilitatorServer

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "agentos-facilitator-"))
  chain = await startChain({ dataDir })
  facilitator = await startFacilitator({ ...chain, port: 0, privateKey: chain.facilitatorKey })
})
afterAll(async () => {
  await facilitator.close()
  await chain.stop()
  await rm(dataDir, { recursive: true, force: true })
})
afterEach(async () => {
  await fetch(`${facilitator.url}/sandbox/faults`, { method: "DELETE" })
})

const remote = (timeoutMs = 30_000) => new HTTPFacilitatorClient({ url: facilitator.url, timeoutMs })
const client = () => sandboxClient(chain.rpcUrl)

const wallet = (index = 0) => {
  const found = chain.wallets[index]
  if (found === undefined) throw new Error(`No wallet ${index}`)
  return found
}

const paid = async (index = 0, requirements = requirementsOf(chain)) => ({
  requirements,
  payload: await pay(wallet(index).privateKey, requirements)
})

const treasury = () =>
  client().readContract({ address: chain.asset, abi: sandboxUsdtAbi, functionName: "balanceOf", args: [chain.payTo] })

const transactionsSent = () => client().getTransactionCount({ address: privateKeyToAddress(chain.facilitatorKey) })

const isUsed = (payload: PaymentPayload) => {
  const { authorization } = payload.payload as {
    authorization: { from: Address; nonce: `0x${string}` }
  }
  return client().readContract({
    address: chain.asset,
    abi: sandboxUsdtAbi,
    functionName: "authorizationState",
    args: [authorization.from, authorization.nonce]
  })
}

const post = (path: string, body: string, contentType = "application/json") =>
  fetch(`${facilitator.url}${path}`, { method: "POST", headers: { "Content-Type": contentType }, body })

const plan = (fault: unknown) => post("/sandbox/faults", JSON.stringify(fault))

describe("the facilitator", () => {
  it("lists the supported scheme and network for the standard client", async () => {
    const supported = await remote().getSupported()
    expect(supported.kinds).toEqual([{ x402Version: 2, scheme: "exact", network: chain.network }])
    expect(supported.signers).toEqual({ "eip155:*": [privateKeyToAddress(chain.facilitatorKey)] })
  })

  it("verifies and settles a payment of the standard client", async () => {
    const { payload, requirements } = await paid()
    const before = await treasury()
    expect(await remote().verify(payload, requirements)).toMatchObject({ isValid: true, payer: wallet().address })
    expect(await treasury()).toBe(before)
    const settled = await remote().settle(payload, requirements)
    expect(settled).toMatchObject({ success: true, network: chain.network, payer: wallet().address })
    expect(await treasury()).toBe(before + 250_000n)
    const receipt = await client().getTransactionReceipt({ hash: settled.transaction as `0x${string}` })
    const events = parseEventLogs({ abi: sandboxUsdtAbi, logs: receipt.logs })
    expect(events.map((event) => event.eventName)).toEqual(["AuthorizationUsed", "Transfer"])
  })

  it("settles payments of different payers concurrently with one gas wallet", async () => {
    const payments = await Promise.all([0, 1, 2, 3, 4].map((index) => paid(index)))
    const before = await treasury()
    const settled = await Promise.all(
      payments.map(({ payload, requirements }) => remote().settle(payload, requirements))
    )
    expect(settled.map((answer) => answer.success)).toEqual([true, true, true, true, true])
    expect(new Set(settled.map((answer) => answer.transaction)).size).toBe(5)
    expect(await treasury()).toBe(before + 5n * 250_000n)
  })

  it("settles concurrent payments of one payer", async () => {
    const payments = await Promise.all(Array.from({ length: 20 }, () => paid()))
    const settled = await Promise.all(
      payments.map(({ payload, requirements }) => remote().settle(payload, requirements))
    )
    expect(settled.filter((answer) => answer.success)).toHaveLength(20)
  })

  it("rejects a payment that was settled before, and sends no second transaction", async () => {
    const { payload, requirements } = await paid()
    expect(await remote().settle(payload, requirements)).toMatchObject({ success: true })
    const [before, sent] = [await treasury(), await transactionsSent()]
    expect(await remote().verify(payload, requirements)).toMatchObject({
      isValid: false,
      invalidReason: "invalid_exact_evm_nonce_already_used"
    })
    expect(await remote().settle(payload, requirements)).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_nonce_already_used",
      transaction: ""
    })
    expect(await treasury()).toBe(before)
    expect(await transactionsSent()).toBe(sent)
  })

  it("settles an authorization once for five concurrent requests, and spends gas once", async () => {
    const { payload, requirements } = await paid()
    const [before, sent] = [await treasury(), await transactionsSent()]
    const settled = await Promise.all([1, 2, 3, 4, 5].map(() => remote().settle(payload, requirements)))
    expect(settled.filter((answer) => answer.success)).toHaveLength(1)
    expect(await treasury()).toBe(before + 250_000n)
    expect(await transactionsSent()).toBe(sent + 1)
  })

  const rejections: ReadonlyArray<[string, string, () => Promise<[PaymentPayload, PaymentRequirements]>]> = [
    [
      "another amount",
      "invalid_exact_evm_payload_authorization_value_mismatch",
      async () => [(await paid()).payload, requirementsOf(chain, { amount: "250001" })]
    ],
    [
      "another recipient",
      "invalid_exact_evm_recipient_mismatch",
      async () => [(await paid()).payload, requirementsOf(chain, { payTo: wallet(1).address })]
    ],
    [
      "more than the payer has",
      "invalid_exact_evm_insufficient_balance",
      async () => {
        const { payload, requirements } = await paid(0, requirementsOf(chain, { amount: String(usdt(20_000)) }))
        return [payload, requirements]
      }
    ],
    [
      "another token",
      "invalid_payment_requirements",
      async () => [(await paid()).payload, requirementsOf(chain, { asset: wallet(1).address })]
    ],
    [
      "another network",
      "invalid_network",
      async () => [(await paid()).payload, requirementsOf(chain, { network: "eip155:1" })]
    ],
    [
      "another scheme",
      "unsupported_scheme",
      async () => [(await paid()).payload, requirementsOf(chain, { scheme: "upto" })]
    ],
    [
      "a payload without an authorization",
      "invalid_payload",
      async () => [
        { ...(await paid()).payload, payload: { signature: "0x", authorization: {} } },
        requirementsOf(chain)
      ]
    ]
  ]
  it.each(rejections)("rejects %s", async (_, reason, make) => {
    const [payload, requirements] = await make()
    const verified = await remote().verify(payload, requirements)
    expect(verified).toMatchObject({ isValid: false, invalidReason: reason })
    const settled = await remote().settle(payload, requirements)
    expect(settled).toMatchObject({ success: false, transaction: "" })
  })

  it("returns 503 while the chain is unavailable, and recovers with it", async () => {
    const { payload, requirements } = await paid()
    await killChain(chain)
    await expect(remote().verify(payload, requirements)).rejects.toThrow("503")
    await expect(remote().settle(payload, requirements)).rejects.toThrow("503")
    expect((await fetch(`${facilitator.url}/health`)).status).toBe(503)
    chain = await startChain({ dataDir, port: chain.port })
    expect((await fetch(`${facilitator.url}/health`)).status).toBe(200)
    expect(await remote().settle(payload, requirements)).toMatchObject({ success: true })
  })
})

describe("the facilitator's HTTP", () => {
  it.each([
    ["POST", "/nothing", 404],
    ["GET", "/verify", 405],
    ["DELETE", "/supported", 405]
  ])("answers %s %s with %i", async (method, path, status) => {
    expect((await fetch(`${facilitator.url}${path}`, { method })).status).toBe(status)
  })

  it("does not move time where no clock can be moved", async () => {
    expect((await post("/sandbox/clock", '{"advanceSeconds":1}')).status).toBe(409)
    expect(await (await fetch(`${facilitator.url}/sandbox/clock`)).json()).toMatchObject({ offsetSeconds: 0 })
  })

  it("rejects bodies that are too long, of another type, not JSON, or not a request", async () => {
    expect((await post("/verify", `"${"x".repeat(64 * 1_024)}"`)).status).toBe(413)
    expect((await post("/verify", "{}", "text/plain")).status).toBe(415)
    expect((await post("/verify", "{")).status).toBe(400)
    for (const body of ["{}", "null", "[]", '"verify"']) expect((await post("/settle", body)).status).toBe(400)
    const { payload, requirements } = await paid()
    const versionOne = { x402Version: 1, paymentPayload: payload, paymentRequirements: requirements }
    expect((await post("/settle", JSON.stringify(versionOne))).status).toBe(400)
  })

  it("survives invalid HTTP and closed connections", async () => {
    for (const bytes of ["\r\n\r\nnonsense\r\n\r\n", "POST // HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"]) {
      await new Promise<void>((resolve) => {
        const socket = connect(facilitator.port, "127.0.0.1", () => socket.end(bytes))
        socket.on("error", () => undefined).on("close", () => resolve())
        socket.resume()
      })
    }
    expect((await fetch(`${facilitator.url}/health`)).status).toBe(200)
  })
})

describe("faults", () => {
  it("before: returns 500 without any effect, as often as planned", async () => {
    await plan({ operation: "settle", mode: "before", times: 2 })
    const { payload, requirements } = await paid()
    await expect(remote().settle(payload, requirements)).rejects.toThrow("500")
    await expect(remote().settle(payload, requirements)).rejects.toThrow("500")
    expect(await isUsed(payload)).toBe(false)
    expect(await remote().settle(payload, requirements)).toMatchObject({ success: true })
  })

  it("after: settles, and closes the connection without a response", async () => {
    await plan({ operation: "settle", mode: "after" })
    const { payload, requirements } = await paid()
    await expect(remote().settle(payload, requirements)).rejects.toThrow("fetch failed")
    expect(await isUsed(payload)).toBe(true)
  })

  it("reject: rejects with a regular response", async () => {
    await plan({ operation: "verify", mode: "reject" })
    await plan({ operation: "settle", mode: "reject" })
    const { payload, requirements } = await paid()
    expect(await remote().verify(payload, requirements)).toMatchObject({
      isValid: false,
      invalidReason: "insufficient_funds"
    })
    expect(await remote().settle(payload, requirements)).toMatchObject({
      success: false,
      errorReason: "insufficient_funds",
      transaction: ""
    })
    expect(await isUsed(payload)).toBe(false)
  })

  it("hang: settles, and does not respond until the client times out", async () => {
    await plan({ operation: "settle", mode: "hang" })
    const { payload, requirements } = await paid()
    await expect(remote(400).settle(payload, requirements)).rejects.toThrow("timed out")
    expect(await isUsed(payload)).toBe(true)
  })

  it("apply to one operation, and to verify as well", async () => {
    await plan({ operation: "verify", mode: "before" })
    await plan({ operation: "verify", mode: "after" })
    await plan({ operation: "verify", mode: "hang" })
    const { payload, requirements } = await paid()
    expect(await remote().settle(payload, requirements)).toMatchObject({ success: true })
    await expect(remote().verify(payload, requirements)).rejects.toThrow("500")
    await expect(remote().verify(payload, requirements)).rejects.toThrow("fetch failed")
    await expect(remote(200).verify(payload, requirements)).rejects.toThrow("timed out")
    expect(await remote().verify(payload, requirements)).toMatchObject({ isValid: false })
  })

  it("can apply to one authorization only", async () => {
    const [one, other] = [await paid(), await paid()]
    const { authorization } = one.payload.payload as { authorization: { nonce: string } }
    await plan({ operation: "settle", mode: "reject", only: authorization.nonce })
    expect(await remote().settle(other.payload, other.requirements)).toMatchObject({ success: true })
    expect(await remote().settle(one.payload, one.requirements)).toMatchObject({ success: false })
    expect(await remote().settle(one.payload, one.requirements)).toMatchObject({ success: true })
  })

  it("can be listed and cleared", async () => {
    const answer = await plan({ operation: "settle", mode: "hang", times: 3 })
    const faults = [{ operation: "settle", mode: "hang", times: 3 }]
    expect(await answer.json()).toEqual({ faults })
    expect(await (await fetch(`${facilitator.url}/sandbox/faults`)).json()).toEqual({ faults })
    const cleared = await fetch(`${facilitator.url}/sandbox/faults`, { method: "DELETE" })
    expect(await cleared.json()).toEqual({ faults: [] })
  })

  it.each([
    { fault: {} },
    { fault: null },
    { fault: [] },
    { fault: { operation: "refund", mode: "before" } },
    { fault: { operation: "settle", mode: "sometimes" } },
    { fault: { operation: "settle", mode: "before", times: 0 } },
    { fault: { operation: "settle", mode: "before", times: 1.5 } },
    { fault: { operation: "settle", mode: "before", times: 1_001 } },
    { fault: { operation: "settle", mode: "before", often: 1 } }
  ])("are rejected if invalid: $fault", async ({ fault }) => {
    expect((await plan(fault)).status).toBe(400)
    expect(await (await fetch(`${facilitator.url}/sandbox/faults`)).json()).toEqual({ faults: [] })
  })
})

describe("the facilitator process", () => {
  it("serves in its own process, and stops when its stdin closes", async () => {
    const child = await startStandIn<{ ready: string; pid: number; port: number; url: string }>("facilitator", {
      rpcUrl: chain.rpcUrl,
      chainId: chain.chainId,
      asset: chain.asset,
      privateKey: chain.facilitatorKey,
      port: 0
    })
    expect(child.ready).toEqual({
      ready: "facilitator",
      pid: child.process.pid,
      port: child.ready.port,
      url: `http://127.0.0.1:${child.ready.port}`
    })
    const { payload, requirements } = await paid()
    const outside = new HTTPFacilitatorClient({ url: child.ready.url, timeoutMs: 30_000 })
    expect(await outside.settle(payload, requirements)).toMatchObject({ success: true })
    child.process.stdin?.end()
    expect(await child.exitCode()).toBe(0)
  })
})

describe("the faucet", () => {
  const addressOf = (index: number): Address => `0x${String(index).padStart(40, "a")}`

  const balanceOf = (address: Address) =>
    client().readContract({ address: chain.asset, abi: sandboxUsdtAbi, functionName: "balanceOf", args: [address] })

  const fund = async (body: unknown, url = facilitator.url) => {
    const headers = { "Content-Type": "application/json" }
    const response = await fetch(`${url}/sandbox/faucet`, { method: "POST", headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }

  it("gives test USDT, also to many wallets at the same time", async () => {
    const amounts = ["100.00", "0.000001", "10000", "7.5"]
    const answers = await Promise.all(amounts.map((amount, index) => fund({ address: addressOf(index), amount })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(await Promise.all(amounts.map((_, index) => balanceOf(addressOf(index))))).toEqual([
      100_000_000n,
      1n,
      10_000_000_000n,
      7_500_000n
    ])
    // The case of an address is no reason to refuse it.
    expect((await fund({ address: `0x${"CAFBa1b6".repeat(5)}` })).status).toBe(200)
    const { body } = await fund({ address: addressOf(9) })
    expect(body).toEqual({
      address: addressOf(9),
      amount: "100.00",
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) as string
    })
  })

  it.each([
    [{ address: "ada", amount: "1" }, 400, "`address`: must be an address: 0x and 40 hexadecimal digits"],
    [{ address: addressOf(1), amount: 1 }, 400, "`amount`: "],
    [{ address: addressOf(1), amount: "1e6" }, 400, "`amount`: must be an amount of USDT as text, such as 100.00"],
    [{ address: addressOf(1), amount: "0.0" }, 422, "`amount`: must be above 0 and at most 10000 USDT"],
    [{ address: addressOf(1), amount: "10000.01" }, 422, "`amount`: must be above 0 and at most 10000 USDT"],
    [{ address: `0x${"0".repeat(40)}` }, 422, "`address`: the zero address can't receive tokens"],
    [{ amount: "1" }, 400, "missing property `address`"]
  ])("refuses %j", async (body, status, message) => {
    const before = await balanceOf(addressOf(1))
    const answer = await fund(body)
    expect(answer.status).toBe(status)
    expect(answer.body["error"]).toContain(message)
    expect(await balanceOf(addressOf(1))).toBe(before)
  })

  it("says that it is empty, and that the chain is unavailable, and sends nothing", async () => {
    const before = await balanceOf(addressOf(2))
    const empty = await startFacilitator({
      ...chain,
      port: 0,
      faucetKey: `0x${"7".repeat(64)}`,
      privateKey: chain.facilitatorKey
    })
    onTestFinished(() => empty.close())
    const { body, status } = await fund({ address: addressOf(2) }, empty.url)
    expect([status, body["error"]]).toEqual([
      409,
      "the faucet has not that much: start the sandbox with another data folder"
    ])
    const rpcUrl = "http://127.0.0.1:9"
    const cut = await startFacilitator({ ...chain, rpcUrl, port: 0, privateKey: chain.facilitatorKey })
    onTestFinished(() => cut.close())
    expect(await fund({ address: addressOf(2) }, cut.url)).toMatchObject({
      status: 503,
      body: { error: "The chain is unavailable" }
    })
    expect(await balanceOf(addressOf(2))).toBe(before)
  })
})
