import { LIVE_PATH, READY_PATH } from "@agentos/api"
import { Transactor } from "@agentos/core"
import { Duration, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { documentRoute, type Handler, type Route } from "../edge/Route.ts"

/** The store counts as unavailable if it does not answer within this time. */
const READY_WITHIN = Duration.seconds(2)

/** Health checks are never rate limited. */
const healthRoute = <R = never>(path: string, handler: Handler<R>): Route<R> => ({
  ...documentRoute(path, handler),
  isRateLimited: false
})

/** Health checks for an orchestrator: whether the process answers, and whether it can work. Without the envelope. */
export const routes = Effect.map(Transactor, (transactor) => {
  const ready = transactor.ready.pipe(
    Effect.timeoutOrElse({ duration: READY_WITHIN, orElse: () => Effect.succeed(false) }),
    Effect.catchDefect(() => Effect.succeed(false)),
    Effect.map((isReady) =>
      HttpServerResponse.jsonUnsafe({ status: isReady ? "ready" : "unready" }, { status: isReady ? 200 : 503 })
    )
  )
  const live = HttpServerResponse.jsonUnsafe({ status: "live" })
  return [healthRoute(LIVE_PATH, () => live), healthRoute(READY_PATH, () => ready)] as const
})
