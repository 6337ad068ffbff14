import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as EvmChain from "../../src/chain/EvmChain.ts"
import * as AuthorizationUse from "../../src/method/eip3009/AuthorizationUse.ts"
import { offer } from "../../src/network/PaymentNetwork.ts"
import { hexOf } from "../../src/network/AuthorizedTransfer.ts"
import * as ChainFake from "../support/ChainFake.ts"
import { unreachableUrl } from "../support/HttpFake.ts"
import { network, nonce, payer } from "../support/Sample.ts"

const wallet = hexOf(payer.address)
const secretPath = "/v2/very-secret-access-key"

const prepare = (rpcTimeoutMillis = 2_000) =>
  Effect.gen(function* () {
    const fake = yield* ChainFake.start
    const configured = network(fake.url, unreachableUrl, {
      rpcTimeoutMillis,
      rpcUrl: Redacted.make(`${fake.url}${secretPath}`)
    })
    const offered = yield* offer(configured)
    const chain = EvmChain.make(offered)
    return { ...fake, chain, isUsed: AuthorizationUse.make(chain, offered.asset).isUsed }
  })

describe("EvmChain", () => {
  it.effect("sends a new request for each read", () =>
    Effect.gen(function* () {
      const { chain, state } = yield* prepare()
      assert.strictEqual(yield* chain.chainId, 402402n)
      assert.strictEqual(yield* chain.latestBlock, 100n)
      state.latest = 101
      assert.strictEqual(yield* chain.latestBlock, 101n)
      assert.deepStrictEqual(yield* chain.finalizedBlock, { number: 90n, timestamp: 1_000n })
      state.finalized = { number: 91, timestamp: 1_001 }
      assert.deepStrictEqual(yield* chain.finalizedBlock, { number: 91n, timestamp: 1_001n })
    })
  )

  it.effect("reads a nonce as of a block", () =>
    Effect.gen(function* () {
      const { isUsed, state } = yield* prepare()
      state.usedFrom.set(nonce, 60)
      assert.isFalse(yield* isUsed(wallet, nonce, 59n))
      assert.isTrue(yield* isUsed(wallet, nonce, 60n))
      assert.strictEqual((yield* Effect.flip(isUsed(wallet, nonce, 101n))).reason, "Temporary")
    })
  )

  it.effect("reports a failure as Misconfigured only if the operator can fix it", () =>
    Effect.gen(function* () {
      const { isUsed, state } = yield* prepare()
      const reason = Effect.map(Effect.flip(isUsed(wallet, nonce, 60n)), (error) => error.reason)
      state.status = 401
      assert.strictEqual(yield* reason, "Misconfigured")
      state.status = 503
      assert.strictEqual(yield* reason, "Temporary")
      state.status = 429
      assert.strictEqual(yield* reason, "Temporary")
      state.status = 200
      state.hasContract = false
      assert.strictEqual(yield* reason, "Misconfigured")
    })
  )

  it.effect("never reveals the node's URL", () =>
    Effect.gen(function* () {
      const { chain, state } = yield* prepare()
      const said = (error: object) => inspect(error, { depth: 9, showHidden: true })
      state.status = 403
      assert.notInclude(said(yield* Effect.flip(chain.latestBlock)), "very-secret-access-key")
      const nowhere = EvmChain.make(
        yield* offer(network("", unreachableUrl, { rpcUrl: Redacted.make(`${unreachableUrl}${secretPath}`) }))
      )
      const error = yield* Effect.flip(nowhere.latestBlock)
      assert.strictEqual(error.reason, "Temporary")
      assert.notInclude(said(error), "very-secret-access-key")
      assert.strictEqual(error.message, "The chain eip155:402402 could not be read.")
    })
  )

  it.live("times out if the node does not answer", () =>
    Effect.gen(function* () {
      const { chain, state } = yield* prepare(100)
      state.silent.add("eth_blockNumber")
      assert.strictEqual((yield* Effect.flip(chain.latestBlock)).reason, "Temporary")
      // On a busy machine, an answer may take longer than this time as well.
      assert.strictEqual(yield* Effect.retry(chain.chainId, { times: 50 }), 402402n)
    })
  )
})
