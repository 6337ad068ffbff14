import { AgentOs, AgentOsError, type AgentOsOptions, type TypedData } from "@agentos/client"
import { parseSignature, serializeCompactSignature, signatureToCompactSignature } from "viem"
import { afterEach, describe, expect, it, vi } from "vitest"
import { account, type Answer, BASE_URL, challenge, failure, scripted, success } from "./Scripted.ts"

const MAILBOXES = "/api/v1/email/mailboxes"
const SERVICES = "/api/v1/services"
const CREATE = { localPart: "ada" }
const bought = success({ mailbox: {}, operationId: "o" }, 201)

const connect = async (script: Readonly<Record<string, ReadonlyArray<Answer>>>, options: AgentOsOptions = {}) => {
  const server = scripted(script)
  return { ...server, agent: await AgentOs.connect(BASE_URL, { ...server.options, ...options }) }
}

/** Returns the AgentOsError of a call that fails. */
const errorOf = async (call: Promise<unknown>): Promise<AgentOsError> => {
  const error: unknown = await call.then(
    () => new Error("the call succeeded"),
    (reason: unknown) => reason
  )
  if (error instanceof AgentOsError) return error
  throw error
}

/** Returns the signature in the payment that was sent. */
const signatureIn = (requests: ReadonlyArray<{ readonly headers: Headers }>): unknown => {
  const header = requests.at(-1)?.headers.get("payment-signature") ?? ""
  return JSON.parse(Buffer.from(header, "base64").toString()).payload.signature
}

afterEach(() => vi.unstubAllGlobals())

describe("a redirect", () => {
  // Browsers hide the answer to a request whose redirects are not followed.
  const hidden = (): Response => Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" })
  const followed = (): Response => Object.defineProperty(success({ items: [] }), "redirected", { value: true })
  const moved = (): Response => new Response(null, { status: 307, headers: { location: "https://other.example/" } })

  it.each([
    [
      "with its address",
      moved,
      "https://agentos.example redirects to https://other.example/. Redirects are not followed"
    ],
    ["as a browser shows it", hidden, "https://agentos.example redirects. Redirects are not followed"],
    ["that fetch followed", followed, "https://agentos.example redirects. Redirects are not followed"]
  ])("%s is refused, and not retried", async (_, answer, message) => {
    const modes: Array<unknown> = []
    const fetch: AgentOsOptions["fetch"] = async (_url, { redirect }) => {
      modes.push(redirect)
      return answer()
    }
    const agent = await AgentOs.connect(BASE_URL, { fetch })
    const error = await errorOf(agent.call("listServices"))
    expect(error).toMatchObject({ code: "UNEXPECTED_ANSWER", moneyMoved: "no", isRetryable: false })
    expect(error.message).toContain(message)
    expect(modes).toEqual(["manual"])
  })

  it("of a payment leaves its outcome unknown", async () => {
    const { agent } = await connect({ [MAILBOXES]: [challenge(), moved()] })
    const error = await errorOf(agent.call("createMailbox", CREATE))
    expect(error).toMatchObject({ code: "PAYMENT_OUTCOME_UNKNOWN", moneyMoved: "unknown" })
    expect(error.message).toMatch(/another server\. Connect to the base URL that answers itself\. The payment may have/)
  })
})

describe("an environment without WebSocket", () => {
  it("is told what to do before anything is sent", async () => {
    vi.stubGlobal("WebSocket", undefined)
    const error = await errorOf(connect({}))
    expect(error).toMatchObject({ code: "INVALID_OPTION", moneyMoved: "no" })
    expect(error.message).toMatch(/Use Node 22 or later, or pass WebSocket of the package ws to AgentOs\.connect/)
    const { agent } = await connect({ [SERVICES]: [success({ items: [] })] }, { WebSocket: class {} as never })
    expect(await agent.call("listServices")).toEqual({ items: [] })
  })
})

describe("a fetch that pays by itself", () => {
  it("is unwrapped if it is that of mppx, also as the global one that was replaced later", async () => {
    const { options, requests } = scripted({ [MAILBOXES]: [challenge(), bought] })
    const { fetch, ...others } = options
    const agent = await AgentOs.connect(BASE_URL, others)
    const wrapper = () => Promise.reject(new Error("No method found for challenges"))
    vi.stubGlobal("fetch", Object.assign(wrapper, { [Symbol.for("mppx.fetch.wrapper")]: fetch }))
    await agent.call("createMailbox", CREATE)
    expect(requests).toHaveLength(2)
  })

  it("is named when the server refuses its payment, which has no key", async () => {
    const keyless = failure(400, {
      code: "INVALID_REQUEST",
      issues: [{ path: "Idempotency-Key", message: "is missing" }]
    })
    const { agent, signatures } = await connect({ [MAILBOXES]: [keyless] })
    const error = await errorOf(agent.call("createMailbox", CREATE))
    expect(error).toMatchObject({ code: "INVALID_OPTION", moneyMoved: "no" })
    expect(error.message).toMatch(/^fetch pays by itself.*Pass the fetch of the platform.*Nothing was charged\.$/)
    expect(signatures).toEqual([])
    expect(await errorOf(agent.quote({ method: "POST", path: MAILBOXES, body: "{}" }))).toMatchObject({
      code: "INVALID_OPTION"
    })
  })

  it("is named when it has paid, with the result", async () => {
    const paid = bought.clone()
    paid.headers.set("payment-response", "e30=")
    const { agent } = await connect({ [MAILBOXES]: [paid] })
    const error = await errorOf(agent.call("createMailbox", CREATE))
    expect(error).toMatchObject({ code: "INVALID_OPTION", moneyMoved: "yes", answer: { status: 201 } })
  })
})

