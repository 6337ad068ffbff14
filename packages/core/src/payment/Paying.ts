import { Duration, Effect, type Exit, Fiber, FiberSet, Option, Result, Schedule } from "effect"
import { findStoreUnavailable, type StoreUnavailable } from "../kernel/Transactor.ts"
import { requireActive } from "../tenancy/Tenant.ts"
import type { Answer } from "./Answer.ts"
import { claim, ClaimLost, type ClaimPorts } from "./Claiming.ts"
import { findHolder, paymentStateOf } from "./HeldPayments.ts"
import { PAYMENT_STATES, type PaymentState } from "./OperationState.ts"
import type { OperationWorker } from "./OperationWorker.ts"
import { checkPayer, keyOf, type PaidRequest } from "./PaidRequest.ts"
import type { CheckError, PaidService } from "./PaidService.ts"
import {
  OperationDelayed,
  type OperationError,
  type PaymentError,
  type PaymentRequired,
  undetermined
} from "./PaymentError.ts"
import type { PaymentRail } from "./PaymentRail.ts"
import { AuthorizationUsed, type paymentChecks, type PresentedPayment } from "./PresentedPayments.ts"
import { reclaim } from "./Reclaiming.ts"
import type { Sales } from "./Sales.ts"

/** Why a request with a payment was not answered with its result. */
export interface Refused<E> {
  readonly error: E
  /** The state of the payment, unless the error has one itself. Undefined if it was not determined. */
  readonly paymentState: PaymentState | undefined
}

/** How long a request waits for its answer. Its claimed operation continues after that. */
const ANSWER_WITHIN = Duration.seconds(21)
/** How long the search for the state of a payment may take whose request is refused. */
const PRESENTED_WITHIN = Duration.seconds(15)
/** How long the search for a request's claimed operation may take, once it can't be answered otherwise. */
const STATE_WITHIN = Duration.seconds(3)

/** When a chain is read again that shows a use but not its transfer. Nodes may show their state before their logs. */
const UNTIL_SEEN = Schedule.exponential("100 millis").pipe(Schedule.upTo({ duration: "3 seconds" }))

/** All failures of a request with a payment, beside those of its admission. */
export type PayError = PaymentError | CheckError | StoreUnavailable

/** The dependencies of a paid request. */
export interface PaymentParts {
  readonly ports: ClaimPorts & { readonly rail: PaymentRail["Service"] }
  readonly worker: OperationWorker["Service"]
  readonly sales: Sales["Service"]
  /** The claimed operations, which continue after their clients have disconnected. */
  readonly running: FiberSet.FiberSet<Answer, OperationError>
  readonly checks: ReturnType<typeof paymentChecks>
  /** Fails with the challenge for a request whose payment is refused. */
  readonly challenge: (
    request: PaidRequest,
    reason: string,
    more?: { readonly endedOperationId?: string; readonly remedy?: string }
  ) => Effect.Effect<never, PaymentRequired>
}

/** Answers a request with a payment, as `PaidOperations.pay` promises. */
export const pay = Effect.fnUntraced(function* <Input, Plan, Receipt, E extends { readonly _tag: string }, R>(
  parts: PaymentParts,
  service: PaidService<Input, Plan, Receipt>,
  request: PaidRequest,
  paymentSignature: string,
  admission: Effect.Effect<Input, E, R>
): Effect.fn.Return<Answer, Refused<PayError | E>, R> {
  const decoded = yield* Effect.result(parts.ports.rail.decodeProof(paymentSignature))
  const key = yield* Effect.result(keyOf(request, Result.getOrUndefined(decoded)?.identifier))
  if (Result.isFailure(key)) {
    return yield* refuse(key.failure, yield* paymentState(parts, paymentSignature))
  }
  if (Result.isFailure(decoded)) {
    // A header without a signed authorization can't move money.
    const checked = Effect.flatMap(admission, (input) => check(parts, service, request, input))
    return yield* Effect.catch(Effect.andThen(checked, parts.challenge(request, decoded.failure.message)), (error) =>
      refuse(error, "none")
    )
  }
  const proof = decoded.success
  const authenticated = yield* Effect.cached(parts.ports.rail.authenticate(proof))
  const payment = { request, proof, idempotencyKey: key.success, authenticated }
  // In a fiber of its own, since a commit can't be interrupted, and its answer may take long.
  const working = yield* Effect.forkChild(answer(parts, service, payment, admission), { startImmediately: true })
  const ended = yield* Effect.timeoutOption(Fiber.await(working), ANSWER_WITHIN)
  if (Option.isSome(ended)) return yield* withUnclaimed(parts, ended.value, paymentSignature)
  working.interruptUnsafe()
  return yield* late(parts, payment)
})

