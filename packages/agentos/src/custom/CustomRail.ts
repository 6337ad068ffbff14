import {
  type ChainTransfer,
  invalid,
  PaymentRail,
  type PaymentProof,
  type PaymentTerms,
  ProofInvalid,
  ProofMalformed,
  ProviderError,
  RequestBinding,
  SignIn,
  SignInProtocol,
  Timestamp,
  type Token
} from "@agentos/core"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import type { Payment } from "../Payment.ts"
import { caller, methodOf } from "./AdapterError.ts"

type MaybePromise<A> = A | PromiseLike<A>

/** An offer to the payer: an entry of `accepts` in the challenge. */
export interface RailTerms {
  /** The unit of account, for example `credits:house` or `eip155:196`. */
  readonly network: string
  readonly asset: string
  /** Base units: prices are in millionths of a USDT. */
  readonly amount: bigint
  readonly payTo: string
  /** How long a payment may be valid, counted from its creation. */
  readonly maxTimeoutSeconds: number
  /** Further fields, which the payer must repeat. */
  readonly extra?: Readonly<Record<string, string | number>> | undefined
}

/** A payment in the header PAYMENT-SIGNATURE, as the rail decodes it. Nothing in it is trusted before `authenticate`. */
export interface RailPayment {
  /** The account that pays: `0x` and 40 hexadecimal digits. It becomes the tenant. */
  readonly payer: string
  /** Unique among the payments of the payer: `0x` and 64 hexadecimal digits. A nonce is charged once. */
  readonly nonce: string
  readonly amount: bigint
  readonly payTo: string
  /** Unix seconds. Nothing may be charged outside this time. */
  readonly validAfter?: number | undefined
  readonly validBefore: number
  /** The entry of `accepts` that the payer accepted, exactly as it was in the challenge. */
  readonly accepted: PaymentProof["accepted"]
}

/** A decoded payment with the header that it came in. */
export interface ReceivedPayment extends RailPayment {
  readonly header: string
}

/** The state of a payment according to the rail. */
export type RailState =
  /**
   * It was not charged. `expired` states that it never will be; by default that is its `validBefore`. A rail on a chain
   * returns a block that has the confirmations it requires, in which the nonce was still unused.
   */
  | { readonly status: "unused"; readonly expired?: boolean | undefined; readonly block?: bigint | undefined }
  /** `block` orders the charges of a rail on a chain. */
  | { readonly status: "charged"; readonly transaction: string; readonly amount: bigint; readonly block?: bigint }
  /** Its nonce was used for something else. */
  | { readonly status: "used"; readonly message: string }
  /** It is being charged, with an outcome that is not known yet. */
  | { readonly status: "pending" }

/** A refund of a whole payment to its payer. */
export interface RailRefund {
  /** `0x` and 64 hexadecimal digits. Money moves once for an id, however often `refund` is called with it. */
  readonly id: string
  readonly payer: string
  readonly amount: bigint
  readonly network: string
  readonly asset: string
  /** The payment that is refunded: its nonce, and the transaction that charged it. */
  readonly payment: { readonly nonce: string; readonly transaction: string }
}

/**
 * A payment rail of the host. Methods may return promises, and throw `AdapterError`. They are looked up when they are
 * called.
 */
export interface CustomRail {
  /** Returns the offers for an amount, best first. Must return at once. */
  readonly terms: (amount: bigint) => ReadonlyArray<RailTerms>
  /** Decodes the header PAYMENT-SIGNATURE. Throws if it is not a payment of this rail. */
  readonly decode: (header: string) => MaybePromise<RailPayment>
  /** Throws unless the payer signed this payment. Must move nothing. */
  readonly authenticate: (payment: ReceivedPayment) => MaybePromise<void>
  /**
   * Throws if the payment can't be charged now, for example because the balance is too low. Amount, payee and time are
   * compared with the terms before. Must move nothing.
   */
  readonly verify: (payment: ReceivedPayment, terms: RailTerms) => MaybePromise<void>
  /**
   * Charges the payment, once for its payer and nonce. Throws `Rejected` if it was not charged and this call will not charge it;
   * every other error leaves the outcome open, which `find` then determines.
   */
  readonly charge: (payment: ReceivedPayment, terms: RailTerms) => MaybePromise<{ readonly transaction: string }>
  /**
   * Returns the state of a payment, by its payer and nonce together, also after `charge` failed or this process was
   * killed. Must move nothing.
   */
  readonly find: (payment: ReceivedPayment, known: { readonly transaction?: string }) => MaybePromise<RailState>
  /** Refunds a payment. Returns null while the refund is in progress. Without it, refunds stay due. */
  readonly refund?: ((refund: RailRefund) => MaybePromise<{ readonly transaction: string } | null>) | undefined
  /**
   * Returns the charges and refunds from a block on, oldest first, for the comparison with the ledger. Without it, charges that
   * belong to no operation are not found.
   */
  readonly transfers?:
    | ((
        token: Token,
        fromBlock: bigint
      ) => MaybePromise<{ readonly transfers: ReadonlyArray<ChainTransfer>; readonly nextBlock: bigint | null }>)
    | undefined
  /** Returns the balance of an account in base units. Without it, clients can't compare it with prices. */
  readonly balance?: ((account: string, token: Token) => MaybePromise<bigint>) | undefined
  /**
   * Of a rail on a chain, where others may submit a payment: returns the newest block before a moment. Without it, a
   * charge that AgentOS did not request buys nothing, and is not refunded.
   */
  readonly blockBefore?: ((token: Token, moment: Date) => MaybePromise<bigint>) | undefined
}

