// Appends events to the database in the given directory until it is killed, each in a transaction of its own,
// and prints the id of each once it is committed.
import { EventStore, INTERNAL_SOURCE, TenantStore, Timestamp, Transactor, Uuid, walletAddress } from "@agentos/core"
import { layerPGlite, Postgres } from "@agentos/postgres"
import { Effect, Layer } from "effect"

const [directory = ""] = process.argv.slice(2)

const append = Effect.gen(function* () {
  const store = yield* EventStore
  const tenants = yield* TenantStore
  const transactor = yield* Transactor
  const wallet = walletAddress(`0x${"1".repeat(40)}`)
  const { tenantId } = yield* transactor.transact(
    tenants.ensure({ tenantId: yield* Uuid.next, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
  )
  while (true) {
    const id = yield* Uuid.next
    const draft = { tenantId, type: "email.received", source: INTERNAL_SOURCE, service: "email" } as const
    const [event] = yield* store.append([{ ...draft, resourceId: id, agentId: id, payload: {}, dedupeKey: id }])
    process.stdout.write(`${event?.eventId}\n`)
  }
})

await append.pipe(Effect.provide(Layer.provide(Postgres.layer, layerPGlite({ directory }))), Effect.runPromise)
