import { LIVE_PATH, READY_PATH } from "@agentos/api"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Liveness } from "../health/Liveness.ts"
import { Readiness } from "../health/Readiness.ts"
import { documentRoute, type Handler, type Route } from "../edge/Route.ts"

/** Health checks are never rate limited. */
const healthRoute = <R = never>(path: string, handler: Handler<R>): Route<R> => ({
  ...documentRoute(path, handler),
  isRateLimited: false
})

const health = (status: string, isHealthy: boolean) =>
  HttpServerResponse.jsonUnsafe({ status }, { status: isHealthy ? 200 : 503 })

/** Health checks for an orchestrator: whether a restart would help, and whether the server can work. Without the envelope. */
export const routes = Effect.gen(function* () {
  const { isLive } = yield* Liveness
  const { check } = yield* Readiness
  const live = Effect.map(isLive, (isHealthy) => health(isHealthy ? "live" : "stalled", isHealthy))
  const ready = Effect.map(check, (isHealthy) => health(isHealthy ? "ready" : "unready", isHealthy))
  return [healthRoute(LIVE_PATH, () => live), healthRoute(READY_PATH, () => ready)] as const
})