const PROVIDER = "payment rail"
const PAYER = /^0x[0-9a-fA-F]{40}$/
const NONCE = /^0x[0-9a-fA-F]{64}$/
/**
 * The block of every charge where a rail has no blocks: after that in which its nonce was read, and not after any moment.
 * So a charge counts only if AgentOS requested it, and no other is refunded.
 */
const ONLY_BLOCK = 1n

const base64 = (document: unknown): string =>
  Buffer.from(JSON.stringify(document, (_key, value) => (typeof value === "bigint" ? String(value) : value))).toString(
    "base64"
  )

const toProof = (header: string, payment: RailPayment): PaymentProof => ({
  digest: createHash("sha256").update(header).digest("hex"),
  network: payment.accepted.network,
  asset: payment.accepted.asset,
  payer: payment.payer.toLowerCase(),
  payTo: payment.payTo,
  value: payment.amount,
  nonce: payment.nonce.toLowerCase(),
  validAfter: payment.validAfter ?? 0,
  validBefore: payment.validBefore,
  accepted: payment.accepted,
  payload: header
})

const toPayment = ({ accepted, nonce, payload, payer, payTo, validAfter, validBefore, value }: PaymentProof) => ({
  payer,
  nonce,
  amount: value,
  payTo,
  validAfter,
  validBefore,
  accepted,
  header: payload
})

/** Returns why a payment does not match the terms that its request must be paid with, if it does not. */
const mismatch = (proof: PaymentProof, terms: PaymentTerms, now: Timestamp.Timestamp): string | undefined => {
  if (proof.value !== terms.amount) return `The payment is over ${proof.value}, and not over ${terms.amount}`
  if (proof.payTo !== terms.payTo) return `The payment goes to ${proof.payTo}, and not to ${terms.payTo}`
  if (now < proof.validAfter * Timestamp.SECOND) return "The payment is not valid yet"
  if (now >= proof.validBefore * Timestamp.SECOND) return "The payment has expired"
  const latest = now + terms.maxTimeoutSeconds * Timestamp.SECOND + Timestamp.MINUTE
  return proof.validBefore * Timestamp.SECOND > latest
    ? "The payment is valid for longer than its terms allow"
    : undefined
}

