import { coreLayer, type Storage } from "@agentos/agentos"
import {
  audited,
  type AuditStore,
  cancelOutbound,
  ConfigurationInvalid,
  Credentials,
  exportTenant,
  JobRunner,
  JobStore,
  MailAdministration,
  makeCarrierNumbers,
  type ManualRefunds,
  type Mutation,
  OperationAdministration,
  Operators,
  refundByHand,
  releaseUnrecorded,
  returnByHand,
  revokeCredentials,
  Sales,
  SalesAdministration,
  ScheduledMessages,
  Suppressions,
  TenantErasure,
  TenantRetentions,
  type TenantErasureStore,
  TenantStore,
  type Transactor,
  walletAddress,
  WebhookAdministration
} from "@agentos/core"
import { KeyringNode, RealtimeTokensJose } from "@agentos/node/keyring"
import { Effect, Layer, Option, Schema, Stream } from "effect"
import { userInfo } from "node:os"
import { writeZipFile } from "../output/NewFile.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"
import { setupOf, type StorageConfig, storageOf } from "./ServerSetup.ts"

/** No tenant has the id or the wallet. */
export class TenantUnknown extends Schema.TaggedError<TenantUnknown>()("TenantUnknown", { tenant: Schema.String }) {}

/** A change by a command, for the audit. */
export type CommandMutation = Omit<Mutation, "actor">

/** The user of this machine, who may have no name in a container. */
const actor = Effect.sync(() => {
  try {
    return `command:${userInfo().username}`
  } catch {
    return `command:${process.getuid?.() ?? "unknown"}`
  }
})

