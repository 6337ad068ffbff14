import { SignInProtocol, Timestamp } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { decodePaymentRequiredHeader } from "@x402/core/http"
import { Effect } from "effect"
import { hashMessage } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { createSiweMessage } from "viem/siwe"
import { messageText } from "../src/SignInWithX.ts"
import { SignInWithX } from "../src/index.ts"
import * as ChainFake from "./support/ChainFake.ts"
import { network } from "./support/Sample.ts"

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

  const smartAccount = "0x1271000000000000000000000000000000001271"
  const signatureOf = (length: number) => `0x01${"ab".repeat(length - 1)}`

  /** A chain, and sign-in for its smart accounts. */
  const smart = Effect.gen(function* () {
    const { state, url } = yield* ChainFake.start
    const configured = { ...network(url, url), smartAccounts: true, rpcTimeoutMillis: 300 }
    const layer = SignInWithX.layer([configured.network, "eip155:1"], [configured])
    const message = { ...messageAt("agents.example"), chainId: configured.network, address: smartAccount }
    return { state, message, protocol: yield* Effect.provide(SignInProtocol, layer) }
  })

  it.effect("asks a smart account whether it signed the text, on its network only", () =>
    Effect.gen(function* () {
      const { message, protocol: own, state } = yield* smart
      const asked: Array<string> = []
      state.contracts.set(smartAccount, (data) => {
        asked.push(data)
        return `0x1626ba7e${"00".repeat(28)}`
      })
      const signed = { ...message, signature: signatureOf(100) }
      assert.strictEqual(yield* own.authenticate(signed), smartAccount)
      assert.include(asked[0], hashMessage(messageText(signed)).slice(2))
      state.contracts.set(smartAccount, () => `0xffffffff${"00".repeat(28)}`)
      const refused = yield* Effect.flip(own.authenticate(signed))
      assert.include(`${refused._tag} ${refused.message}`, "SignInRefused The smart account on eip155:402402 did not")
      state.status = 503
      assert.strictEqual((yield* Effect.flip(own.authenticate(signed)))._tag, "ProviderError")
    })
  )

  it.effect("refuses a smart account's signature for a network without smart accounts, before anyone is asked", () =>
    Effect.gen(function* () {
      const { message, protocol: own } = yield* smart
      const { terms } = message
      const headerOf = (chainId: string, signature: string, signatureScheme = "eip1271") =>
        Buffer.from(
          JSON.stringify({
            domain: terms.domain,
            uri: terms.uri,
            statement: terms.statement,
            nonce: terms.nonce,
            issuedAt: Timestamp.toIso(terms.issuedAt),
            expirationTime: Timestamp.toIso(terms.expiresAt),
            address: smartAccount,
            version: "1",
            type: "eip191",
            chainId,
            signature,
            signatureScheme
          })
        ).toString("base64")
      const decoded = yield* own.decode(headerOf("eip155:402402", signatureOf(100)))
      assert.strictEqual(decoded.signature, signatureOf(100))
      const messages = yield* Effect.forEach(
        [
          headerOf("eip155:1", signatureOf(100)),
          headerOf("eip155:1", signatureOf(65)),
          headerOf("eip155:402402", signatureOf(100), "siws")
        ],
        (header) => Effect.map(Effect.flip(own.decode(header)), ({ issues }) => issues[0]?.message ?? "")
      )
      assert.include(messages[0], "Smart accounts (ERC-1271, ERC-6492) can't sign in on eip155:1")
      assert.include(messages[1], "can't sign in on eip155:1")
      assert.include(messages[2], "must be one of eip191, eip1271, eip6492")
    })
  )
})
