import {
  Allowance,
  type PhoneNumber,
  PhoneNumberStore,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { type Database, layerPGlite, layerPostgres, Postgres } from "@agentos/postgres"
import { Effect, Layer, Redacted } from "effect"

export type VoiceDatabase = { readonly url: string } | { readonly directory: string }

/** The inbound allowance: longer than any bench. */
const ALLOWANCE_SECONDS = 100_000
/** The id of the only key. */
const KEY_ID = 1

/** Stores numbers with ample minutes, each of its own tenant, all with the same agent. */
export const storeNumbers = (
  database: VoiceDatabase,
  count: number,
  agentWebhookUrl: string
): Promise<ReadonlyArray<string>> => {
  const layer: Layer.Layer<Database, unknown> =
    "url" in database
      ? layerPostgres({ url: Redacted.make(database.url), maxConnections: 4, applicationName: "bench" })
      : layerPGlite({ directory: database.directory })
  return Effect.forEach(Array.from({ length: count }), (_, index) => storeOne(index, agentWebhookUrl)).pipe(
    Effect.provide(Layer.orDie(Layer.provide(Postgres.layer, layer))),
    Effect.runPromise
  )
}

const storeOne = Effect.fnUntraced(function* (index: number, agentWebhookUrl: string) {
  const { transact } = yield* Transactor
  const numbers = yield* PhoneNumberStore
  const tenants = yield* TenantStore
  const [tenantId, phoneNumberId, agentId, operationId] = yield* Effect.all([
    Uuid.next,
    Uuid.next,
    Uuid.next,
    Uuid.next
  ])
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  const now = yield* Timestamp.now
  const expiresAt = Timestamp.add(now, Allowance.ENTITLEMENT)
  const number = `+1${2_000_000_000 + index}`
  yield* numbers.reserve(number, operationId)
  yield* transact(
    Effect.gen(function* () {
      const tenant = yield* tenants.ensure({ tenantId, wallet, tokenVersion: 1, createdAt: now })
      const stored: PhoneNumber = {
        phoneNumberId,
        tenantId: tenant.tenantId,
        agentId,
        number,
        country: "US",
        providerNumberId: `PN${index}`,
        agentName: "Ada",
        agentWebhookUrl,
        description: null,
        beginMessage: "Hello.",
        voice: null,
        language: null,
        state: "active",
        suspension: null,
        startedAt: now,
        expiresAt,
        nextNotice: Allowance.firstNotice(expiresAt),
        allowance: { purchasedSeconds: ALLOWANCE_SECONDS, usedSeconds: 0 },
        callbackKeyId: KEY_ID,
        callbackVersion: 1,
        createdAt: now,
        releasedAt: null
      }
      yield* numbers.create(stored, operationId)
    })
  )
  return number
})
