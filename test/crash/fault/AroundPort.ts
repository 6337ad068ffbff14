import { CallStore, EmailProvider, PaymentRail, PhoneNumberStore, TelephonyProvider } from "@agentos/core"
import type { Ports } from "@agentos/http-server/ServerProgram"
import { Effect, Layer } from "effect"

/** The real server's ports, with a payment rail that breaks its promise. */
export const aroundRail =
  (broken: (rail: PaymentRail["Service"]) => PaymentRail["Service"]) =>
  (ports: Ports): Ports =>
    Layer.effect(PaymentRail, Effect.map(PaymentRail, broken)).pipe(Layer.provideMerge(ports))

/** The real server's ports, with a mail provider that breaks its promise. */
export const aroundMail =
  (broken: (provider: EmailProvider["Service"]) => EmailProvider["Service"]) =>
  (ports: Ports): Ports =>
    Layer.effect(EmailProvider, Effect.map(EmailProvider, broken)).pipe(Layer.provideMerge(ports))

/** The real server's ports, with a carrier that breaks its promise. */
export const aroundCarrier =
  (broken: (carrier: TelephonyProvider["Service"]) => TelephonyProvider["Service"]) =>
  (ports: Ports): Ports =>
    Layer.effect(TelephonyProvider, Effect.map(TelephonyProvider, broken)).pipe(Layer.provideMerge(ports))

/** The real server's ports, with a store of numbers that breaks its promise. */
export const aroundNumbers =
  (broken: (store: PhoneNumberStore["Service"]) => PhoneNumberStore["Service"]) =>
  (ports: Ports): Ports =>
    Layer.effect(PhoneNumberStore, Effect.map(PhoneNumberStore, broken)).pipe(Layer.provideMerge(ports))

/** The real server's ports, with a store of calls that breaks its promise. */
export const aroundCalls =
  (broken: (store: CallStore["Service"]) => CallStore["Service"]) =>
  (ports: Ports): Ports =>
    Layer.effect(CallStore, Effect.map(CallStore, broken)).pipe(Layer.provideMerge(ports))
