import { LIVE_PATH, READY_PATH } from "@agentos/api"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Readiness } from "../edge/Readiness.ts"
import { documentRoute, type Handler, type Route } from "../edge/Route.ts"

/** Health checks are never rate limited. */
const healthRoute = <R = never>(path: string, handler: Handler<R>): Route<R> => ({
  ...documentRoute(path, handler),
  isRateLimited: false
})

/** Health checks for an orchestrator: whether the process answers, and whether it can work. Without the envelope. */
export const routes = Effect.map(Readiness, ({ check }) => {
  const ready = Effect.map(check, (isReady) =>
    HttpServerResponse.jsonUnsafe({ status: isReady ? "ready" : "unready" }, { status: isReady ? 200 : 503 })
  )
  const live = HttpServerResponse.jsonUnsafe({ status: "live" })
  return [healthRoute(LIVE_PATH, () => live), healthRoute(READY_PATH, () => ready)] as const
})