describe("a wallet", () => {
  it("of ethers signs payments", async () => {
    /** It has the interface of Wallet in ethers 6. */
    class EthersLike {
      readonly address = account.address as string
      readonly #calls: Array<unknown> = []
      async getAddress(): Promise<string> {
        return this.address
      }
      async signTypedData(
        domain: TypedData["domain"],
        types: Record<string, Array<{ name: string; type: string }>>,
        message: Record<string, unknown>
      ): Promise<string> {
        this.#calls.push(domain)
        return account.signTypedData({ domain, types, message, primaryType: "TransferWithAuthorization" })
      }
      async signMessage(message: string): Promise<string> {
        this.#calls.push(message)
        return account.signMessage({ message })
      }
    }
    const { agent, requests } = await connect({ [MAILBOXES]: [challenge(), bought] }, { wallet: new EthersLike() })
    await agent.call("createMailbox", CREATE)
    expect(signatureIn(requests)).toMatch(/^0x[0-9a-f]{130}$/)
  })

  it("may sign in 64 bytes (EIP-2098), which are sent as 65", async () => {
    const full: Array<string> = []
    const wallet = {
      ...account,
      signTypedData: async (typedData: TypedData) => {
        const signature = await account.signTypedData(typedData)
        full.push(signature)
        return serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
      }
    }
    const parities = () => new Set(full.map((signature) => signature.slice(-2)))
    // The nonce is random, so the parity of each signature is, too. Both have to be seen.
    while (parities().size < 2) {
      const { agent, requests } = await connect({ [MAILBOXES]: [challenge(), bought] }, { wallet })
      await agent.call("createMailbox", CREATE)
      expect(signatureIn(requests)).toBe(full.at(-1))
    }
    expect(parities()).toEqual(new Set(["1b", "1c"]))
  })

  it.each([
    ["an error", () => Promise.reject(new Error("User denied the request.")), "User denied the request."],
    ["a text", () => Promise.reject("locked"), "locked."],
    ["no signature", () => Promise.resolve("0x"), "it returned no signature, which is hex of 65 bytes or more."],
    [
      "nothing",
      () => Promise.resolve(undefined as never),
      "it returned no signature, which is hex of 65 bytes or more."
    ]
  ])("that answers with %s fails the call with a reason", async (_, signTypedData, reason) => {
    const wallet = { ...account, signTypedData: signTypedData as typeof account.signTypedData }
    const { agent, requests } = await connect({ [MAILBOXES]: [challenge()] }, { wallet })
    const error = await errorOf(agent.call("createMailbox", CREATE))
    expect(error).toMatchObject({ code: "WALLET_FAILED", moneyMoved: "no" })
    expect(error.message).toBe(`The wallet did not sign: ${reason} Nothing was charged.`)
    expect(requests).toHaveLength(1)
  })

  it.each([
    ["without an address", { account }],
    ["that cannot sign", { address: account.address }]
  ])("%s is refused with two that work", async (_, wallet) => {
    const error = await errorOf(connect({}, { wallet: wallet as never }))
    expect(error).toMatchObject({ code: "INVALID_OPTION" })
    expect(error.message).toMatch(/privateKeyToAccount\(key\) of viem, or new Wallet\(key\) of ethers 6\.$/)
  })
})

describe("an option that throws", () => {
  const broken = () => {
    throw new Error("out of order")
  }
  it.each<[string, AgentOsOptions, string, string]>([
    ["wallet", { wallet: broken }, "WALLET_FAILED", "no"],
    ["onPayment", { onPayment: broken }, "PAYMENT_NOT_APPROVED", "no"],
    ["tokens.get", { tokens: { get: broken, set: broken } }, "TOKENS_FAILED", "no"],
    ["tokens.set", { tokens: { get: () => null, set: broken } }, "TOKENS_FAILED", "yes"],
    ["onRetry", { onRetry: broken }, "PAYMENT_OUTCOME_UNKNOWN", "unknown"],
    ["journal.save", { journal: { load: async () => [], save: broken } }, "JOURNAL_FAILED", "no"]
  ])("%s is an AgentOsError that says whether money moved", async (name, options, code, moneyMoved) => {
    const paid = success({ mailbox: {}, authentication: { accessToken: "at_v1_x" }, operationId: "o" }, 201)
    const first = name === "onRetry" ? [challenge(), new TypeError("the connection was closed")] : [challenge()]
    const { agent } = await connect({ [MAILBOXES]: [...first, paid] }, options)
    const error = await errorOf(agent.call("createMailbox", CREATE))
    expect(error).toMatchObject({ code, moneyMoved, cause: { message: "out of order" } })
    expect(error.message).toContain("out of order.")
  })
})