/** Runs a change by a command, and leaves a record of it in the audit. */
const recorded = <A, E, R>(mutation: CommandMutation, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(actor, (name) => audited({ actor: name, ...mutation }, effect))

/** The schema of the configured database. Both kinds of storage that a server has keep one. */
export const schemaOf = (config: StorageConfig) => {
  const { schema } = storageOf(config)
  return schema ?? Effect.die(new Error("the storage has no schema"))
}

/** Opens the storage unless that would migrate it. */
export const currentStorage = (config: Pick<ServerConfig, "database">): Storage["layer"] =>
  storageOf(config, { migrates: false }).layer

/** Returns the state of every job that ever ran, over all servers. */
export const listJobs = (config: Pick<ServerConfig, "database">) =>
  Effect.provide(
    Effect.flatMap(JobStore, ({ list }) => list),
    currentStorage(config)
  )

const administration = Layer.mergeAll(
  MailAdministration.layer,
  OperationAdministration.layer,
  Operators.layer,
  Suppressions.layer,
  TenantErasure.layer,
  WebhookAdministration.layer,
  TenantRetentions.layer,
  SalesAdministration.layer.pipe(Layer.provide(Sales.layer))
)

/** The services that commands use on the database, beside servers, which follow within 5 s. */
export type Administration =
  | Layer.Success<typeof administration>
  | AuditStore
  | TenantErasureStore
  | TenantStore
  | Transactor

/** Runs an effect on the database. With a mutation, it is a change, which leaves a record in the audit. */
export const administer = <A, E>(
  config: Pick<ServerConfig, "database">,
  effect: Effect.Effect<A, E, Administration>,
  mutation?: CommandMutation
) =>
  Effect.provide(
    mutation === undefined ? effect : recorded(mutation, effect),
    Layer.provideMerge(administration, currentStorage(config))
  )

/** Runs a job now, under the lease that the servers' own runs take. Returns the number of items processed. */
export const runJob = Effect.fnUntraced(function* (config: ServerConfig, name: string, reason: string | null) {
  const setup = yield* setupOf(config)
  const run = Effect.flatMap(JobRunner, ({ runNow }) => runNow(name))
  return yield* Effect.provide(recorded({ action: "job.run", target: name, reason }, run), coreLayer(setup))
})

/** Writes everything of a tenant to a ZIP file that only this user can read, and leaves a record in the audit. */
export const exportTo = (
  config: Pick<ServerConfig, "database">,
  tenant: string,
  path: string,
  reason: string | null
) => {
  const exporting = Effect.gen(function* () {
    const { files, tenantId } = yield* exportTenant(tenant)
    const entries = Stream.map(files, ({ bytes, path: name }) => ({ path: name, bytes: Stream.toAsyncIterable(bytes) }))
    return { tenantId, path, files: yield* writeZipFile(path, Stream.toAsyncIterable(entries)) }
  })
  return Effect.provide(
    recorded({ action: "tenant.export", target: tenant, reason }, exporting),
    currentStorage(config)
  )
}

/** Runs a change that needs more than the database, for example the chain. */
const changeCore = Effect.fnUntraced(function* <A, E>(
  config: ServerConfig,
  mutation: CommandMutation,
  change: Effect.Effect<A, E, ManualRefunds>
) {
  return yield* Effect.provide(recorded(mutation, change), coreLayer(yield* setupOf(config)))
})

/** Records that the operator refunded an operation. */
export const refundOperation = (
  config: ServerConfig,
  operationId: string,
  transaction: string,
  reason: string | null
) =>
  changeCore(
    config,
    { action: "operation.refund", target: operationId, reason },
    refundByHand(operationId, transaction)
  )

/** Records that the operator returned a received transfer that no operation has. */
export const returnTransfer = (
  config: ServerConfig,
  received: Parameters<ManualRefunds["Service"]["returnTransfer"]>[0],
  transaction: string,
  reason: string | null
) =>
  changeCore(
    config,
    { action: "transfer.return", target: received.transaction, reason },
    returnByHand(received, transaction)
  )

/** Opens the carrier and the database beside servers. */
const carrier = Effect.fnUntraced(function* (config: ServerConfig) {
  const { publicUrl, telephony } = yield* setupOf(config)
  if (telephony === undefined) {
    return yield* new ConfigurationInvalid({
      issues: ["AGENTOS_TWILIO_ACCOUNT_SID is missing. Set it to the account whose numbers are compared"]
    })
  }
  return Layer.merge(currentStorage(config), telephony.layer(publicUrl))
})

/** Returns the numbers at the carrier of which the database has no record. */
export const listUnrecorded = Effect.fnUntraced(function* (config: ServerConfig) {
  const listed = Effect.flatMap(makeCarrierNumbers, ({ list }) => list)
  return (yield* Effect.provide(listed, yield* carrier(config))).unrecorded
})

/** Releases such a number at the carrier, permanently. */
export const releaseNumber = Effect.fnUntraced(function* (config: ServerConfig, number: string, reason: string | null) {
  const release = recorded({ action: "number.release", target: number, reason }, releaseUnrecorded(number))
  return yield* Effect.provide(release, yield* carrier(config))
})

/** Ends the attempts at a waiting message, with its refund, which the keys of the server identify. */
export const cancelMessage = (config: ServerConfig, messageId: string, reason: string | null) =>
  recorded({ action: "outbound-message.cancel", target: messageId, reason }, cancelOutbound(messageId)).pipe(
    Effect.provide(
      ScheduledMessages.layer.pipe(
        Layer.provideMerge(Layer.merge(currentStorage(config), KeyringNode.layer(config.keys)))
      )
    )
  )

const revoke = Effect.fnUntraced(function* (tenant: string) {
  const tenants = yield* TenantStore
  const found = yield* WALLET.test(tenant) ? tenants.findByWallet(walletAddress(tenant)) : tenants.find(tenant)
  const revoked = Option.isNone(found) ? Option.none() : yield* revokeCredentials(found.value.tenantId)
  if (Option.isNone(revoked)) return yield* new TenantUnknown({ tenant })
  return revoked.value
})

const WALLET = /^0x[0-9a-fA-F]{40}$/

/** Revokes every credential of a tenant, which is given by its id or its wallet. Returns the tenant. */
export const revokeTokens = (config: ServerConfig, tenant: string, reason: string | null) =>
  recorded({ action: "tenant.revoke-tokens", target: tenant, reason }, revoke(tenant)).pipe(
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
