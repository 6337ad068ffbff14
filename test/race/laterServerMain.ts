import { PaymentRail } from "@agentos/core"
import { log, type Ports, reportExit, serverProgram } from "@agentos/server"
import { Effect, Fiber, Layer } from "effect"

/** Runs the server as a later version could: its challenges have fields that this version does not know. */
const later = (ports: Ports): Ports =>
  Layer.effect(
    PaymentRail,
    Effect.map(PaymentRail, (rail) =>
      PaymentRail.of({
        ...rail,
        terms: (amount) =>
          rail
            .terms(amount)
            .map((terms) => ({ ...terms, extra: { ...terms.extra, laterField: "later", laterLevel: 7 } }))
      })
    )
    // The compiler cannot see that a port of `Ports` needs no other services.
  ).pipe(Layer.provideMerge(ports)) as unknown as Ports

const serving = Effect.runFork(Effect.provide(serverProgram({ around: later }), log))
serving.addObserver((exit) => process.exit(reportExit(exit)))
process.once("SIGTERM", () => Effect.runFork(Fiber.interrupt(serving)))