const makeRail = (rail: CustomRail) => {
  const call = caller("payment", PROVIDER, rail)
  const refuse = ({ message }: ProviderError) => new ProofInvalid({ message })
  const rejectedAsInvalid = <A>(checked: Effect.Effect<A, ProviderError>) =>
    Effect.mapError(checked, (error) => (error.reason === "Rejected" ? refuse(error) : error))
  const missing = (method: string) =>
    Effect.fail(
      new ProviderError({
        provider: PROVIDER,
        reason: "Misconfigured",
        message: `The payment rail does not implement ${method}.`
      })
    )
  const find = (proof: PaymentProof, transaction?: string) =>
    call("find", "Temporary", toPayment(proof), transaction === undefined ? {} : { transaction })
  const check = Effect.fnUntraced(function* (proof: PaymentProof, terms: PaymentTerms) {
    const flaw = mismatch(proof, terms, yield* Timestamp.now)
    if (flaw !== undefined) return yield* new ProofInvalid({ message: flaw })
    yield* rejectedAsInvalid(call("verify", "Temporary", toPayment(proof), terms))
  })

  const terms: PaymentRail["Service"]["terms"] = (amount) =>
    methodOf("payment", rail, "terms")(amount).map((one) => ({ ...one, scheme: "exact", extra: one.extra ?? {} }))

  return PaymentRail.of({
    terms,
    offers: terms,
    challengeEncoder: (document) => (bindings) =>
      base64({
        x402Version: 2,
        ...document,
        accepts: document.accepts.map((terms, place) => RequestBinding.boundTerms(terms, bindings[place]!))
      }),
    encodeReceipt: ({ extensions, isRefunded, ...payment }) =>
      base64({ success: !isRefunded, ...(isRefunded ? { errorReason: "refunded" } : {}), ...payment, extensions }),
    decodeProof: Effect.fnUntraced(function* (header) {
      const malformed = (message: string) => new ProofMalformed({ message })
      const payment = yield* Effect.mapError(call("decode", "Rejected", header), ({ message }) => malformed(message))
      if (!PAYER.test(payment.payer)) return yield* malformed("The payer must be 0x and 40 hexadecimal digits")
      if (!NONCE.test(payment.nonce)) return yield* malformed("The nonce must be 0x and 64 hexadecimal digits")
      return toProof(header, payment)
    }),
    isBoundElsewhere: () => false,
    // An error without a reason must not admit a payment either.
    authenticate: (proof) => Effect.mapError(call("authenticate", "Rejected", toPayment(proof)), refuse),
    verify: check,
    simulate: check,
    readFunds: (token, wallet) =>
      rail.balance === undefined
        ? Effect.succeed({ balance: null, allowance: null })
        : Effect.map(call("balance", "Temporary", wallet, token), (balance) => ({ balance, allowance: null })),
    readNonce: (proof) =>
      Effect.map(find(proof), (found) => ({
        used: found.status !== "unused",
        block: found.status === "unused" ? (found.block ?? 0n) : 0n
      })),
    settle: (proof, terms) =>
      call("charge", "Unknown", toPayment(proof), terms).pipe(
        Effect.match({
          onFailure: ({ message, reason }) =>
            reason === "Rejected" ? { _tag: "Refused", message } : { _tag: "Unknown", message },
          onSuccess: ({ transaction }) => ({ _tag: "Accepted", transaction })
        })
      ),
    findSettlement: Effect.fnUntraced(function* (proof, terms, afterBlock, transaction) {
      const found = yield* find(proof, transaction)
      switch (found.status) {
        case "unused": {
          const isOver = (yield* Timestamp.now) >= proof.validBefore * Timestamp.SECOND
          return { _tag: "Unused", expired: found.expired ?? isOver }
        }
        case "pending":
          return { _tag: "Unsettled" }
        case "used":
          return { _tag: "UsedOtherwise", message: found.message }
        case "charged": {
          const block = found.block ?? ONLY_BLOCK
          return block > afterBlock && found.amount === terms.amount
            ? { _tag: "Paid", transaction: found.transaction, block }
            : { _tag: "UsedOtherwise", message: "The payment was charged for something else." }
        }
      }
    }),
    blockBefore: (token, moment) =>
      rail.blockBefore === undefined
        ? Effect.succeed(ONLY_BLOCK)
        : call("blockBefore", "Temporary", token, new Date(moment)),
    canRefund: () => rail.refund !== undefined,
    refund: ({ nonce: id, proof: { nonce, payer }, terms: { amount, asset, network }, transaction }) =>
      rail.refund === undefined
        ? missing("refund")
        : Effect.map(
            call("refund", "Unknown", { id, payer, amount, network, asset, payment: { nonce, transaction } }),
            (paid) =>
              paid === null
                ? { _tag: "Pending", message: "The refund is in progress." }
                : { _tag: "Paid", transaction: paid.transaction }
          ),
    findRefund: () => Effect.succeedNone,
    readTransfers: () => missing("a way to read a transaction"),
    listsTransfers: rail.transfers !== undefined,
    transfers: (token, fromBlock) =>
      rail.transfers === undefined ? missing("transfers") : call("transfers", "Temporary", token, fromBlock)
  })
}

const noSignIn = invalid("SIGN-IN-WITH-X", "is not accepted: the payment rail of this server has no sign-in")

/** Returns the rail as the port of the core. Its accounts cannot sign in: the host returns lost tokens itself. */
export const customRail = (rail: CustomRail): Payment => ({
  layer: Layer.mergeAll(
    Layer.sync(PaymentRail, () => makeRail(rail)),
    Layer.succeed(SignInProtocol, {
      encodeChallenge: (resource: SignIn.SignInResource) => base64({ x402Version: 2, resource, accepts: [] }),
      decode: () => Effect.fail(noSignIn),
      authenticate: () => Effect.die(new Error("a message that was not decoded"))
    })
  )
})