export const paymentState = ({ ports }: PaymentParts, paymentSignature: string): Effect.Effect<PaymentState> =>
  paymentStateOf(ports, paymentSignature).pipe(
    Effect.timeoutOrElse({ duration: PRESENTED_WITHIN, orElse: () => Effect.succeed("unknown" as const) })
  )

/** Answers a request whose payment carries an authorization. */
const answer = Effect.fnUntraced(function* <Input, Plan, Receipt, E extends { readonly _tag: string }, R>(
  parts: PaymentParts,
  service: PaidService<Input, Plan, Receipt>,
  payment: PresentedPayment,
  admission: Effect.Effect<Input, E, R>
): Effect.fn.Return<Answer, Refused<PaymentError | CheckError | E>, R> {
  const repeated = yield* Effect.mapError(replay(parts, payment), toRefused)
  if (Option.isSome(repeated)) return repeated.value
  const prepared = yield* Effect.result(Effect.flatMap(admission, (input) => prepare(parts, service, payment, input)))
  if (Result.isSuccess(prepared)) {
    return yield* Effect.mapError(detached(parts, payment.request, parts.worker.run(prepared.success)), toRefused)
  }
  return yield* conclude(parts, payment, prepared.failure)
})

/** Runs the work in its own fiber. Turns `PaymentRefused` into a challenge for this request. */
const detached = (
  { challenge, running }: PaymentParts,
  request: PaidRequest,
  work: Effect.Effect<Answer, OperationError>
) =>
  Effect.flatMap(FiberSet.run(running, work), Fiber.join).pipe(
    Effect.catchTag("PaymentRefused", ({ message, operationId }) =>
      challenge(request, message, { endedOperationId: operationId })
    )
  )

/** Returns the answer of the operation that holds the payment, or none if no operation does. */
const replay = Effect.fnUntraced(function* (parts: PaymentParts, payment: PresentedPayment) {
  const { proof, request } = payment
  const holder = yield* findHolder(parts.ports, payment)
  if (Option.isNone(holder)) return Option.none()
  yield* checkPayer(request, proof, PAYMENT_STATES[holder.value.state])
  return Option.some(yield* detached(parts, request, parts.worker.resume(holder.value)))
})

/** Checks everything that must hold before money moves, then claims the operation. */
const prepare = Effect.fnUntraced(function* <Input, Plan, Receipt>(
  parts: PaymentParts,
  service: PaidService<Input, Plan, Receipt>,
  payment: PresentedPayment,
  input: Input
) {
  const { checks, ports } = parts
  // Concurrent, since both wait for other systems. A failure of the service's check takes precedence.
  const [checked, terms] = yield* Effect.all(
    [
      Effect.result(check(parts, service, payment.request, input, payment.proof.network)),
      Effect.result(checks.check(payment))
    ],
    { concurrency: 2 }
  )
  yield* Effect.fromResult(checked)
  return yield* claim(ports, service, payment, yield* Effect.fromResult(terms), input)
})

/**
 * Concludes a request whose payment was not claimed. Finds the outcome of the payment before it returns the failure.
 */
