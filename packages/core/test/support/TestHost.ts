import {
  CallStore,
  Core,
  EmailProvider,
  Keyring,
  MailParser,
  noMailParser,
  type Operation,
  OfferReceipts,
  OperationStore,
  type OutgoingMail,
  PaymentRail,
  ProviderError,
  RealtimeTokens,
  type SendReceipt,
  Timestamp
} from "@agentos/core"
import { ScriptedRail } from "@agentos/core/contract-tests"
import { Memory } from "@agentos/memory"
import { Effect, Latch, Layer, Option, Redacted } from "effect"
import * as SimulatedCarrier from "./SimulatedCarrier.ts"
import * as TestKeyring from "./TestKeyring.ts"

/** The outcome of the next mail; `send` if no outcome is scripted. `broken` makes the provider die with a defect. */
export type SendScript = "send" | "broken" | ProviderError["reason"] | ProviderError

/**
 * The whole core on memory stores, with a chain, a mail provider and a carrier that the test controls. While its
 * `relay` is closed, the mail provider does not answer. While its `database` is closed, no turn of a call is written, and a lookup of a call reads the store and then waits.
 * `storeBehindMillis` moves the times that the operation store writes into the past, as a database whose clock is
 * behind.
 */
export const make = (payments = ScriptedRail.make(), storeBehindMillis = 0) => {
  const carrier = SimulatedCarrier.make()
  const sent: Array<OutgoingMail> = []
  const sendScript: Array<SendScript> = []
  const relay = Latch.makeUnsafe(true)
  const provider = Layer.succeed(
    EmailProvider,
    EmailProvider.of({
      name: "scripted",
      domain: "agents.test",
      send: Effect.fnUntraced(function* (mail) {
        yield* relay.await
        return yield* Effect.suspend((): Effect.Effect<SendReceipt, ProviderError> => {
          const reason = sendScript.shift() ?? "send"
          if (reason === "broken") return Effect.die(new Error("what calls the relay is broken"))
          if (typeof reason !== "string") return Effect.fail(reason)
          if (reason === "send" || reason === "Unknown") sent.push(mail)
          return reason === "send"
            ? Effect.succeed({ accepted: mail.to, rejected: [], response: "250 ok" })
            : Effect.fail(new ProviderError({ provider: "scripted", reason, message: `the relay says ${reason}` }))
        })
      })
    })
  )
  const database = Latch.makeUnsafe(true)
  const callStore = Layer.effect(
    CallStore,
    Effect.map(CallStore, (store) =>
      CallStore.of({
        ...store,
        addTurn: (...turn) => Effect.andThen(database.await, store.addTurn(...turn)),
        get: (callId) => Effect.tap(store.get(callId), () => database.await),
        findByProvider: (...name) => Effect.tap(store.findByProvider(...name), () => database.await)
      })
    )
  )
  /** A copy, so that a test may change the active key. */
  const keyring = { ...TestKeyring.testKeyring([1, 2], 1) }
  const behind = ({ updatedAt, ...rest }: Operation): Operation => ({
    ...rest,
    updatedAt: Timestamp.add(updatedAt, -storeBehindMillis)
  })
  const operationStore = Layer.effect(
    OperationStore,
    Effect.map(OperationStore, (store) =>
      OperationStore.of({
        ...store,
        find: (...asked) => Effect.map(store.find(...asked), Option.map(behind)),
        advance: (...asked) => Effect.map(store.advance(...asked), Option.map(behind)),
        takeOver: (...asked) => Effect.map(store.takeOver(...asked), Option.map(behind)),
        takeDue: (...asked) => Effect.map(store.takeDue(...asked), (taken) => taken.map(behind))
      })
    )
  )
  const ports = Layer.mergeAll(
    Layer.provideMerge(Layer.mergeAll(callStore, operationStore), Memory.layer),
    Layer.succeed(Keyring, keyring),
    provider,
    carrier.layer,
    Layer.succeed(PaymentRail, payments.rail),
    Layer.succeed(MailParser, noMailParser),
    Layer.succeed(RealtimeTokens, {
      issue: () => Effect.succeed(Redacted.make("realtime")),
      verify: () => Effect.succeed(Option.none())
    })
  )
  return {
    payments,
    sent,
    sendScript,
    carrier,
    relay,
    database,
    keyring,
    layer: Core.layerWithPhone.pipe(
      Layer.provideMerge(OfferReceipts.layer("https://agentos.example")),
      Layer.provideMerge(ports)
    )
  }
}
