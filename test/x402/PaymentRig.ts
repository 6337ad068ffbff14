import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PaymentRail, type PaymentProof, type PaymentTerms, Usdt } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { type Chain, sandboxClient, startChain, startFacilitator } from "@agentos/sandbox"
import { type PaymentNetwork, PaymentRailX402 } from "@agentos/x402"
import { x402Client } from "@x402/core/client"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { privateKeyToAccount } from "viem/accounts"

/** A chain and a facilitator of the sandbox, and payment rails over them. */
export class PaymentRig extends Context.Service<
  PaymentRig,
  {
    readonly dataDir: string
    readonly chain: Chain
    readonly facilitatorUrl: string
    readonly client: ReturnType<typeof sandboxClient>
    /** The rail, configured as the sandbox is but for what is said. */
    readonly railOf: (other?: Partial<PaymentNetwork>) => Effect.Effect<PaymentRail["Service"], never, Scope.Scope>
    /** Lets the next question of a kind fail in a way of the sandbox's facilitator. */
    readonly plan: (operation: "verify" | "settle", mode: "before" | "after" | "hang") => Effect.Effect<void>
  }
>()("@agentos/test/x402/PaymentRig") {
  static readonly layer = Layer.effect(
    PaymentRig,
    Effect.gen(function* () {
      const dataDir = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "agentos-x402-"))),
        (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
      )
      const chain = yield* startedChain(dataDir)
      const facilitator = yield* startedFacilitator(chain)
      const networkOf = (other: Partial<PaymentNetwork> = {}): PaymentNetwork => ({
        network: chain.network,
        rpcUrl: Redacted.make(chain.rpcUrl),
        asset: chain.asset,
        decimals: chain.decimals,
        name: chain.assetName,
        version: chain.assetVersion,
        payTo: chain.payTo,
        maxTimeoutSeconds: 30,
        confirmations: 0,
        facilitator: { url: facilitator.url, settleTimeoutMillis: 5_000 },
        ...other
      })
      return PaymentRig.of({
        dataDir,
        chain,
        facilitatorUrl: facilitator.url,
        client: sandboxClient(chain.rpcUrl),
        railOf: (other) =>
          Layer.build(PaymentRailX402.layer({ networks: [networkOf(other)] }).pipe(Layer.provide(Memory.layer))).pipe(
            Effect.map((context) => Context.get(context, PaymentRail)),
            Effect.orDie
          ),
        plan: (operation, mode) =>
          Effect.promise(async () => {
            await fetch(`${facilitator.url}/sandbox/faults`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ operation, mode })
            })
          })
      })
    })
  )
}

/** The chain of a directory, for as long as the scope lasts. */
const startedChain = (dataDir: string): Effect.Effect<Chain, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => startChain({ dataDir })),
    (chain) => Effect.promise(() => chain.stop())
  )

const startedFacilitator = (chain: Chain) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      startFacilitator({
        rpcUrl: chain.rpcUrl,
        chainId: chain.chainId,
        asset: chain.asset,
        privateKey: chain.facilitatorKey
      })
    ),
    (server) => Effect.promise(() => server.close())
  )

export const price = Usdt.fromDecimal("0.25")

/** Keys of a binding, of which the rail knows nothing. */
export const binding = { challengeNonce: "00ff", issuedAt: 1_763_712_345_678, keyId: 1, binding: "f".repeat(64) }

/** The terms that a challenge offers for a quarter of a USDT. */
export const termsOf = (rail: PaymentRail["Service"]): PaymentTerms => {
  const [terms] = rail.terms(price)
  if (terms === undefined) throw new Error("the rail offers nothing")
  return { ...terms, extra: { ...terms.extra, ...binding } }
}

/** A payment that the stock client made of the rail's own challenge, and the rail read again. */
export const pay = (
  rail: PaymentRail["Service"],
  privateKey: `0x${string}`,
  terms: PaymentTerms = termsOf(rail)
): Effect.Effect<PaymentProof> =>
  Effect.gen(function* () {
    const client = new x402Client().register("eip155:*", new ExactEvmScheme(privateKeyToAccount(privateKey)))
    client.setSpendControls(false)
    const resource = { url: "https://agentos.test/api/v1/email/mailboxes", description: "A mailbox" }
    const challenge = decodePaymentRequiredHeader(
      rail.encodeChallenge({ error: undefined, resource, accepts: [terms] })
    )
    const payload = yield* Effect.promise(() => client.createPaymentPayload(challenge))
    return yield* Effect.orDie(rail.decodeProof(encodePaymentSignatureHeader(payload)))
  })
