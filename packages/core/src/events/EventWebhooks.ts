import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { Keyring } from "../kernel/Keyring.ts"
import { type InvalidRequest, invalid, ResourceNotFound } from "../kernel/ResourceError.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import * as Uuid from "../kernel/Uuid.ts"
import type { TenantId } from "../tenancy/Tenant.ts"
import { TenantStore } from "../tenancy/TenantStore.ts"
import { type EventWebhook, PREVIOUS_SECRET_FOR, type WebhookAttempt } from "./EventWebhook.ts"
import { WebhookClient } from "./WebhookClient.ts"
import * as WebhookSecret from "./WebhookSecret.ts"
import { WebhookStore } from "./WebhookStore.ts"

export class EventWebhooks extends Context.Service<
  EventWebhooks,
  {
    /**
     * Stores the endpoint, replaces the one before, and resumes a paused one. Returns it with its secret, and whether the
     * tenant had none before. The same URL
     * keeps its secret, so that a repeated request changes nothing for the receiver. Another URL, `rotateSecret` or the
     * loss of the secret's key makes a new one; the previous one signs too for `PREVIOUS_SECRET_FOR`.
     */
    readonly set: (
      tenantId: TenantId,
      input: {
        readonly url: string
        readonly types?: EventWebhook["types"] | undefined
        readonly rotateSecret?: boolean | undefined
      }
    ) => Effect.Effect<
      { readonly webhook: EventWebhook; readonly signingSecret: Redacted.Redacted<string>; readonly isNew: boolean },
      InvalidRequest
    >
    readonly get: (tenantId: TenantId) => Effect.Effect<EventWebhook, ResourceNotFound>
    /** Deletes the endpoint and returns it. Its pending events stay. */
    readonly remove: (tenantId: TenantId) => Effect.Effect<EventWebhook, ResourceNotFound>
    /** Returns the last attempts, newest first. */
    readonly attempts: (tenantId: TenantId) => Effect.Effect<ReadonlyArray<WebhookAttempt>, ResourceNotFound>
  }
>()("@agentos/core/events/EventWebhooks") {
  static readonly layer = Layer.effect(
    EventWebhooks,
    Effect.gen(function* () {
      const store = yield* WebhookStore
      const client = yield* WebhookClient
      const keyring = yield* Keyring
      const tenants = yield* TenantStore
      const { transact } = yield* Transactor

      const get = (tenantId: TenantId) =>
        Effect.flatMap(
          store.find(tenantId),
          Option.match({
            onNone: () => Effect.fail(new ResourceNotFound({ kind: "webhook", id: tenantId })),
            onSome: Effect.succeed
          })
        )

      const secretOf = ({ secret, webhookId }: Pick<EventWebhook, "secret" | "webhookId">) =>
        WebhookSecret.derive(keyring, { ...secret, webhookId })

      const save = Effect.fnUntraced(function* (
        tenantId: TenantId,
        url: string,
        types: EventWebhook["types"],
        rotateSecret: boolean
      ) {
        yield* tenants.lock([tenantId])
        const known = Option.getOrUndefined(yield* store.find(tenantId))
        const now = yield* Timestamp.now
        const webhook: EventWebhook = {
          webhookId: known?.webhookId ?? (yield* Uuid.next),
          tenantId,
          url,
          types,
          state: "active",
          ...(known !== undefined && known.url === url && !rotateSecret && secretOf(known) !== undefined
            ? { secret: known.secret, previousSecret: known.previousSecret }
            : {
                secret: { keyId: keyring.activeKeyId, version: (known?.secret.version ?? 0) + 1 },
                previousSecret:
                  known === undefined ? null : { ...known.secret, validUntil: Timestamp.add(now, PREVIOUS_SECRET_FOR) }
              }),
          createdAt: known?.createdAt ?? now,
          updatedAt: now,
          pausedAt: null
        }
        yield* store.set(webhook, known !== undefined && new URL(known.url).host === new URL(url).host)
        return { webhook, isNew: known === undefined }
      })

      return EventWebhooks.of({
        set: Effect.fnUntraced(function* (tenantId, { rotateSecret = false, types, url }) {
          const refusal = yield* client.refusal(url)
          if (refusal !== undefined) return yield* invalid("url", refusal)
          const { isNew, webhook } = yield* transact(save(tenantId, url, types ?? null, rotateSecret))
          const signingSecret = secretOf(webhook)
          if (signingSecret === undefined) return yield* Effect.die(new Error("the active key is not in the key ring"))
          return { webhook, signingSecret, isNew }
        }),
        get,
        remove: (tenantId) =>
          transact(
            Effect.gen(function* () {
              yield* tenants.lock([tenantId])
              const webhook = yield* get(tenantId)
              yield* store.remove(tenantId)
              return webhook
            })
          ),
        attempts: (tenantId) => Effect.flatMap(get(tenantId), ({ webhookId }) => store.attempts(webhookId))
      })
    })
  )
}
