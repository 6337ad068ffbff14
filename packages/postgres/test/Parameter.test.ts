import { EventStore, Lookup, TenantStore, Timestamp, Uuid, walletAddress } from "@agentos/core"
import { Postgres } from "@agentos/postgres"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layerTestPostgres } from "./support/TestPostgres.ts"

layer(Layer.provide(Postgres.layer, layerTestPostgres()), { excludeTestServices: true })(
  "a value from a client",
  (it) => {
    const makeTenant = Effect.gen(function* () {
      const tenants = yield* TenantStore
      const tenantId = yield* Uuid.next
      const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
      yield* tenants.ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
      return tenantId
    })

    it.effect("may contain U+0000, which no text column can store: it is found as it was stored", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const tenantId = yield* makeTenant
        const payload = { text: "a\u0000b", "\u0000": "\ud800" }
        const draft = { tenantId, type: "email.received", source: "smtp", service: "email", agentId: "agent" } as const
        yield* store.append([{ ...draft, resourceId: "a\u0000b", payload, dedupeKey: "a\u0000b" }])
        for (const filter of [{ resourceId: "a\u0000b" }, { agentId: "agent" }]) {
          const found = yield* store.list(tenantId, filter, undefined, 2)
          assert.deepStrictEqual(
            found.map((event) => event.payload),
            [payload]
          )
        }
        assert.deepStrictEqual(yield* store.list(tenantId, { service: "\u0000", types: ["\u0000"] }, undefined, 2), [])
      })
    )

    it.effect("may be an invalid id, which matches nothing", () =>
      Effect.gen(function* () {
        const store = yield* EventStore
        const tenantId = yield* makeTenant
        for (const eventId of [
          "",
          "1",
          "'",
          "\u0000",
          `${yield* Uuid.next} `,
          "{01234567-89ab-7def-8123-456789abcdef}"
        ]) {
          assert.deepStrictEqual(yield* store.find(tenantId, eventId), Lookup.missing)
          assert.deepStrictEqual(yield* store.acknowledge(tenantId, [{ eventId, deliveryId: eventId }]), ["missing"])
          assert.deepStrictEqual(yield* store.list(tenantId, {}, { createdAt: 0, id: eventId }, 2), [])
        }
      })
    )
  }
)
