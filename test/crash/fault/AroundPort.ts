import { EmailProvider, PaymentRail } from "@agentos/core"
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
