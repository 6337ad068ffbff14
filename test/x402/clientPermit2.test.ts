import { AgentOs, type WalletAccount } from "@agentos/client"
import { TOKEN_PRESETS, type TokenPreset } from "@agentos/x402"
import { decodePaymentSignatureHeader, encodePaymentRequiredHeader } from "@x402/core/http"
import type { PaymentRequirements } from "@x402/core/types"
import type { ClientEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { privateKeyToAccount } from "viem/accounts"
import { expect, it } from "vitest"

const account = privateKeyToAccount(`0x${"11".repeat(32)}`)
const TERMS: PaymentRequirements = {
  scheme: "exact",
  network: "eip155:1",
  asset: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
  amount: "250000",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxTimeoutSeconds: 60,
  extra: { name: "Tether USD", assetTransferMethod: "permit2" }
}
const { asset, network } = TERMS

/** Returns the value with the types of the fields that differ between two payments, and addresses in one case. */
const comparable = (value: unknown): unknown => {
  const text = JSON.stringify(value, (key, field: unknown) => {
    if (key === "nonce" || key === "deadline" || key === "signature") return typeof field
    return typeof field === "bigint" ? `${field}n` : field
  })
  return JSON.parse(text.toLowerCase())
}

it("signs Permit2 as @x402/evm does, for the same contract", async () => {
  const signed: Array<unknown> = []
  const signTypedData: ClientEvmSigner["signTypedData"] & WalletAccount["signTypedData"] = (typed: never) => {
    signed.push(typed)
    return account.signTypedData(typed)
  }
  const wallet = { address: account.address, signTypedData, signMessage: account.signMessage }
  const standard = await new ExactEvmScheme(wallet).createPaymentPayload(2, TERMS)

  const paid: Array<string> = []
  const challenge = encodePaymentRequiredHeader({
    x402Version: 2,
    error: "Payment required",
    resource: { url: "https://agentos.example", description: "", mimeType: "application/json" },
    accepts: [TERMS]
  })
  const agent = await AgentOs.connect("https://agentos.example", {
    wallet,
    spend: { perCall: "0.25" },
    assets: [{ network, asset }],
    fetch: async (_url, { headers }) => {
      const signature = new Headers(headers).get("payment-signature")
      if (signature === null) return Response.json({}, { status: 402, headers: { "payment-required": challenge } })
      paid.push(signature)
      return Response.json({ data: { mailbox: {} }, requestId: "r" }, { status: 201 })
    }
  })
  await agent.call("createMailbox", { localPart: "ada" })

  const [theirs, ours] = signed
  expect(comparable(ours)).toEqual(comparable(theirs))
  const { accepted, payload } = decodePaymentSignatureHeader(paid[0]!)
  expect(accepted).toEqual(TERMS)
  expect(comparable(payload)).toEqual(comparable(standard.payload))
})

/** A challenge for 0.25 of a preset's token, in a client that asks before it pays. */
const asking = async (preset: TokenPreset, options: Partial<Parameters<typeof AgentOs.connect>[1]> = {}) => {
  const challenge = encodePaymentRequiredHeader({
    x402Version: 2,
    error: "Payment required",
    resource: { url: "https://agentos.example", description: "", mimeType: "application/json" },
    accepts: [
      {
        ...TERMS,
        network: preset.network as PaymentRequirements["network"],
        asset: preset.asset,
        amount: `25${"0".repeat(preset.decimals - 2)}`
      }
    ]
  })
  const prices: Array<string> = []
  const agent = await AgentOs.connect("https://agentos.example", {
    wallet: account,
    onPayment: ({ price }) => prices.push(price) < 0,
    fetch: async () => Response.json({}, { status: 402, headers: { "payment-required": challenge } }),
    ...options
  })
  return { prices, call: agent.call("createMailbox", { localPart: "ada" }) }
}

const PRESETS: ReadonlyArray<readonly [string, TokenPreset]> = Object.entries(TOKEN_PRESETS)

it.each(PRESETS.filter(([, { symbol }]) => symbol === undefined))(
  "counts USDT of the preset %s as USDT",
  async (_, preset) => {
    const { call, prices } = await asking(preset)
    await expect(call).rejects.toMatchObject({ code: "PAYMENT_NOT_APPROVED" })
    expect(prices).toEqual(["0.25"])
  }
)

it.each(PRESETS.filter(([, { symbol }]) => symbol !== undefined))(
  "pays the token of the preset %s only to a person who listed it, and says so",
  async (_, preset) => {
    const { asset, network } = preset
    const unlisted = await asking(preset)
    await expect(unlisted.call).rejects.toMatchObject({
      code: "PAYMENT_UNSUPPORTED",
      message: expect.stringMatching(
        new RegExp(
          `a token that is not a known USDT contract .*${asset} on ${network}.* List it in assets to accept it`
        )
      )
    })
    expect(unlisted.prices).toEqual([])
    const listed = await asking(preset, { assets: [{ network, asset }] })
    await expect(listed.call).rejects.toMatchObject({ code: "PAYMENT_NOT_APPROVED" })
    expect(listed.prices).toEqual(["0.25"])
  }
)
