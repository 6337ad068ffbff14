import { GasTransactionStore, PaymentRail } from "@agentos/core"
import { Memory } from "@agentos/memory"
import { layerPostgres, Postgres } from "@agentos/postgres"
import { startPostgres } from "@agentos/postgres/testing"
import { type FacilitatorConfig, type PaymentNetwork, PaymentRailX402 } from "@agentos/x402"
import { Context, Effect, Exit, Fiber, Layer, Logger, Redacted, Schedule, Scope } from "effect"
import { type Hex, parseEther } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { pay, PaymentRig, termsOf } from "../PaymentRig.ts"
import { type RpcProxy, startProxy } from "./RpcProxy.ts"

type SelfConfig = Extract<FacilitatorConfig, { readonly kind: "self" }>

/** The storage of a deployment: each server has a connection of its own to what all of them share. */
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

/** A server of the deployment: its rail, its own view of the node, and its own end. */
export interface Server {
  readonly rail: PaymentRail["Service"]
  readonly node: RpcProxy
  /** Ends it with what it was doing, its keeper above all. */
  readonly kill: Effect.Effect<void>
}

/** A wallet that pays for gas, of which no other test knows. */
export interface Purse {
  readonly address: Hex
  readonly privateKey: Hex
}

/** A new gas wallet that holds so much of the chain's coin. */
export const purse = Effect.fnUntraced(function* (coins = "10") {
  const { client } = yield* PaymentRig
  const privateKey = generatePrivateKey()
  const address = privateKeyToAddress(privateKey)
  yield* Effect.promise(() => client.setBalance({ address, value: parseEther(coins) }))
  return { address, privateKey }
})

/** Starts a server that settles from a wallet. */
export const server = Effect.fnUntraced(function* (
  { privateKey }: Purse,
  config: Partial<SelfConfig> = {},
  network: Partial<PaymentNetwork> = {}
) {
  const { chain } = yield* PaymentRig
  const { connect } = yield* SharedStorage
  const scope = yield* Scope.fork(yield* Effect.scope)
  const node = yield* startProxy(chain.rpcUrl)
  const options: PaymentNetwork = {
    network: chain.network,
    rpcUrl: Redacted.make(node.url),
    rpcTimeoutMillis: 5_000,
    asset: chain.asset,
    decimals: chain.decimals,
    name: chain.assetName,
    version: chain.assetVersion,
    payTo: chain.payTo,
    maxTimeoutSeconds: 30,
    confirmations: 0,
    facilitator: { kind: "self", privateKey: Redacted.make(privateKey), settleTimeoutMillis: 10_000, ...config },
    ...network
  }
  const storage = yield* Scope.provide(connect, scope)
  const layer = PaymentRailX402.layer({ networks: [options] }).pipe(Layer.provide(Layer.succeedContext(storage)))
  const rail = Context.get(yield* Effect.orDie(Layer.buildWithScope(layer, scope)), PaymentRail)
  return { rail, node, kill: Scope.close(scope, Exit.void) }
})

/** What the deployment keeps of a wallet. */
export const openOf = Effect.fnUntraced(function* ({ address }: Purse) {
  const { chain } = yield* PaymentRig
  const { connect } = yield* SharedStorage
  const store = Context.get(yield* connect, GasTransactionStore)
  const wallet = { network: chain.network, address: address.toLowerCase() }
  return yield* store.listOpen(wallet, 1_000)
}, Effect.scoped)

/** How many account nonces of a wallet the chain has taken. */
export const takenOf = Effect.fnUntraced(function* ({ address }: Purse) {
  const { client } = yield* PaymentRig
  return yield* Effect.promise(() => client.getTransactionCount({ address }))
})

/** A payment by one of the chain's customers. */
export const payment = Effect.fnUntraced(function* (rail: PaymentRail["Service"], customer = 0) {
  const { chain } = yield* PaymentRig
  const terms = termsOf(rail)
  const wallet = chain.wallets[customer % chain.wallets.length]
  if (wallet === undefined) return yield* Effect.die("no customer")
  const proof = yield* pay(rail, wallet.privateKey, terms)
  const { block } = yield* Effect.orDie(rail.readNonce(proof))
  return { terms, proof, block }
})
export type Payment = Effect.Success<ReturnType<typeof payment>>

/** Settles a payment up to its being stored, and no further: the node is to be such that it gets no transaction. */
export const storeOnly = Effect.fnUntraced(function* (wallet: Purse, rail: PaymentRail["Service"], paid: Payment) {
  const settling = yield* Effect.forkChild(rail.settle(paid.proof, paid.terms))
  const open = yield* until(openOf(wallet), (transactions) => transactions.length > 0)
  yield* Fiber.interrupt(settling)
  return open
})

/** What the chain says of a payment. */
export const outcome = (rail: PaymentRail["Service"], { block, proof, terms }: Payment) =>
  Effect.orDie(rail.findSettlement(proof, terms, block))

/** Looks again until something holds, for half a minute at most. */
export const until = <A, E, R>(look: Effect.Effect<A, E, R>, holds: (value: A) => boolean): Effect.Effect<A, E, R> =>
  Effect.repeat(look, { until: holds, schedule: Schedule.spaced("100 millis"), times: 300 })

/** What is logged while an effect runs, one line each. */
export const loggedBy = <A, E, R>(use: (lines: ReadonlyArray<string>) => Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel} ${Array.isArray(message) ? message.join(" ") : String(message)}`)
  })
  return Effect.provide(use(lines), Logger.layer([logger]))
}
