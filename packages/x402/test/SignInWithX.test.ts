import { SignInProtocol, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { decodePaymentRequiredHeader } from "@x402/core/http"
import { Effect } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { createSiweMessage } from "viem/siwe"
import { messageText } from "../src/SignInWithX.ts"
import { SignInWithX } from "../src/index.ts"

const account = privateKeyToAccount(`0x${"1".repeat(64)}`)
const issuedAt = Timestamp.Timestamp.make(Date.parse("2026-01-02T03:04:05.006Z"))
const termsAt = (host: string) => ({
  domain: host,
  uri: `http://${host}/api/v1/auth/token`,
  statement: "Returns the current access token of the wallet that signs in.",
  nonce: "a".repeat(66),
  issuedAt,
  expiresAt: Timestamp.add(issuedAt, 300_000)
})
const messageAt = (host: string) => ({
  terms: termsAt(host),
  address: account.address,
  chainId: "eip155:196",
  signature: ""
})

const protocol = Effect.provide(SignInProtocol, SignInWithX.layer(["eip155:196", "eip155:196", "eip155:1"]))

describe("SignInWithX", () => {
  it.each(["agents.example", "agents.example:8443", "127.0.0.1:8080", "localhost:3000"])(
    "writes the text of EIP-4361 for %s as viem does",
    (host) => {
      const { domain, expiresAt, nonce, statement, uri } = termsAt(host)
      const expected = createSiweMessage({
        address: account.address,
        chainId: 196,
        version: "1",
        issuedAt: new Date(issuedAt),
        expirationTime: new Date(expiresAt),
        domain,
        uri,
        statement,
        nonce
      })
      assert.strictEqual(messageText(messageAt(host)), expected)
    }
  )

  it.effect.each(["server:8080", "[::1]:8080"])("recovers the wallet that signed for %s, in any spelling", (host) =>
    Effect.gen(function* () {
      const message = messageAt(host)
      const signature = yield* Effect.promise(() => account.signMessage({ message: messageText(message) }))
      const address = account.address.toLowerCase()
      const { authenticate } = yield* protocol
      assert.strictEqual(yield* authenticate({ ...message, signature }), address)
      assert.strictEqual(yield* authenticate({ ...message, address, signature }), address)
      const other = { ...message, terms: { ...message.terms, nonce: "b".repeat(66) }, signature }
      assert.match((yield* Effect.flip(authenticate(other))).message, /signed by another wallet/)
    })
  )

  it.effect("offers each network once, and nothing to pay", () =>
    Effect.gen(function* () {
      const { encodeChallenge } = yield* protocol
      const terms = termsAt("agents.example")
      const header = encodeChallenge({ url: terms.uri, statement: terms.statement }, terms)
      const { accepts, extensions } = decodePaymentRequiredHeader(header)
      assert.deepStrictEqual(accepts, [])
      assert.deepInclude(extensions?.["sign-in-with-x"], {
        supportedChains: [
          { chainId: "eip155:196", type: "eip191" },
          { chainId: "eip155:1", type: "eip191" }
        ]
      })
    })
  )
})
