import { OPERATIONS } from "@agentos/api"
import { TenantLimits } from "@agentos/core"
import { Effect } from "effect"
import { tenantRoute } from "../operation/FreeRoute.ts"
import { ServerSettings } from "../ServerSettings.ts"

export const routes = Effect.gen(function* () {
  const tenantLimits = yield* TenantLimits
  const { capabilities } = yield* ServerSettings
  return [
    tenantRoute(OPERATIONS.listLimits, ({ tenantId, wallet }) =>
      Effect.map(tenantLimits.read(tenantId, capabilities), ({ limits, ...rest }) => ({
        items: limits,
        ...rest,
        wallet
      }))
    )
  ] as const
})
