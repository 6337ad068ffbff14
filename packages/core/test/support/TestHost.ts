import {
  CallStore,
  Core,
  EmailProvider,
  MailParser,
  MailUnreadable,
  type OutgoingMail,
  PaymentRail,
  ProviderError,
  RealtimeTokens,
  type SendReceipt
} from "@agentos/core"
import { ScriptedRail } from "@agentos/contract-tests"
import { Memory } from "@agentos/memory"
import { Effect, Latch, Layer, Option, Redacted } from "effect"
import * as SimulatedCarrier from "./SimulatedCarrier.ts"
import * as TestKeyring from "./TestKeyring.ts"

/** What the mail provider does with the next mails; it sends when this runs out. A `broken` one breaks its own promise. */
export type SendScript = "send" | "broken" | ProviderError["reason"] | ProviderError

/**
 * The whole core on memory, with a chain, a mail provider and a carrier that do as they are told. While its `database` is
 * closed, no turn of a call is written, and a lookup of a call reads the store and then waits.
 */
export const make = (payments = ScriptedRail.make()) => {
  const carrier = SimulatedCarrier.make()
  const sent: Array<OutgoingMail> = []
  const sendScript: Array<SendScript> = []
  const provider = Layer.succeed(
    EmailProvider,
    EmailProvider.of({
      name: "scripted",
      domain: "agents.test",
      send: (mail) =>
        Effect.suspend((): Effect.Effect<SendReceipt, ProviderError> => {
          const reason = sendScript.shift() ?? "send"
          if (reason === "broken") return Effect.die(new Error("what calls the relay is broken"))
          if (typeof reason !== "string") return Effect.fail(reason)
          if (reason === "send" || reason === "Unknown") sent.push(mail)
          return reason === "send"
            ? Effect.succeed({ accepted: mail.to, rejected: [], response: "250 ok" })
            : Effect.fail(new ProviderError({ provider: "scripted", reason, message: `the relay says ${reason}` }))
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
  const ports = Layer.mergeAll(
    Layer.provideMerge(callStore, Memory.layer),
    TestKeyring.layer,
    provider,
    carrier.layer,
    Layer.succeed(PaymentRail, payments.rail),
    Layer.succeed(MailParser, { parse: () => Effect.fail(new MailUnreadable({ message: "nothing is parsed here" })) }),
    Layer.succeed(RealtimeTokens, {
      issue: () => Effect.succeed(Redacted.make("realtime")),
      verify: () => Effect.succeed(Option.none())
    })
  )
  return { payments, sent, sendScript, carrier, database, layer: Core.layerWithPhone.pipe(Layer.provideMerge(ports)) }
}
