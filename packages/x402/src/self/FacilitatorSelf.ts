import { type ProviderError, type SettleAnswer, Timestamp } from "@agentos/core"
import * as EvmChain from "../chain/EvmChain.ts"
import * as FacilitatorAnswer from "../facilitator/FacilitatorAnswer.ts"
import type { Facilitator, FacilitatorRequest } from "../facilitator/Facilitator.ts"
import type { OfferedNetwork } from "../network/PaymentNetwork.ts"
import { facilitatorError } from "../facilitator/FacilitatorExchange.ts"
import { transferMethod } from "../method/TransferMethods.ts"
import { type PendingSettlementStore, x402Facilitator } from "@x402/core/facilitator"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import { Duration, Effect, Exit, Metric, Option, Schedule, type Scope } from "effect"
import { type DecodedPayment, decodePayment } from "./DecodedPayment.ts"
import { type Attempt, makeSigner, newAttempt } from "./FacilitatorSigner.ts"
import * as GasAccount from "./GasAccount.ts"
import * as GasChain from "./GasChain.ts"
import * as GasKeeper from "./GasKeeper.ts"
import * as GasSale from "./GasSale.ts"
import * as GasSpender from "./GasSpender.ts"
import type { GasTransaction, GasTransactionStore } from "./GasTransactionStore.ts"
import { kindOf } from "./NodeRefusal.ts"
import * as RevertLimit from "./RevertLimit.ts"
import type { SelfFacilitatorConfig } from "./SelfFacilitatorConfig.ts"
import { watchBalance } from "../chain/WalletBalance.ts"
import { formatEther } from "viem"

const { accepted, codeOf, unconfirmed, isRefusal, refused, unknown } = FacilitatorAnswer

const READY_TIMEOUT_MILLIS = 10_000
const DEFAULT_SETTLE_TIMEOUT_MILLIS = 20_000
/** How long a successful check that the wallet can pay for gas is cached. */
const SOLVENCY_TTL = "10 seconds"
/** Schedule for polling whether a transaction is mined: soon at first, then at growing intervals up to 1 second. */
const POLL_SCHEDULE = Schedule.min([Schedule.exponential("100 millis", 1.5), Schedule.spaced("1 second")])

/**
 * A facilitator within the server: it uses the checks and the contract call of `@x402/evm`, and a wallet of the
 * deployment that pays for the gas. No third party is involved except the chain's node.
 *
 * Each settlement is signed and stored in the `GasTransactionStore` before it is broadcast, under the account
 * nonce that the store assigns. So servers share the wallet without gaps or conflicts, and if a server dies in
 * between, the `GasKeeper` of any server continues with the stored transaction.
 *
 * `@x402/evm` records transactions that it stopped waiting for (`pendingSettlementStore`), so that a repeated
 * settlement awaits the first one instead of sending another. Here that store does nothing, because the
 * `GasTransactionStore` does more. A repeated settlement is answered from the open transaction of the
 * authorization, in every server and after every crash, from before its broadcast until the chain has finalized
 * it. From then on the simulation shows the authorization as used. The library would record a transaction only
 * after its broadcast, and forget it within five minutes.
 *
 * The smart account of a payer that is not deployed yet (ERC-6492) is deployed first, in a transaction of its own, if the
 * network's configuration accepts its factory. A crash after that leaves an account without a transfer, which the
 * repeated settlement adds.
 *
 * `settle` returns `Accepted` when a block contains the transfer. It returns `Refused` only if the chain shows the
 * authorization unused, and either the library refuses the payment before anything was stored and no earlier transaction
 * is stored for it, or its transaction reverted. So a payment whose transfer reverts costs the wallet one transaction, and a
 * payer whose transfers revert is refused for a while (`RevertLimit`). The keeper runs until the scope closes.
 */
