import { REALTIME_PATH } from "@agentos/api"
import {
  EventStore,
  RealtimeTokens,
  type Tenant,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { type KeyringConfig, RealtimeTokensJose } from "@agentos/keyring-node"
import { layerPostgres, Postgres } from "@agentos/postgres"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { type Cluster, startCluster } from "../support/Cluster.ts"
import type { BenchRun } from "./Bench.ts"
import type { SocketOrder } from "./SocketClients.ts"

/** Real servers on one PostgreSQL that keeps what it promises, and a process beside them that has the same stores. */
export interface RealtimeRig {
  readonly cluster: Cluster
  /** Runs on the stores, in this process: what it stores comes to every server through the database. */
  readonly run: <A>(
    effect: Effect.Effect<A, never, EventStore | TenantStore | Transactor | RealtimeTokens>
  ) => Promise<A>
  /** New tenants. */
  readonly tenants: (count: number) => Promise<ReadonlyArray<Tenant>>
  /** What opens a socket of each, on the servers in turn. */
  readonly orders: (tenants: ReadonlyArray<Tenant>) => Promise<ReadonlyArray<SocketOrder>>
}

const DURABLE = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" }

/** Connections of the process beside the servers. */
const POOL = 10

export const startRealtimeRig = async (bench: BenchRun, servers: number): Promise<RealtimeRig> => {
  const keys: KeyringConfig = {
    keys: [{ id: 1, secret: Redacted.make(randomBytes(32).toString("base64")) }],
    activeKeyId: 1
  }
  const cluster = await startCluster({
    servers,
    database: DURABLE,
    environment: { AGENTOS_KEYS: `1:${Redacted.value(keys.keys[0]!.secret)}` }
  })
  bench.atEnd(cluster.stop)
  const stores = Layer.provide(
    Postgres.layer,
    layerPostgres({ url: Redacted.make(cluster.database.url), maxConnections: POOL, applicationName: "bench" })
  )
  const tokens = RealtimeTokensJose.layer(keys, { issuer: cluster.servers[0]!.baseUrl })
  const runtime = ManagedRuntime.make(Layer.merge(stores, Layer.orDie(tokens)).pipe(Layer.orDie))
  bench.atEnd(() => runtime.dispose())
  const run: RealtimeRig["run"] = (effect) => runtime.runPromise(effect)
  return {
    cluster,
    run,
    tenants: (count) => run(makeTenants(count)),
    orders: async (tenants) =>
      (await run(issueTokens(tenants))).map((token, index) => {
        const { baseUrl } = cluster.servers[index % servers]!
        return { url: baseUrl.replace(/^http/, "ws") + REALTIME_PATH, token }
      })
  }
}

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
