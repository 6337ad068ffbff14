import {
  type Answer,
  type CreateMailboxInput,
  EventRecord,
  EventStore,
  type InboundMails,
  mailboxCreation,
  messageSending,
  OperationCompletion,
  OperationStore,
  PaidOperations,
  type PaidRequest,
  type PaidService,
  type PayError,
  PaymentRequired,
  type ServiceId,
  serviceEntry,
  type Tenant,
  TenantStore,
  toEventRecord,
  walletAddress
} from "@agentos/core"
import { ScriptedRail } from "@agentos/core/contract-tests"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted, Schema, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as TestHost from "./TestHost.ts"

export const { boundNonceOf, pay } = ScriptedRail

export const ADA = "0x00000000000000000000000000000000000000ad"
export const BOB = "0x00000000000000000000000000000000000000b0"

export interface Offer {
  readonly tenant?: Tenant | null
  readonly body?: string
  readonly signature?: string | null
  readonly key?: string | null
}

export const requestOf = (serviceId: ServiceId, offer: Offer): PaidRequest => {
  const entry = serviceEntry(serviceId)
  const tenant = offer.tenant ?? null
  return {
    entry,
    tenant,
    requestId: "01900000-0000-7000-8000-000000000001",
    resource: { url: `https://agentos.test${entry.path}`, description: entry.purpose },
    extensions: {},
    binding: {
      tenantId: tenant?.tenantId ?? null,
      method: entry.method,
      path: entry.path,
      query: "",
      bodyHash: offer.body ?? "body"
    },
    idempotencyKey: offer.key === undefined ? "key-1" : offer.key,
    networks: []
  }
}

/** Sends a request as the HTTP server does. Fails with the challenge if the offer has no payment. */
export const order = <Input, Plan, Receipt, R>(
  made: Effect.Effect<PaidService<Input, Plan, Receipt>, never, R>,
  offer: Offer,
  input: Input
): Effect.Effect<Answer, PayError, PaidOperations | R> =>
  Effect.flatMap(Effect.all([PaidOperations, made]), ([{ pay: send, quote }, service]) => {
    const request = requestOf(service.serviceId, offer)
    return typeof offer.signature === "string"
      ? Effect.mapError(send(service, request, offer.signature, Effect.succeed(input)), ({ error }) => error)
      : Effect.flatMap(quote(service, request, input), (challenge) => new PaymentRequired({ challenge, reason: null }))
  })

export const create = (input: CreateMailboxInput, offer: Offer = {}) => order(mailboxCreation, offer, input)

/** Repeats a request that its host no longer admits, so that only an existing operation answers it. */
export const replayed = (offer: Offer & { readonly signature: string }) =>
  Effect.flatMap(Effect.all([PaidOperations, mailboxCreation]), ([{ pay: send }, service]) =>
    send(service, requestOf("email.mailbox.create", offer), offer.signature, Effect.fail(new NotAdmitted()))
  )

/** The host does not admit the request. */
export class NotAdmitted extends Schema.TaggedError<NotAdmitted>()("NotAdmitted", {}) {}

export const challengeOf = (offer: Offer = {}, localPart = "ada") =>
  Effect.map(Effect.flip(create({ localPart }, offer)), (error) => {
    assert.strictEqual(error._tag, "PaymentRequired")
    return error._tag === "PaymentRequired" ? error.challenge : ""
  })

export const failureOf = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.flip(effect)

export type Host = ReturnType<typeof TestHost.make>

export const scenario = (
  name: string,
  test: (
    host: ReturnType<typeof TestHost.make>
  ) => Effect.Effect<void, unknown, Layer.Success<ReturnType<typeof TestHost.make>["layer"]> | Scope.Scope>,
  policies: Layer.Layer<never> = Layer.empty,
  make = () => TestHost.make()
) =>
  it.effect(name, () => {
    const host = make()
    return Effect.provide(test(host), Layer.provideMerge(host.layer, policies))
  })

/** Runs an effect while the test clock advances by 20 s. */
export const underClock = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.result(effect))
    yield* TestClock.adjust("20 seconds")
    return yield* Effect.flatMap(Fiber.join(fiber), Effect.fromResult)
  })

export const balances = Effect.gen(function* () {
  const store = yield* OperationStore
  const all = (yield* store.books).balances
  assert.strictEqual(
    all.reduce((sum, { amount }) => sum + amount, 0n),
    0n
  )
  return Object.fromEntries(all.filter(({ amount }) => amount !== 0n).map(({ account, amount }) => [account, amount]))
})

/** A paid mailbox of Ada, and her tenant. */
export const adasMailbox = Effect.gen(function* () {
  const signature = pay(yield* challengeOf(), ADA, "01")
  const answer = yield* create({ localPart: "ada" }, { signature })
  const tenant = Option.getOrThrow(yield* (yield* TenantStore).findByWallet(walletAddress(ADA)))
  const body = JSON.parse(Redacted.value(answer.body)) as { data: { mailbox: { mailboxId: string } } }
  return { answer, signature, tenant, mailboxId: body.data.mailbox.mailboxId }
})

export const send = (tenant: Tenant, mailboxId: string, offer: Offer) =>
  order(messageSending, { ...offer, tenant }, { mailboxId, to: ["friend@example.com"], subject: "Hello", text: "Hi" })

export const sendPaid = Effect.gen(function* () {
  const { mailboxId, tenant } = yield* adasMailbox
  const error = yield* failureOf(send(tenant, mailboxId, {}))
  const challenge = error._tag === "PaymentRequired" ? error.challenge : ""
  return { challenge, mailboxId, tenant, attempt: (signature: string) => send(tenant, mailboxId, { signature }) }
})

/** Runs the completion job for 5 s, so that it makes the due refunds. */
export const returnDebts = Effect.gen(function* () {
  const running = yield* Effect.forkChild(OperationCompletion.run)
  yield* TestClock.adjust("5 seconds")
  yield* Fiber.interrupt(running)
})

/** Delivers the accepted mail. */
export const deliverMail = Effect.fnUntraced(function* (inbound: InboundMails["Service"]) {
  const running = yield* Effect.forkChild(inbound.run)
  yield* TestClock.adjust("1 second")
  yield* Fiber.interrupt(running)
})

const decodeRecord = Schema.decodeUnknownEffect(EventRecord, { onExcessProperty: "error" })

/** The types and payloads of a tenant's events, oldest first. Fails unless each record is as its type declares it. */
export const eventsOf = Effect.fnUntraced(function* (tenant: Tenant) {
  const events = yield* (yield* EventStore).list(tenant.tenantId, {}, undefined, 100)
  yield* Effect.forEach(events, (event) => Effect.orDie(decodeRecord(toEventRecord(event))))
  return events.map(({ payload, type }) => ({ type, payload }))
})
