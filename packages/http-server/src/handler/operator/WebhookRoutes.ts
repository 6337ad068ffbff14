import { nameTarget, QueryWebhooksInput, RedeliverInput, WebhookAdministration } from "@agentos/core"
import { Effect } from "effect"
import { type Answer, bodyOf, dataResponse, mutation, queryOf, read } from "./OperatorRoute.ts"

/** Lists event webhooks with the state of their deliveries. */
const listWebhooks = Effect.map(WebhookAdministration, ({ list }): Answer =>
  Effect.flatMap(Effect.flatMap(queryOf(QueryWebhooksInput), list), dataResponse)
)

/** Counts the deliveries that a redelivery would queue again. */
const previewRedelivery = Effect.map(WebhookAdministration, ({ preview }): Answer =>
  Effect.flatMap(Effect.flatMap(queryOf(RedeliverInput), preview), dataResponse)
)

const redeliver = Effect.map(WebhookAdministration, ({ redeliver: queueAgain }): Answer =>
  Effect.gen(function* () {
    const input = yield* bodyOf(RedeliverInput)
    if (input.webhookId !== undefined) yield* nameTarget(input.webhookId)
    return yield* dataResponse(yield* queueAgain(input))
  })
)

export const routes = Effect.gen(function* () {
  const webhooks = "/internal/webhooks"
  return [
    read("webhooks", webhooks, yield* listWebhooks),
    read("previewRedelivery", `${webhooks}/redelivery`, yield* previewRedelivery),
    mutation("redeliver", "support", "webhooks.redeliver", `${webhooks}/redeliver`, yield* redeliver)
  ]
})
