import { REALTIME_PATH } from "@agentos/api"
import {
  AccessToken,
  EventStore,
  Keyring,
  RealtimeTokens,
  type Tenant,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { KeyringNode, RealtimeTokensJose } from "@agentos/node/keyring"
import { layerPostgres, Postgres } from "@agentos/postgres"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { type Cluster, type ClusterOptions, type ClusterServer, startCluster } from "./Cluster.ts"

/** The URL and token of a socket. */
export interface SocketOrder {
  readonly url: string
  readonly token: string
}

type Ports = EventStore | TenantStore | Transactor | RealtimeTokens | Keyring

/** Real servers on one PostgreSQL, with the same stores and keys in this process. */
export interface RealtimeRig {
  readonly cluster: Cluster
  /** Runs an effect on the stores in this process. Servers see its changes through the database. */
  readonly run: <A>(effect: Effect.Effect<A, never, Ports>) => Promise<A>
  /** Creates tenants. */
  readonly tenants: (count: number) => Promise<ReadonlyArray<Tenant>>
  /** Returns a URL and token for each tenant, on the servers in turn. */
  readonly orders: (tenants: ReadonlyArray<Tenant>) => Promise<ReadonlyArray<SocketOrder>>
  /** Returns the access token of a tenant. */
  readonly accessToken: (tenant: Tenant) => Promise<string>
  readonly stop: () => Promise<void>
}

/** Connections of this process. */
const POOL = 10

export const startRealtimeRig = async (options: ClusterOptions): Promise<RealtimeRig> => {
  const secret = randomBytes(32).toString("base64")
  const cluster = await startCluster({
    ...options,
    environment: { ...options.environment, AGENTOS_KEYS: `1:${secret}` }
  })
  const stores = Layer.provide(
    Postgres.layer,
    layerPostgres({ url: Redacted.make(cluster.database.url), maxConnections: POOL, applicationName: "beside" })
  )
  const keys = { keys: [{ id: 1, secret: Redacted.make(secret) }], activeKeyId: 1 }
  const tokens = Layer.merge(
    KeyringNode.layer(keys),
    RealtimeTokensJose.layer(keys, { issuer: cluster.servers[0]!.baseUrl })
  )
  const runtime = ManagedRuntime.make(Layer.orDie(Layer.merge(stores, tokens)))
  const run: RealtimeRig["run"] = (effect) => runtime.runPromise(effect)
  return {
    cluster,
    run,
    tenants: (count) => run(makeTenants(count)),
    orders: async (tenants) =>
      (await run(issueTokens(tenants))).map((token, index) => ({
        url: socketUrl(cluster.servers[index % options.servers]!),
        token
      })),
    accessToken: (tenant) => run(deriveToken(tenant)),
    stop: async () => {
      await runtime.dispose()
      await cluster.stop()
    }
  }
}

/** Returns the URL of the realtime endpoint of a server. */
export const socketUrl = ({ baseUrl }: Pick<ClusterServer, "baseUrl">): string =>
  baseUrl.replace(/^http/, "ws") + REALTIME_PATH

const makeTenants = (count: number) =>
  Effect.gen(function* () {
    const { transact } = yield* Transactor
    const store = yield* TenantStore
    const makeOne = Effect.gen(function* () {
      const tenantId = yield* Uuid.next
      const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
      return yield* store.ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
    })
    const tenants: Array<Tenant> = []
    while (tenants.length < count) {
      const some = Math.min(500, count - tenants.length)
      tenants.push(...(yield* transact(Effect.replicateEffect(makeOne, some))))
    }
    return tenants
  })

const issueTokens = (tenants: ReadonlyArray<Tenant>) =>
  Effect.gen(function* () {
    const tokens = yield* RealtimeTokens
    const expiresAt = Timestamp.add(yield* Timestamp.now, 15 * Timestamp.MINUTE)
    return yield* Effect.forEach(
      tenants,
      ({ tenantId, tokenVersion: version }) =>
        Effect.map(tokens.issue({ tenantId, version, expiresAt }), Redacted.value),
      { concurrency: 50 }
    )
  })

const deriveToken = ({ tenantId, tokenVersion: version }: Tenant) =>
  Effect.map(Keyring, (keyring) => {
    const token = AccessToken.derive(keyring, { keyId: keyring.activeKeyId, tenantId, version })
    if (token === undefined) throw new Error("the keyring has no active key")
    return Redacted.value(token)
  })
