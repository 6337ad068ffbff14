import { Context, Effect, Layer, Option, Schema } from "effect"
import { serviceEntry } from "../catalog/Catalog.ts"
import { ServiceId } from "../catalog/ServiceId.ts"
import * as Usdt from "../catalog/Usdt.ts"
import { Keyring } from "../kernel/Keyring.ts"
import * as Lookup from "../kernel/Lookup.ts"
import type { ProviderError } from "../kernel/ProviderError.ts"
import { InvalidRequest, type ResourceNotFound, type ResourceNotOwned } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Uuid } from "../kernel/Uuid.ts"
import type { Tenant } from "../tenancy/Tenant.ts"
import { OperationFailureRecord, type OperationStatus, operationStatusOf } from "./Operation.ts"
import { PAYMENT_STATES, PaymentState } from "./OperationState.ts"
import { OperationStore } from "./OperationStore.ts"
import { adviceOn, type AuthorizationUse, PaymentAdvice, UNCLAIMED_STATES } from "./PaymentAdvice.ts"
import { PaymentRail, type Settlement } from "./PaymentRail.ts"
import * as PaymentResponse from "./PaymentResponse.ts"
import { type PaymentProof, type PaymentTerms, PriceRecord, proofKey, symbolOf } from "./PaymentTerms.ts"
import * as RequestBinding from "./RequestBinding.ts"

/** The state of a payment, as its holder or its tenant sees it. */
export const PaymentStatusRecord = Schema.Struct({
  operationId: Schema.NullOr(Uuid).annotateKey({
    description:
      "Id of the operation; null if none has the payment, or if the header is another one for the same authorization."
  }),
  serviceId: Schema.NullOr(ServiceId).annotateKey({
    description: "Id of the service that was paid; null where operationId is null."
  }),
  paymentState: PaymentState.annotateKey({
    description:
      "none: nothing was paid. pending or unknown: the outcome is open. settled: the payment arrived. refund_due: it is being refunded. refunded: the refund arrived."
  }),
  network: Schema.String.annotateKey({ description: "CAIP-2 id of the network." }),
  price: Schema.NullOr(PriceRecord).annotateKey({
    description: "Price of the service; null where operationId is null."
  }),
  baseUnits: Schema.String.annotateKey({ description: "The exact amount of the payment, in the token's base units." }),
  token: Schema.String.annotateKey({ description: "Address of the token's contract, in lower case." }),
  symbol: Schema.String.annotateKey({
    description: "Symbol of the token: `USDT`, or another dollar token that the server accepts at par."
  }),
  asset: Schema.String.annotateKey({ description: "Deprecated: the address in `token`, in mixed case." }),
  amount: Schema.String.annotateKey({ description: "Deprecated: the same as `baseUnits`." }),
  transaction: Schema.NullOr(Schema.String).annotateKey({
    description: "Hash of the transaction that paid; null if none did."
  }),
  refund: Schema.NullOr(
    Schema.Struct({
      amount: Schema.NullOr(PriceRecord).annotateKey({ description: "The refunded amount: all that was paid." }),
      transaction: Schema.String.annotateKey({ description: "Hash of the transaction of the refund." })
    })
  ).annotateKey({ description: "The refund; null until the chain shows it." }),
  reason: Schema.NullOr(OperationFailureRecord).annotateKey({
    description: "Why the payment was refused, was not made or is refunded; null if nothing failed."
  }),
  receipt: Schema.NullOr(Schema.String).annotateKey({
    description: "Value of the PAYMENT-RESPONSE header; null before the payment arrived."
  }),
  createdAt: Schema.NullOr(Timestamp.IsoTimestamp).annotateKey({
    description: "When the operation began; null without one."
  }),
  updatedAt: Schema.NullOr(Timestamp.IsoTimestamp).annotateKey({
    description: "When the operation last changed; null without one."
  }),
  advice: PaymentAdvice.annotateKey({
    description:
      "pay: sign a new payment if you still want the service; this one moves no money. retry_same: repeat the original request with this payment. wait: read the status again later. done: the operation is fulfilled or refunded."
  }),
  retryAfterSeconds: Schema.optionalKey(Schema.Int).annotateKey({
    description: "Seconds until the status should be read again. Only with the advice wait."
  })
}).annotate({ identifier: "PaymentStatus" })
export type PaymentStatusRecord = typeof PaymentStatusRecord.Type

export interface PaymentStatus {
  readonly record: PaymentStatusRecord
  /** Whether the blocks of the chain were searched for a transfer, which takes up to a hundred and fifty reads. */
  readonly wasSearched: boolean
}

const priceOf = (serviceId: ServiceId): PriceRecord | null => {
  const { price } = serviceEntry(serviceId)
  return price === null ? null : Usdt.toPrice(price)
}