export const make = Effect.fnUntraced(function* (
  offered: OfferedNetwork,
  config: SelfFacilitatorConfig
): Effect.fn.Return<Facilitator, never, GasTransactionStore | Scope.Scope> {
  const account = GasAccount.make(offered, config)
  const gasChain = GasChain.make(offered)
  const chain = EvmChain.make(offered)
  const method = transferMethod(offered, chain)
  const spender = yield* GasSpender.make(account, gasChain)
  const solvency = yield* Effect.cachedWithTTL(spender.solvency, (seen) =>
    Exit.isSuccess(seen) ? SOLVENCY_TTL : Duration.zero
  )
  const reverts = yield* RevertLimit.make
  const limits = GasSale.limitsOf(offered, account.saleCeiling, config.coinPriceUsdt)
  const sells = yield* GasSale.watch(offered, gasChain.market, limits)
  const coins = Effect.map(gasChain.balance(account.address), formatEther)
  const gauge = Metric.gauge("agentos_gas_wallet_coins", {
    description: "Balance of the gas wallet, in the chain's native coin.",
    attributes: { network: offered.network }
  })
  yield* watchBalance(gauge, coins)
  const settleMillis = config.settleTimeoutMillis ?? DEFAULT_SETTLE_TIMEOUT_MILLIS
  yield* Effect.forkScoped(GasKeeper.run(account, gasChain, spender))
  // A failed check must not stop the server, but the operator should learn of it before a client does.
  yield* Effect.forkScoped(
    Effect.catch(solvency, (error) => Effect.logError(`Payment network ${offered.network}: ${error.message}`))
  )

  /**
   * Calls the library with a signer for this call alone, so that the attempt records only the failures of this
   * call.
   */
  const ask = Effect.fnUntraced(function* <A>(
    attempt: Attempt,
    question: (library: x402Facilitator) => Promise<A>
  ): Effect.fn.Return<A, ProviderError> {
    const context = yield* Effect.context<never>()
    return yield* Effect.tryPromise({
      try: (signal) => {
        const run = <B>(effect: Effect.Effect<B, unknown>) => Effect.runPromiseWith(context)(effect, { signal })
        const { factories } = offered
        const signer = makeSigner({ account, chain: gasChain, spender, attempt, factories, run, awaitMined })
        const scheme = new ExactEvmScheme(signer, {
          pendingSettlementStore: FORGETFUL,
          simulateInSettle: true,
          eip6492AllowedFactories: [...factories]
        })
        return question(new x402Facilitator().register(offered.network, scheme))
      },
      catch: (cause) => facilitatorError("Temporary", `of this server failed: ${kindOf(cause)}`)
    })
  })

  /** Waits until a block contains one of the transaction's versions, and returns its receipt. */
  const awaitMined = (transaction: GasTransaction) => {
    const look = Effect.gen(function* () {
      // No other version exists before the transaction is old enough to be repriced.
      const age = (yield* Timestamp.now) - transaction.signedAt
      const current = age < account.repriceAfterMillis ? Option.none() : yield* spender.find(transaction.reference)
      return yield* spender.receiptOf(Option.getOrElse(current, () => transaction))
    })
    return Effect.orElseSucceed(look, () => Option.none()).pipe(
      Effect.repeat({ until: Option.isSome, schedule: POLL_SCHEDULE }),
      Effect.map(Option.getOrThrow)
    )
  }

  /** Returns the answer if the library sent nothing and no earlier transaction exists. */
  const withoutSending = Effect.fnUntraced(function* (
    payment: DecodedPayment,
    attempt: Attempt,
    code: string
  ): Effect.fn.Return<SettleAnswer, ProviderError> {
    if (attempt.failure !== undefined) return unknown(attempt.failure.message)
    if (attempt.outage || !isRefusal(code)) return unconfirmed(code)
    return yield* refusedIfUnused(payment, code)
  })

  /** Returns the outcome of an earlier transaction for the payment, or runs `otherwise` if no transaction is known. */
  const withoutTransaction = Effect.fnUntraced(function* (
    attempt: Attempt,
    otherwise: Effect.Effect<SettleAnswer, ProviderError>
  ): Effect.fn.Return<SettleAnswer, ProviderError> {
    const earlier = yield* spender.find(attempt.reference)
    if (Option.isNone(earlier)) return yield* otherwise
    const receipt = yield* awaitMined(earlier.value)
    return receipt.status === "success" ? accepted(receipt.transactionHash) : REVERTED
  })

  /** Returns a refusal if the chain shows the authorization unused. */
  const refusedIfUnused = Effect.fnUntraced(function* (
    { nonce, payer }: DecodedPayment,
    code: string
  ): Effect.fn.Return<SettleAnswer, ProviderError> {
    const isUsed = yield* method.isUsed(payer, nonce, yield* chain.latestBlock)
    return isUsed ? unconfirmed(code) : refused(code)
  })

  const settleOnce = Effect.fnUntraced(function* (
    payment: DecodedPayment,
    attempt: Attempt
  ): Effect.fn.Return<SettleAnswer, ProviderError> {
    const said = yield* ask(attempt, (library) => library.settle(payment.payload, payment.requirements))
    if (attempt.mined !== undefined) {
      if (attempt.reverted) return yield* refusedIfUnused(payment, "transaction_reverted")
      return said.success ? accepted(attempt.mined) : REVERTED
    }
    const code = codeOf(said.errorReason)
    if (attempt.failure?.reason === "Misconfigured") yield* Effect.logError(attempt.failure.message)
    return attempt.opened
      ? unconfirmed(code)
      : yield* withoutTransaction(attempt, withoutSending(payment, attempt, code))
  })

  const settle = Effect.fnUntraced(function* (
    request: FacilitatorRequest
  ): Effect.fn.Return<SettleAnswer, ProviderError> {
    const payment = decodePayment(request)
    if (Option.isNone(payment) || payment.value.method !== method.name) {
      return unknown("The payment could not be decoded, or is by another transfer method.")
    }
    const attempt = newAttempt(payment.value)
    return yield* reverts.guard(
      payment.value.payer,
      Effect.map(settleOnce(payment.value, attempt), (answer) => ({ answer, reverted: attempt.reverted })),
      withoutTransaction(attempt, refusedIfUnused(payment.value, TOO_MANY_REVERTS))
    )
  })

  return {
    ready: Effect.timeoutOrElse(solvency, {
      duration: READY_TIMEOUT_MILLIS,
      orElse: () =>
        Effect.fail(facilitatorError("Temporary", `could not read its gas wallet within ${READY_TIMEOUT_MILLIS} ms`))
    }),
    sells,
    settle: (request) =>
      settle(request).pipe(
        Effect.timeoutOrElse({
          duration: settleMillis,
          orElse: () => Effect.succeed(unknown(`No block contained the payment within ${settleMillis} ms.`))
        }),
        Effect.catch((error: ProviderError) => Effect.succeed(unknown(error.message)))
      ),
    supports: (network) => Effect.succeed({ exact: network === offered.network, gasSponsoring: ["eip2612"] })
  }
})

const TOO_MANY_REVERTS = "payer_transactions_reverted_too_often_retry_later"
const REVERTED = unknown("The payment's transaction failed on the chain.")

/** Stores nothing; see `make`. */
const FORGETFUL: PendingSettlementStore = {
  get: async () => undefined,
  set: async () => undefined,
  delete: async () => undefined
}
