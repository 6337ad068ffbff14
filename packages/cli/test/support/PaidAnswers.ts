import { challengeReply, REQUEST_ID, type Reply } from "./ApiDouble.ts"

/** The well-known first key of development chains (mnemonic "test test … junk"). */
export const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
export const PAYER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
export const TOKEN = "at_v1_0123456789abcdef"
export const TRANSACTION = `0x${"ab".repeat(32)}`
export const ASSET = "0x779Ded0c9e1022225f8E0630b35a9b54bE713736"
export const PAY_TO = "0x1111111111111111111111111111111111111111"

/** The payment option for a mailbox. */
export const offer = (more: Readonly<Record<string, unknown>> = {}) => ({
  scheme: "exact",
  network: "eip155:196",
  asset: ASSET,
  amount: "250000",
  payTo: PAY_TO,
  maxTimeoutSeconds: 120,
  extra: { name: "USDT0", version: "1", binding: "a-mac-of-the-server" },
  ...more
})

export const challenge = (more: Readonly<Record<string, unknown>> = {}): Reply => challengeReply([offer(more)])

/** The 402 response with the message to sign of an operation with sign-in-with-x. */
export const signInReply =
  (path: string, more: Readonly<Record<string, unknown>> = {}): Reply =>
  (url) => {
    const info = {
      domain: new URL(url).host,
      uri: `${url}${path}`,
      statement: "Returns the current access token of the wallet that signs in.",
      version: "1",
      nonce: "0123456789abcdefghij",
      issuedAt: "2026-01-31T12:00:00.000Z",
      expirationTime: "2026-01-31T12:05:00.000Z",
      ...more
    }
    const extension = { info, supportedChains: [{ chainId: "eip155:196", type: "eip191" }], schema: {} }
    const required = { x402Version: 2, accepts: [], extensions: { "sign-in-with-x": extension } }
    return {
      status: 402,
      headers: { "PAYMENT-REQUIRED": Buffer.from(JSON.stringify(required)).toString("base64") },
      body: {
        error: { code: "PAYMENT_REQUIRED", message: "Sign in.", requestId: REQUEST_ID, retryable: false },
        guides: {}
      }
    }
  }

const receipt = Buffer.from(JSON.stringify({ success: true, transaction: TRANSACTION })).toString("base64")

/** The response to a successful payment. */
export const paid = (data: unknown): Reply => ({
  status: 201,
  headers: { "PAYMENT-RESPONSE": receipt },
  body: { data, requestId: REQUEST_ID, guide: "/docs" }
})

/** The responses of an RPC to the two requests for a balance. */
export const rpcReplies = (balance: bigint): ReadonlyArray<Reply> =>
  ["0xc4", `0x${balance.toString(16)}`].map((result) => ({ status: 200, body: { jsonrpc: "2.0", id: 1, result } }))

/** The answer to `listLimits` with a token of this wallet. */
export const limitsOf = (wallet: string) => ({
  data: { items: [], sendingPause: null, callableCountries: [], wallet: wallet.toLowerCase() }
})