const conclude = Effect.fnUntraced(function* <E extends { readonly _tag: string }>(
  parts: PaymentParts,
  payment: PresentedPayment,
  failure: E | PaymentError | CheckError | ClaimLost | AuthorizationUsed
): Effect.fn.Return<Answer, Refused<E | PaymentError | CheckError>> {
  // The client learns more when it retries.
  if (failure._tag === "RateLimited") return yield* refuse(failure as E, undefined)
  // A copy of this request may have been claimed first and hold the resources or the payment that this one lacks.
  const first = yield* Effect.mapError(replay(parts, payment), toRefused)
  if (Option.isSome(first)) return first.value
  // The chain could not be read a moment ago: do not read it again.
  if (failure instanceof OperationDelayed) return yield* refuse(failure, undefined)
  const second = yield* reclaimOrReplay(parts, payment).pipe(
    Effect.retry({ schedule: UNTIL_SEEN, while: ({ _tag }) => _tag === "AuthorizationUsed" }),
    Effect.catchTag("AuthorizationUsed", () => useNotSeen),
    Effect.mapError(toRefused)
  )
  if (Option.isSome(second)) return second.value
  if (failure instanceof ClaimLost) return yield* Effect.die(failure)
  if (failure instanceof AuthorizationUsed) return yield* Effect.mapError(useNotSeen, toRefused)
  return yield* refuse(failure, "none")
})

/** Reclaims the payment. Returns the answer of a copy of the request, if one was claimed while the chain was read. */
const reclaimOrReplay = Effect.fnUntraced(function* (parts: PaymentParts, payment: PresentedPayment) {
  const reclaimed = yield* Effect.result(reclaim(parts.ports, payment, parts.checks.acceptedTerms(payment)))
  if (Result.isSuccess(reclaimed) || UNEXPLAINED.has(reclaimed.failure._tag)) {
    const copy = yield* replay(parts, payment)
    if (Option.isSome(copy)) return copy
  }
  yield* Effect.fromResult(reclaimed)
  return Option.none<Answer>()
})

/** The failures of `reclaim` that leave open how the payment was used: perhaps by a copy of the request. */
const UNEXPLAINED: ReadonlySet<string> = new Set(["OperationDelayed", "AuthorizationUsed"])

/** Fails: the authorization is used, and neither an operation nor the chain shows by what. */
const useNotSeen = undetermined("The authorization is used, but the chain does not show yet by which transfer")

/** Answers a request whose time is over: from its claimed operation, if that has ended meanwhile. */
const late = (parts: PaymentParts, payment: PresentedPayment): Effect.Effect<Answer, Refused<PaymentError>> =>
  replay(parts, payment).pipe(
    Effect.timeoutOrElse({ duration: STATE_WITHIN, orElse: () => Effect.succeed(Option.none<Answer>()) }),
    Effect.flatMap(Option.match({ onNone: () => undetermined("The request took too long."), onSome: Effect.succeed })),
    Effect.mapError(toRefused)
  )

/** Replaces the defect of a store that refused to claim the payment, once it shows that nothing was claimed. */
const withUnclaimed = <A, E>(
  { ports }: PaymentParts,
  ended: Exit.Exit<A, Refused<E>>,
  paymentSignature: string
): Effect.Effect<A, Refused<E | StoreUnavailable>> =>
  Effect.catchCause(ended, (cause) => {
    const unavailable = findStoreUnavailable(cause)
    if (unavailable?.isUndone !== true) return Effect.failCause(cause)
    return paymentStateOf(ports, paymentSignature).pipe(
      Effect.timeout(STATE_WITHIN),
      // The store may still be unavailable.
      Effect.catchCause(() => Effect.succeed("unknown" as const)),
      Effect.flatMap((state): Effect.Effect<never, Refused<E | StoreUnavailable>> =>
        state === "none" ? refuse(unavailable, state) : Effect.failCause(cause)
      )
    )
  })

/** Checks all of a request but its payment, of which only the network is checked. */
export const check = <Input, Plan, Receipt>(
  { sales }: Pick<PaymentParts, "sales">,
  service: PaidService<Input, Plan, Receipt>,
  { tenant }: PaidRequest,
  input: Input,
  network?: string
): Effect.Effect<void, CheckError> =>
  Effect.andThen(
    sales.requireOnSale(service.serviceId, network),
    tenant === null ? service.check(null, input) : Effect.andThen(requireActive(tenant), service.check(tenant, input))
  )

const refuse = <E>(error: E, paymentState: PaymentState | undefined): Effect.Effect<never, Refused<E>> =>
  Effect.fail({ error, paymentState })

/** Returns the refusal for an error that has the state of the payment itself. */
const toRefused = (error: PaymentError): Refused<PaymentError> => ({ error, paymentState: undefined })
