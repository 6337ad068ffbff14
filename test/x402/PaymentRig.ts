import { copyFile, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type ChallengeBinding,
  PaymentRail,
  type PaymentProof,
  type PaymentTerms,
  type ProviderError,
  RequestBinding,
  Usdt
} from "@agentos/core"
import { type Chain, sandboxClient, startChain, startFacilitator, usdt0Network } from "@agentos/sandbox"
import { httpFacilitator, PaymentRailX402 } from "@agentos/x402"
import { x402Client } from "@x402/core/client"
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http"
import type { ClientEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { domainSeparator } from "viem"
import { privateKeyToAccount } from "viem/accounts"

type Rail = PaymentRail["Service"]

/** A chain and a facilitator of the sandbox, with payment rails over them. */
export interface Rig {
  readonly dataDir: string
  readonly chain: Chain
  readonly facilitatorUrl: string
  readonly client: ReturnType<typeof sandboxClient>
  /** Returns the configuration of the network, with changes. */
  readonly networkOf: (other?: Partial<PaymentRailX402.RailNetwork>) => PaymentRailX402.RailNetwork
  /** Builds a rail over that network alone. */
  readonly railOf: (other?: Partial<PaymentRailX402.RailNetwork>) => Effect.Effect<Rail, never, Scope.Scope>
  /** Makes the next request of this kind to the facilitator fail. */
  readonly plan: (operation: "verify" | "settle", mode: "before" | "after" | "hang") => Effect.Effect<void>
}

/** Builds a rail over networks. */
export const railOver = (
  ...networks: ReadonlyArray<PaymentRailX402.RailNetwork>
): Effect.Effect<Rail, ProviderError, Scope.Scope> =>
  Effect.map(Layer.build(PaymentRailX402.layer({ networks })), (context) => Context.get(context, PaymentRail))

const startRig = (dataDir: string, chainId?: number): Effect.Effect<Rig, never, Scope.Scope> =>
  Effect.gen(function* () {
    const chain = yield* startedChain(dataDir, chainId)
    const facilitator = yield* startedFacilitator(chain)
    const networkOf = (other: Partial<PaymentRailX402.RailNetwork> = {}): PaymentRailX402.RailNetwork => ({
      network: chain.network,
      rpcUrl: Redacted.make(chain.rpcUrl),
      asset: chain.asset,
      decimals: chain.decimals,
      name: chain.assetName,
      version: usdt0Network.assetVersion,
      payTo: chain.payTo,
      maxTimeoutSeconds: 30,
      confirmations: 0,
      facilitator: httpFacilitator({ url: facilitator.url, settleTimeoutMillis: 5_000 }),
      ...other
    })
    return {
      dataDir,
      chain,
      facilitatorUrl: facilitator.url,
      client: sandboxClient(chain.rpcUrl),
      networkOf,
      railOf: (other) => Effect.orDie(railOver(networkOf(other))),
      plan: (operation, mode) =>
        Effect.promise(async () => {
          await fetch(`${facilitator.url}/sandbox/faults`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ operation, mode })
          })
        })
    }
  })

const temporaryDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "agentos-x402-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

export class PaymentRig extends Context.Service<PaymentRig, Rig>()("@agentos/test/x402/PaymentRig") {
  static readonly layer = Layer.effect(
    PaymentRig,
    Effect.flatMap(temporaryDirectory, (dataDir) => startRig(dataDir))
  )
}

/** A second chain that differs from the first only in its id. */
export class SecondRig extends Context.Service<SecondRig, Rig>()("@agentos/test/x402/SecondRig") {
  static readonly layer = Layer.effect(
    SecondRig,
    Effect.gen(function* () {
      const first = yield* PaymentRig
      const dataDir = yield* temporaryDirectory
      yield* Effect.promise(() => copyFile(join(first.dataDir, "keys.json"), join(dataDir, "keys.json")))
      return yield* startRig(dataDir, first.chain.chainId + 1)
    })
  ).pipe(Layer.provideMerge(PaymentRig.layer))
}

/** Starts the chain of a directory; stops it when the scope closes. */
const startedChain = (dataDir: string, chainId?: number): Effect.Effect<Chain, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const chain = await startChain({ dataDir })
      return chainId === undefined ? chain : await renumber(chain, chainId)
    }),
    (chain) => Effect.promise(() => chain.stop())
  )

/** Changes the id of a chain, and the domain separator in the code of its token, which contains the id. */
const renumber = async (chain: Chain, chainId: number): Promise<Chain> => {
  const client = sandboxClient(chain.rpcUrl)
  const separatorOn = (id: number) => {
    const { asset: verifyingContract, assetName: name, assetVersion: version } = chain
    return domainSeparator({ domain: { name, version, chainId: id, verifyingContract } }).slice(2)
  }
  await sendRpc(chain.rpcUrl, "anvil_setChainId", chainId)
  const code = (await client.getCode({ address: chain.asset })) ?? "0x"
  const renumbered = code.slice(2).replaceAll(separatorOn(chain.chainId), separatorOn(chainId))
  await client.setCode({ address: chain.asset, bytecode: `0x${renumbered}` })
  return { ...chain, chainId, network: `eip155:${chainId}` }
}

/** Sends a JSON-RPC request that viem has no method for. */
export const sendRpc = async (rpcUrl: string, method: string, ...params: ReadonlyArray<unknown>): Promise<void> => {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  })
  const text = await response.text()
  if (text.includes('"error"')) throw new Error(`${method}: ${text}`)
}

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

/** A binding, which is opaque to the rail. */
const binding: ChallengeBinding = {
  challengeNonce: "00ff",
  issuedAt: 1_763_712_345_678,
  expiresAt: 1_763_713_245_678,
  keyId: 1,
  binding: "f".repeat(64)
}

/** Returns the challenge of a rail over terms, with the binding above, as a client decodes it. */
export const challengeOf = (rail: Rail, accepts: ReadonlyArray<PaymentTerms>) => {
  const resource = { url: "https://agentos.test/api/v1/email/mailboxes", description: "A mailbox" }
  const unbound = accepts.map(({ extra, ...terms }) => ({
    ...terms,
    extra: Object.fromEntries(Object.entries(extra).filter(([field]) => !(field in binding)))
  }))
  const encode = rail.challengeEncoder({ error: undefined, resource, accepts: unbound, extensions: {} })
  return decodePaymentRequiredHeader(encode(accepts.map(() => binding)))
}

/** Returns terms for 0.25 USDT on the named network or in the named token, by default the first. */
export const termsOf = (rail: Rail, named?: string): PaymentTerms => {
  const terms = rail
    .terms(price)
    .find(({ asset, network }) => named === undefined || named === network || named === asset)
  if (terms === undefined) throw new Error("the rail has no terms")
  return RequestBinding.boundTerms(terms, binding)
}

/** Pays a challenge of the rail with the client of x402, by a key or as another signer, and returns the decoded proof. */
export const pay = (
  rail: Rail,
  payer: `0x${string}` | ClientEvmSigner,
  terms: PaymentTerms = termsOf(rail)
): Effect.Effect<PaymentProof> =>
  Effect.gen(function* () {
    const signer = typeof payer === "string" ? privateKeyToAccount(payer) : payer
    const client = new x402Client().register("eip155:*", new ExactEvmScheme(signer))
    client.setSpendControls(false)
    const payload = yield* Effect.promise(() => client.createPaymentPayload(challengeOf(rail, [terms])))
    return yield* Effect.orDie(rail.decodeProof(encodePaymentSignatureHeader(payload)))
  })
