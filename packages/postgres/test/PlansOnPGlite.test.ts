import { Postgres } from "@agentos/postgres"
import { layer } from "@effect/vitest"
import { Layer } from "effect"
import { eventPlans } from "./plans/EventPlans.ts"
import { assertMessagePlans } from "./plans/MessagePlans.ts"
import { operationPlans } from "./plans/OperationPlans.ts"
import { phonePlans } from "./plans/PhonePlans.ts"
import { webhookPlans } from "./plans/WebhookPlans.ts"
import { layerTestPGlite } from "./support/TestPGlite.ts"

const MILLIS_MAX = 240_000

// PGlite has the planner of PostgreSQL: this shows that the settings which it needs are set. It fills tables slowly.
layer(Layer.provideMerge(Postgres.layer, layerTestPGlite), { excludeTestServices: true })(
  "on PGlite without statistics, indexes find",
  (it) => {
    for (const { embedded, title } of [eventPlans, operationPlans, phonePlans, webhookPlans])
      it.effect(title, () => embedded, MILLIS_MAX)

    it.effect("a page among 25,000 messages of a tenant, also with statistics", () => assertMessagePlans, MILLIS_MAX)
  }
)
