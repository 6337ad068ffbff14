import { Duration, Effect } from "effect"
import { InboundMails } from "../email/InboundMails.ts"

/** Maximum delay before mail that another server received, or whose delivery was interrupted, is found. */
const LOOK_EVERY = Duration.seconds(2)
const PAUSE_AFTER_FAILURE = Duration.seconds(1)

/**
 * Delivers inbound mail for as long as it runs: mail received by this server at once, other waiting mail by polling.
 */
export const run: Effect.Effect<never, never, InboundMails> = Effect.gen(function* () {
  const inbound = yield* InboundMails
  const pass = Effect.flatMap(inbound.deliverWaiting, (delivered) =>
    delivered > 0 ? Effect.void : Effect.timeoutOption(inbound.awaitMail, LOOK_EVERY)
  )
  return yield* pass.pipe(
    // Catches every cause, including the interruption of a connection: only the end of its fiber stops this loop.
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logError("inbound mail was not delivered; trying again", cause),
        Effect.sleep(PAUSE_AFTER_FAILURE)
      )
    ),
    Effect.forever
  )
})
