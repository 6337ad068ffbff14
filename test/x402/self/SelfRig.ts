import { PaymentRail } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { layerPostgres, Postgres } from "@agentos/postgres"
import { startPostgres } from "@agentos/postgres/testing"
import { usdt0Network } from "@agentos/sandbox"
import {
  GasTransactionStore,
  type PaymentNetwork,
  PaymentRailX402,
  selfFacilitator,
  type SelfFacilitatorConfig
} from "@agentos/x402"
import type { ClientEvmSigner } from "@x402/evm"
import { Context, Effect, Exit, Fiber, Layer, Logger, Redacted, Schedule, Scope } from "effect"
import { type Hex, parseEther } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { pay, PaymentRig, termsOf } from "../PaymentRig.ts"
import { type RpcProxy, startProxy } from "./RpcProxy.ts"

/** The storage of a deployment, which each server opens with its own connection. */
export class SharedStorage extends Context.Service<
  SharedStorage,
  { readonly connect: Effect.Effect<Context.Context<GasTransactionStore>, never, Scope.Scope> }
>()("@agentos/test/x402/SharedStorage") {
  static readonly memory = Layer.effect(
    SharedStorage,
    Effect.map(Layer.build(Memory.layer), (context) =>
      SharedStorage.of({ connect: Effect.succeed(Context.pick(GasTransactionStore)(context)) })
    )
  )
  static readonly postgres = Layer.effect(
    SharedStorage,
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startPostgres()),
        (running) => Effect.promise(() => running.stop())
      )
      const url = Redacted.make(server.url)
      const connect = Layer.build(Postgres.layer.pipe(Layer.provide(layerPostgres({ url })))).pipe(
        Effect.map((context) => Context.pick(GasTransactionStore)(context)),
        Effect.orDie
      )
      return SharedStorage.of({ connect })
    })
  )
}

/** A server of the deployment. */
export interface Server {
  readonly rail: PaymentRail["Service"]
  readonly node: RpcProxy
  /** Stops the server and its keeper. */
  readonly kill: Effect.Effect<void>
}

/** A gas wallet that no other test uses. */
export interface Purse {
  readonly address: Hex
  readonly privateKey: Hex
}

/** Creates a gas wallet with an amount of the native coin. */
export const purse = Effect.fnUntraced(function* (coins = "10") {
  const { client } = yield* PaymentRig
  const privateKey = generatePrivateKey()
  const address = privateKeyToAddress(privateKey)
  yield* Effect.promise(() => client.setBalance({ address, value: parseEther(coins) }))
  return { address, privateKey }
})

/** Starts a server that settles from a gas wallet. */
export const server = Effect.fnUntraced(function* (
  { privateKey }: Purse,
  config: Partial<SelfFacilitatorConfig> = {},
  network: Partial<PaymentNetwork> = {}
) {
  const { chain } = yield* PaymentRig
  const { connect } = yield* SharedStorage
  const scope = yield* Scope.fork(yield* Effect.scope)
  const node = yield* startProxy(chain.rpcUrl)
  const options: PaymentRailX402.RailNetwork<GasTransactionStore> = {
    network: chain.network,
    rpcUrl: Redacted.make(node.url),
    rpcTimeoutMillis: 5_000,
    asset: chain.asset,
    decimals: chain.decimals,
    name: chain.assetName,
    version: usdt0Network.assetVersion,
    payTo: chain.payTo,
    maxTimeoutSeconds: 30,
    confirmations: 0,
    facilitator: selfFacilitator({
      kind: "self",
      privateKey: Redacted.make(privateKey),
      settleTimeoutMillis: 10_000,
      ...config
    }),
    ...network
  }
  const storage = yield* Scope.provide(connect, scope)
  const layer = PaymentRailX402.layer({ networks: [options] }).pipe(Layer.provide(Layer.succeedContext(storage)))
  const rail = Context.get(yield* Effect.orDie(Layer.buildWithScope(layer, scope)), PaymentRail)
  return { rail, node, kill: Scope.close(scope, Exit.void) }
})

/** Returns the open transactions of a gas wallet. */
export const openOf = Effect.fnUntraced(function* ({ address }: Purse) {
  const { chain } = yield* PaymentRig
  const { connect } = yield* SharedStorage
  const store = Context.get(yield* connect, GasTransactionStore)
  const wallet = { network: chain.network, address: address.toLowerCase() }
  return yield* store.listOpen(wallet, 1_000)
}, Effect.scoped)

/** Returns the number of mined transactions of a gas wallet. */
export const takenOf = Effect.fnUntraced(function* ({ address }: Purse) {
  const { client } = yield* PaymentRig
  return yield* Effect.promise(() => client.getTransactionCount({ address }))
})

/** Signs a payment of one of the chain's customers, or of another signer. */
export const payment = Effect.fnUntraced(function* (
  rail: PaymentRail["Service"],
  customer: number | ClientEvmSigner = 0
) {
  const { chain } = yield* PaymentRig
  const terms = termsOf(rail)
  const payer = typeof customer === "number" ? chain.wallets[customer % chain.wallets.length]?.privateKey : customer
  if (payer === undefined) return yield* Effect.die("no customer")
  const proof = yield* pay(rail, payer, terms)
  const { block } = yield* Effect.orDie(rail.readNonce(proof))
  return { terms, proof, block }
})
export type Payment = Effect.Success<ReturnType<typeof payment>>

/** Settles a payment until its transaction is stored. The node must drop transactions. */
export const storeOnly = Effect.fnUntraced(function* (wallet: Purse, rail: PaymentRail["Service"], paid: Payment) {
  const settling = yield* Effect.forkChild(rail.settle(paid.proof, paid.terms))
  const open = yield* until(openOf(wallet), (transactions) => transactions.length > 0)
  yield* Fiber.interrupt(settling)
  return open
})

/** Returns the outcome of a payment on the chain. */
export const outcome = (rail: PaymentRail["Service"], { block, proof, terms }: Payment) =>
  Effect.orDie(rail.findSettlement(proof, terms, block))

/** Polls until a condition holds, for 30 seconds at most. */
export const until = <A, E, R>(look: Effect.Effect<A, E, R>, holds: (value: A) => boolean): Effect.Effect<A, E, R> =>
  Effect.repeat(look, { until: holds, schedule: Schedule.spaced("100 millis"), times: 300 })

/** Passes the lines that an effect logs. */
export const loggedBy = <A, E, R>(use: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel} ${Array.isArray(message) ? message.join(" ") : String(message)}`)
  })
  return Effect.provide(use(lines), Logger.layer([logger]))
}