/** The part of a payment's status that its operation alone decides, without the receipt and the advice. */
export const paymentOf = (operation: Omit<OperationStatus, "terms" | "receipt" | "hasAnswer" | "validBefore">) => ({
  operationId: operation.operationId,
  serviceId: operation.serviceId,
  paymentState: PAYMENT_STATES[operation.state],
  network: operation.network,
  price: priceOf(operation.serviceId),
  baseUnits: operation.amount.toString(),
  token: operation.asset,
  transaction: operation.transaction,
  refund:
    operation.refundTransaction === null
      ? null
      : { amount: priceOf(operation.serviceId), transaction: operation.refundTransaction },
  reason: operation.failure,
  createdAt: Timestamp.toIso(operation.createdAt),
  updatedAt: Timestamp.toIso(operation.updatedAt)
})

const amountOf = ({ amount, asset, extra }: PaymentTerms) => ({
  baseUnits: amount.toString(),
  token: asset.toLowerCase(),
  symbol: symbolOf({ extra }),
  asset,
  amount: amount.toString()
})

/** How far back a transfer is searched for. */
const SEARCH_WINDOW = Timestamp.DAY
/** Maximum by which a payer's clock may be ahead for its transfer to be found. */
const CLOCK_MARGIN_SECONDS = 600

const PAYS_ANOTHER =
  "PAYMENT-SIGNATURE is not a payment to this service: its recipient, payTo, is another one. Ask the service that issued its challenge."

const refusal = ({ message }: { readonly message: string }): InvalidRequest =>
  new InvalidRequest({ message, issues: [{ path: "PAYMENT-SIGNATURE", message }] })

interface UseReading {
  readonly use: AuthorizationUse
  /** The transaction that paid us. */
  readonly transaction?: string
  readonly wasSearched?: boolean
}

const readingOf = (settlement: Settlement): UseReading => {
  switch (settlement._tag) {
    case "Paid":
      return { use: "paid", transaction: settlement.transaction }
    case "UsedOtherwise":
      return { use: "used_otherwise" }
    case "Unsettled":
      return { use: "unconfirmed" }
    case "Unused":
      return { use: settlement.expired ? "expired" : "unused" }
  }
}

const UNSETTLED = { _tag: "Unsettled" } as const
const TAKEN = { _tag: "UsedOtherwise", message: "Another operation has the transfer." } as const

/** Reads the state of payments. It claims, submits and changes nothing. */
export class PaymentStatuses extends Context.Service<
  PaymentStatuses,
  {
    /**
     * Returns the state of the payment in a PAYMENT-SIGNATURE header. Fails if the header is malformed, if its payer
     * did not sign it, or if it pays another service.
     *
     * Only the header of the operation, byte for byte, shows the operation. Another header with the same authorization
     * shows only the state of the payment and the advice: once settled, the authorization and its signature can be
     * read off the chain by anyone, but the rest of the header can't.
     */
    readonly ofPayment: (paymentSignature: string) => Effect.Effect<PaymentStatus, InvalidRequest>
    /** Returns the state of the payment of an operation of the tenant. */
    readonly ofOperation: (
      tenant: Tenant,
      operationId: string
    ) => Effect.Effect<PaymentStatusRecord, ResourceNotFound | ResourceNotOwned>
  }
