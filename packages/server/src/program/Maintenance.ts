import { coreLayer, type Storage } from "@agentos/agentos"
import {
  ConfigurationInvalid,
  Credentials,
  JobRunner,
  JobStore,
  makeCarrierNumbers,
  OperationAdministration,
  Sales,
  SalesAdministration,
  TenantStore,
  walletAddress
} from "@agentos/core"
import { KeyringNode, RealtimeTokensJose } from "@agentos/node/keyring"
import { Effect, Layer, Option, Schema } from "effect"
import type { ServerConfig } from "../config/ServerConfig.ts"
import { setupOf, type StorageConfig, storageOf } from "./ServerSetup.ts"

/** The database has migrations that did not run. Commands other than `start` and `migrate` do not migrate it. */
export class SchemaOutdated extends Schema.TaggedError<SchemaOutdated>()("SchemaOutdated", {
  pending: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The database has ${this.pending.length} pending migrations. Run agentos-server migrate, or start a server.`
  }
}

/** No tenant has the id or the wallet. */
export class TenantUnknown extends Schema.TaggedError<TenantUnknown>()("TenantUnknown", { tenant: Schema.String }) {}

/** The schema of the configured database. Both kinds of storage that a server has keep one. */
export const schemaOf = (config: StorageConfig) => {
  const { schema } = storageOf(config)
  return schema ?? Effect.die(new Error("the storage has no schema"))
}

/** Opens the storage unless that would migrate it. */
export const currentStorage = (config: Pick<ServerConfig, "database">): Storage["layer"] =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { pending } = yield* Effect.flatMap(schemaOf(config), ({ read }) => read)
      if (pending.length > 0) return yield* new SchemaOutdated({ pending })
      return storageOf(config).layer
    })
  )

/** Returns the state of every job that ever ran, over all servers. */
export const listJobs = (config: Pick<ServerConfig, "database">) =>
  Effect.provide(
    Effect.flatMap(JobStore, ({ list }) => list),
    currentStorage(config)
  )

/** Runs an effect on the paid operations of the database, beside servers. */
export const useOperations = <A, E>(
  config: Pick<ServerConfig, "database">,
  use: (operations: OperationAdministration["Service"]) => Effect.Effect<A, E>
) =>
  Effect.provide(
    Effect.flatMap(OperationAdministration, use),
    OperationAdministration.layer.pipe(Layer.provide(currentStorage(config)))
  )

/** Runs an effect on the stopped sales of the database, beside servers, which follow within 5 s. */
export const useSales = <A, E>(
  config: Pick<ServerConfig, "database">,
  use: (sales: SalesAdministration["Service"]) => Effect.Effect<A, E>
) =>
  Effect.provide(
    Effect.flatMap(SalesAdministration, use),
    SalesAdministration.layer.pipe(Layer.provide(Sales.layer), Layer.provide(currentStorage(config)))
  )

/** Runs a job now, under the lease that the servers' own runs take. Returns the number of items processed. */
export const runJob = Effect.fnUntraced(function* (config: ServerConfig, name: string) {
  const setup = yield* setupOf(config)
  return yield* Effect.provide(
    Effect.flatMap(JobRunner, ({ runNow }) => runNow(name)),
    coreLayer(setup)
  )
})

/** Compares the numbers at the carrier with the database, beside servers. */
const carrierNumbers = Effect.fnUntraced(function* (config: ServerConfig) {
  const { publicUrl, telephony } = yield* setupOf(config)
  if (telephony === undefined) {
    return yield* new ConfigurationInvalid({
      issues: ["AGENTOS_TWILIO_ACCOUNT_SID is missing. Set it to the account whose numbers are compared"]
    })
  }
  const ports = Layer.merge(currentStorage(config), telephony.layer(publicUrl))
  return yield* Effect.provide(makeCarrierNumbers, yield* Layer.build(ports))
})

/** Returns the numbers at the carrier of which the database has no record. */
export const listUnrecorded = (config: ServerConfig) =>
  Effect.scoped(
    Effect.map(
      Effect.flatMap(carrierNumbers(config), ({ list }) => list),
      ({ unrecorded }) => unrecorded
    )
  )

/** Releases such a number at the carrier, permanently. */
export const releaseUnrecorded = (config: ServerConfig, number: string) =>
  Effect.scoped(Effect.flatMap(carrierNumbers(config), (numbers) => numbers.releaseUnrecorded(number)))

const WALLET = /^0x[0-9a-fA-F]{40}$/

/** Revokes every credential of a tenant, which is given by its id or its wallet. Returns the tenant. */
export const revokeTokens = (config: ServerConfig, tenant: string) =>
  Effect.gen(function* () {
    const tenants = yield* TenantStore
    const credentials = yield* Credentials
    const found = yield* WALLET.test(tenant) ? tenants.findByWallet(walletAddress(tenant)) : tenants.find(tenant)
    const revoked = Option.isNone(found) ? Option.none() : yield* credentials.revoke(found.value.tenantId)
    if (Option.isNone(revoked)) return yield* new TenantUnknown({ tenant })
    return revoked.value
  }).pipe(
    Effect.provide(
      Credentials.layer.pipe(
        Layer.provideMerge(
          Layer.mergeAll(
            currentStorage(config),
            KeyringNode.layer(config.keys),
            RealtimeTokensJose.layer(config.keys, { issuer: config.publicUrl })
          )
        )
      )
    )
  )
