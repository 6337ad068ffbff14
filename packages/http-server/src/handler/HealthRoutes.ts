import { LIVE_PATH, READY_PATH } from "@agentos/api"
import { Transactor } from "@agentos/core"
import { Duration, Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"

/** A store that takes longer to say that it is there is not. */
const READY_WITHIN = Duration.seconds(2)

/** What an orchestrator asks: whether the process answers, and whether it can do its work. Not in the envelope. */
export const layer = HttpRouter.addAll(
  Effect.map(Transactor, (transactor) => {
    const ready = transactor.ready.pipe(
      Effect.timeoutOrElse({ duration: READY_WITHIN, orElse: () => Effect.succeed(false) }),
      Effect.catchDefect(() => Effect.succeed(false))
    )
    return [
      HttpRouter.route("GET", LIVE_PATH, Effect.succeed(HttpServerResponse.jsonUnsafe({ status: "live" }))),
      HttpRouter.route(
        "GET",
        READY_PATH,
        Effect.map(ready, (isReady) =>
          HttpServerResponse.jsonUnsafe({ status: isReady ? "ready" : "unready" }, { status: isReady ? 200 : 503 })
        )
      )
    ] as const
  })
)
