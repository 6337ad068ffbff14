import { Context, Duration, Effect, Layer, Schema } from "effect"
import * as Usdt from "../catalog/Usdt.ts"
import { makeCache } from "../kernel/Monotonic.ts"
import type { WalletAddress } from "../tenancy/Tenant.ts"
import { PaymentRail, type WalletFunds } from "./PaymentRail.ts"
import { decimalsOf, type PaymentTerms, symbolOf } from "./PaymentTerms.ts"

/**
 * How long the funds of a wallet on a network are kept, or the reason why they could not be read. Those with the nonce of a permit
 * are shared by concurrent requests only: a payment with the nonce of the one before it is refused.
 */
const CACHE_LIFETIME = Duration.seconds(1)
const CACHE_SIZE = 10_000
/** How long the chain of one network is waited for. */
const READ_TIMEOUT = Duration.seconds(5)

const Amount = Schema.Struct({
  amount: Schema.String.annotateKey({
    description: "The amount as decimal text, rounded down to 6 decimals, for example `0.25`."
  }),
  baseUnits: Schema.String.annotateKey({ description: "The exact amount in the token's base units." })
}).annotate({ identifier: "TokenAmount" })

/** A network on which payments are accepted, in one token. */
export const PaymentNetworkRecord = Schema.Struct({
  network: Schema.String.annotateKey({ description: "CAIP-2 id of the network, for example `eip155:196`." }),
  asset: Schema.String.annotateKey({ description: "Address of the token's contract." }),
  name: Schema.NullOr(Schema.String).annotateKey({
    description: "Name of the token, as payments sign it; null if the network has none."
  }),
  symbol: Schema.String.annotateKey({ description: "Symbol of the token, for example `USDT`." }),
  transferMethod: Schema.NullOr(Schema.String).annotateKey({
    description:
      "`eip3009`: a signature is enough. `permit2`: the wallet must let Permit2 move its tokens, once, by a transaction, unless `permitNonce` says otherwise. Null if the server names none."
  }),
  decimals: Schema.Int.annotateKey({ description: "Decimals of the token." }),
  payTo: Schema.String.annotateKey({ description: "Address that payments go to." }),
  balance: Schema.optionalKey(Schema.NullOr(Amount)).annotateKey({
    description: "Balance of `wallet` on the chain; null if it could not be read. Missing without `wallet`."
  }),
  allowance: Schema.optionalKey(Schema.NullOr(Amount)).annotateKey({
    description:
      "Amount that `wallet` lets Permit2 move; null if it could not be read, or if the transfer method needs none. Missing without `wallet`."
  }),
  permitNonce: Schema.optionalKey(Schema.NullOr(Schema.String)).annotateKey({
    description:
      "Nonce of the next permit of `wallet` (EIP-2612), as decimal text: a payment may bring the allowance as a permit, by x402's extension `eip2612GasSponsoring`. Null if it could not be read, or if the network takes no permits. Missing without `wallet`."
  }),
  reason: Schema.optionalKey(Schema.String).annotateKey({ description: "Why the balance could not be read." })
}).annotate({ identifier: "PaymentNetwork" })
export type PaymentNetworkRecord = typeof PaymentNetworkRecord.Type

type Funds = WalletFunds | { readonly reason: string }

const toRecord = (terms: PaymentTerms) => {
  const { asset, extra, network, payTo } = terms
  const { assetTransferMethod = null, name = null } = extra
  return {
    network,
    asset,
    name: name === null ? null : String(name),
    symbol: symbolOf(terms),
    transferMethod: assetTransferMethod === null ? null : String(assetTransferMethod),
    decimals: decimalsOf(terms),
    payTo
  }
}

const withFunds = (record: PaymentNetworkRecord, funds: Funds): PaymentNetworkRecord => {
  if ("reason" in funds) return { ...record, balance: null, allowance: null, permitNonce: null, reason: funds.reason }
  const amountOf = (units: bigint | null) =>
    units === null ? null : { amount: Usdt.fromBaseUnits(units, record.decimals), baseUnits: String(units) }
  return {
    ...record,
    balance: amountOf(funds.balance),
    allowance: amountOf(funds.allowance),
    permitNonce: funds.permitNonce === undefined ? null : String(funds.permitNonce),
    ...(funds.balance === null ? { reason: "The payment rail of this server does not read balances." } : {})
  }
}

/** The networks on which payments are accepted, best first, with the funds of a wallet on each. */
export class PaymentNetworks extends Context.Service<
  PaymentNetworks,
  {
    /**
     * With a wallet, reads each chain for at most 5 seconds, and once a second unless its token takes permits. A chain that could not be read has a reason in
     * the place of amounts.
     */
    readonly list: (wallet: WalletAddress | undefined) => Effect.Effect<ReadonlyArray<PaymentNetworkRecord>>
  }
>()("@agentos/core/payment/PaymentNetworks") {
  static readonly layer = Layer.effect(
    PaymentNetworks,
    Effect.gen(function* () {
      const rail = yield* PaymentRail
      const readFunds = (key: string): Effect.Effect<Funds> => {
        const [network = "", asset = "", wallet = ""] = key.split(" ")
        return rail.readFunds({ network, asset }, wallet).pipe(
          Effect.catchTag("ProviderError", ({ message: reason }) => Effect.succeed({ reason })),
          Effect.timeoutOrElse({
            duration: READ_TIMEOUT,
            orElse: () => Effect.succeed({ reason: `${network} could not be read within 5 seconds.` })
          })
        )
      }
      const cache = yield* makeCache(readFunds, {
        capacity: CACHE_SIZE,
        lifetime: CACHE_LIFETIME,
        isKept: (funds) => !("permitNonce" in funds)
      })

      return PaymentNetworks.of({
        list: (wallet) => {
          const records = rail.terms(1n).map(toRecord)
          if (wallet === undefined) return Effect.succeed(records)
          return Effect.forEach(
            records,
            (record) =>
              Effect.map(cache.get(`${record.network} ${record.asset} ${wallet}`), (funds) => withFunds(record, funds)),
            { concurrency: "unbounded" }
          )
        }
      })
    })
  )
}
