import { Postgres } from "@agentos/postgres"
import { describe, layer } from "@effect/vitest"
import { Layer } from "effect"
import { eventPlans } from "./plans/EventPlans.ts"
import { assertMessagePlans } from "./plans/MessagePlans.ts"
import { operationPlans } from "./plans/OperationPlans.ts"
import { phonePlans } from "./plans/PhonePlans.ts"
import { assertPlanOfAllWebhooks, webhookPlans } from "./plans/WebhookPlans.ts"
import { layerTestPostgres } from "./support/TestPostgres.ts"

/** Those of webhooks are last, because they analyze the table of tenants, which others use without statistics. */
const SUBJECTS = [eventPlans, operationPlans, phonePlans, webhookPlans]

const MILLIS_MAX = 240_000

describe("indexes find", () => {
  const onServer = () => Layer.provideMerge(Postgres.layer, layerTestPostgres({ settings: { autovacuum: "off" } }))

  layer(onServer(), { excludeTestServices: true })(
    "on PostgreSQL, with no statistics, and with current ones,",
    (it) => {
      for (const { current, title } of SUBJECTS) it.effect(title, () => current, MILLIS_MAX)

      it.effect("a page among 25,000 messages of a tenant", () => assertMessagePlans, MILLIS_MAX)

      it.effect("all event webhooks, each read once, and the tenants of these alone", () => assertPlanOfAllWebhooks)
    }
  )

  layer(onServer(), { excludeTestServices: true })(
    "on PostgreSQL, with statistics from when all were due, and after these were lost,",
    (it) => {
      for (const { outdated, title } of SUBJECTS) it.effect(title, () => outdated, MILLIS_MAX)
    }
  )
})
