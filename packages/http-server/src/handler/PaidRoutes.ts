import { operations } from "@agentos/api"
import { PaidOperations, PaidServices } from "@agentos/core"
import { Effect } from "effect"
import { Readiness } from "../health/Readiness.ts"
import { paidRoute } from "../operation/PaidRoute.ts"
import { ServerSettings } from "../ServerSettings.ts"

/** The routes of all paid operations, each served by the service of its catalog entry. */
export const routes = Effect.gen(function* () {
  const services = yield* PaidServices
  const paidOperations = yield* PaidOperations
  const settings = yield* ServerSettings
  const readiness = yield* Readiness
  return operations.flatMap((operation) => {
    const { price, serviceId } = operation.entry
    if (price === null || serviceId === null) return []
    const service = services.get(serviceId)
    if (service === undefined) throw new Error(`${serviceId} has no paid service`)
    return [service.use((paid) => paidRoute(operation, paid, paidOperations, settings, readiness))]
  })
})
