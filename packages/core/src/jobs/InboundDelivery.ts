import { Duration, Effect } from "effect"
import { InboundMails } from "../email/InboundMails.ts"

/** How long mail that another server took, or whose reader went away, may lie before it is looked for. */
const LOOK_EVERY = Duration.seconds(2)
const PAUSE_AFTER_FAILURE = Duration.seconds(1)

/** Delivers inbound mail for as long as it runs: at once what this server takes, from time to time what else waits. */
export const run: Effect.Effect<never, never, InboundMails> = Effect.gen(function* () {
  const inbound = yield* InboundMails
  const pass = Effect.flatMap(inbound.deliverWaiting, (delivered) =>
    delivered > 0 ? Effect.void : Effect.timeoutOption(inbound.awaitMail, LOOK_EVERY)
  )
  return yield* pass.pipe(
    // Whatever it was, a connection's own interruption included: this loop ends with its fiber and not before.
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logError("inbound mail was not delivered; trying again", cause),
        Effect.sleep(PAUSE_AFTER_FAILURE)
      )
    ),
    Effect.forever
  )
})