>()("@agentos/core/payment/PaymentStatus") {
  static readonly layer = Layer.effect(
    PaymentStatuses,
    Effect.gen(function* () {
      const rail = yield* PaymentRail
      const keyring = yield* Keyring
      const operations = yield* OperationStore

      const ofHeld = Effect.fnUntraced(function* (operation: OperationStatus) {
        const { hasAnswer, state, terms, validBefore } = operation
        const { createdAt, reason, refund, transaction, updatedAt, ...purchase } = paymentOf(operation)
        const isUnsigned = operation.receipt === null && hasAnswer && transaction !== null
        return {
          ...purchase,
          ...amountOf(terms),
          transaction,
          refund,
          reason,
          receipt: isUnsigned ? PaymentResponse.unsigned(rail, operation, transaction) : operation.receipt,
          createdAt,
          updatedAt,
          ...adviceOn({ _tag: "Held", state, proof: { validBefore: validBefore ?? 0 } }, yield* Timestamp.now)
        } satisfies PaymentStatusRecord
      })

      /**
       * Returns the terms of which a proof is a payment to us, with the amount that its payer signed. They are those of a
       * challenge of ours, even if they are not offered any more, or else terms that are offered now.
       */
      const termsOf = (proof: PaymentProof): PaymentTerms | undefined => {
        const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
        const signed = RequestBinding.signedTerms(keyring, proof.accepted)
        const terms = [...(signed === undefined ? [] : [signed]), ...rail.terms(0n)].find(
          ({ asset, network, payTo }) =>
            network === proof.network && same(asset, proof.asset) && same(payTo, proof.payTo)
        )
        return terms && { ...terms, amount: proof.value }
      }

      /** Returns the operation that holds a proof. No operation has an empty endpoint, so only the proof is compared. */
      const findHolder = (proof: PaymentProof) =>
        Effect.map(
          operations.findByKeys({ proof: proofKey(proof), endpoint: "", idempotencyKey: "" }),
          ([holder]) => holder
        )

      /** Reads the settlement of an authorization that no operation holds: a transfer that one has did not pay for it. */
      const readSettlement = Effect.fnUntraced(function* (
        proof: PaymentProof,
        terms: PaymentTerms,
        afterBlock: bigint
      ) {
        const settlement = yield* rail.findSettlement(proof, terms, afterBlock)
        if (settlement._tag !== "Paid" || settlement.candidates === undefined) return settlement
        const free = yield* operations.findFreeTransfer(settlement.candidates)
        if (Option.isSome(free)) return { ...settlement, transaction: free.value.transaction }
        // It may have been claimed meanwhile, with its transfer.
        const isOpen = settlement.hasUnconfirmed === true || (yield* findHolder(proof)) !== undefined
        return isOpen ? UNSETTLED : { ...TAKEN, block: settlement.block }
      })

      /**
       * Reads from the chain how an authorization was used that no operation holds. The search starts when a payer whose
       * clock is right can have signed it, by the times that are signed: the times of the echoed challenge are not
       * authenticated here.
       */
      const readUse = Effect.fnUntraced(
        function* (proof: PaymentProof, terms: PaymentTerms): Effect.fn.Return<UseReading, ProviderError> {
          const now = yield* Timestamp.now
          const { block, used } = yield* rail.readNonce(proof)
          if (!used) {
            const mayHaveExpired = now > proof.validBefore * Timestamp.SECOND
            return mayHaveExpired ? readingOf(yield* readSettlement(proof, terms, block)) : { use: "unused" }
          }
          const signedFrom = proof.validBefore - terms.maxTimeoutSeconds - CLOCK_MARGIN_SECONDS
          const from = Math.min(Math.max(proof.validAfter, signedFrom) * Timestamp.SECOND, now)
          if (from < now - SEARCH_WINDOW) return { use: "unsearched" }
          const afterBlock = yield* rail.blockBefore(terms, Timestamp.Timestamp.make(from))
          const settlement = yield* readSettlement(proof, terms, afterBlock)
          // A use before the search may have been a payment.
          const isEarlier = settlement._tag === "UsedOtherwise" && settlement.block === undefined
          return { ...(isEarlier ? { use: "unsearched" } : readingOf(settlement)), wasSearched: true }
        },
        Effect.catchTag("ProviderError", () => Effect.succeed<UseReading>({ use: "unreadable" }))
      )

      const unclaimed = Effect.fnUntraced(function* (proof: PaymentProof, terms: PaymentTerms, isReadable: boolean) {
        const unreadable: UseReading = { use: "unreadable" }
        const { transaction = null, use, wasSearched = false } = isReadable ? yield* readUse(proof, terms) : unreadable
        const { expiresAt } = proof.accepted.extra
        const challengeExpiresAt = typeof expiresAt === "number" ? expiresAt : null
        return { facts: { _tag: "Unclaimed", use, proof, challengeExpiresAt } as const, transaction, wasSearched }
      })

      const ofPayment = Effect.fnUntraced(function* (
        paymentSignature: string
      ): Effect.fn.Return<PaymentStatus, InvalidRequest> {
        const proof = yield* Effect.mapError(rail.decodeProof(paymentSignature), refusal)
        const holder = yield* findHolder(proof)
        // Needs no signature: the token may be one that is no longer accepted.
        if (holder !== undefined && holder.proof.digest === proof.digest) {
          return { record: yield* ofHeld(operationStatusOf(holder)), wasSearched: false }
        }
        // Without the signer's answer, nothing is told about an operation that the caller may not own.
        const isSigned = yield* rail.authenticate(proof).pipe(
          Effect.as(true),
          Effect.catchTags({
            ProofInvalid: (invalid) => refusal(invalid),
            ProviderError: () => Effect.succeed(false)
          })
        )
        const terms = termsOf(proof)
        if (terms === undefined) return yield* refusal({ message: PAYS_ANOTHER })
        const { facts, transaction, wasSearched } =
          isSigned && holder !== undefined
            ? { facts: { _tag: "Held", state: holder.state, proof } as const, transaction: null, wasSearched: false }
            : yield* unclaimed(proof, terms, isSigned)
        const record: PaymentStatusRecord = {
          operationId: null,
          serviceId: null,
          paymentState: facts._tag === "Held" ? PAYMENT_STATES[facts.state] : UNCLAIMED_STATES[facts.use],
          network: terms.network,
          price: null,
          ...amountOf(terms),
          transaction,
          refund: null,
          reason: null,
          receipt: null,
          createdAt: null,
          updatedAt: null,
          ...adviceOn(facts, yield* Timestamp.now)
        }
        return { record, wasSearched }
      })

      const ofOperation = Effect.fnUntraced(function* ({ tenantId }: Tenant, operationId: string) {
        const found = Lookup.of(Option.getOrUndefined(yield* operations.findStatus(operationId)), tenantId)
        return yield* ofHeld(yield* Lookup.orFail(found, "operation", operationId))
      })

      return PaymentStatuses.of({ ofPayment, ofOperation })
    })
  )
}
