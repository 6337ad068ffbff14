import {
  AgentSessions,
  Credentials,
  type EventDraft,
  EventStore,
  Keyring,
  RateLimiter,
  RealtimeTokens,
  type Tenant,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { Memory } from "@agentos/memory"
import { Effect, Layer, Option, Redacted } from "effect"
import { IpNetwork } from "effect/net"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as ConnectionGate from "../../src/connection/ConnectionGate.ts"
import { RateLimiting } from "../../src/edge/RateLimiting.ts"
import { Upgrades } from "../../src/connection/Upgrades.ts"
import { NodeServer } from "../../src/connection/NodeServer.ts"
import { upgradeListener } from "../../src/Server.ts"
import { type RateLimit, ServerSettings } from "../../src/ServerSettings.ts"
import { connect } from "./RealtimeClient.ts"
import { testSite } from "../support/TestSite.ts"

const nodeServer = Layer.effect(
  NodeServer,
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer()
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
  )
)

/** Tokens that contain their claims in plain text. */
const tokens = Layer.succeed(RealtimeTokens, {
  issue: ({ tenantId, version }) => Effect.succeed(Redacted.make(`${tenantId} ${version}`)),
  verify: (token) => {
    const [tenantId, version] = token.split(" ")
    return Effect.succeed(
      tenantId === undefined || version === undefined
        ? Option.none()
        : Option.some({ tenantId, version: Number(version), expiresAt: Timestamp.Timestamp.make(0) })
    )
  }
})
const keyring = Layer.succeed(Keyring, {
  activeKeyId: 1,
  mac: () => undefined,
  sign: () => ({ keyId: 1, bytes: new Uint8Array(64) }),
  verificationKeys: [],
  randomBytes: (length) => Effect.succeed(new Uint8Array(length))
})

const upgrades = upgradeListener.pipe(
  Layer.provideMerge(Upgrades.layer),
  Layer.provide(ConnectionGate.layer),
  Layer.provideMerge(nodeServer)
)
const ports = Layer.mergeAll(upgrades, tokens, keyring, Memory.layer)
export const settings = (rateLimit: RateLimit | null, trustedProxy: string) =>
  Layer.succeed(ServerSettings, {
    environment: "sandbox",
    publicUrl: "http://agentos.test",
    capabilities: { email: true, phone: false },
    rateLimit,
    trustedProxies: [IpNetwork.fromStringUnsafe(trustedProxy)],
    signInOrigins: [],
    operatorToken: null,
    site: testSite
  })

/** The dependencies of a gateway, in memory. Clients are on 127.0.0.1 and limited unless the rate limit is null. */
export const hostWith = (rateLimit: RateLimit | null, trustedProxy = "127.0.0.0/8") =>
  Credentials.layer.pipe(
    Layer.provideMerge(AgentSessions.layer),
    Layer.provideMerge(RateLimiting.layer),
    Layer.provideMerge(
      rateLimit === null ? Layer.succeed(RateLimiter.RateLimiter, RateLimiter.unlimited) : RateLimiter.layer
    ),
    Layer.provideMerge(ports),
    Layer.provideMerge(settings(rateLimit, trustedProxy))
  )
export const host = hostWith(null)

export type Ports = Layer.Success<typeof host>

let wallets = 0
export const newTenant = Effect.gen(function* () {
  const store = yield* TenantStore
  const candidate: Tenant = {
    tenantId: yield* Uuid.next,
    wallet: walletAddress(`0x${(++wallets).toString(16).padStart(40, "0")}`),
    tokenVersion: 1,
    createdAt: Timestamp.Timestamp.make(0)
  }
  return yield* (yield* Transactor).transact(store.ensure(candidate))
})

export const append = Effect.fnUntraced(function* (tenant: Tenant, names: ReadonlyArray<string>) {
  const store = yield* EventStore
  const drafts = names.map((name): EventDraft => ({
    tenantId: tenant.tenantId,
    type: "email.received",
    source: "smtp",
    service: "email",
    resourceId: name,
    agentId: "agent",
    payload: { subject: name },
    dedupeKey: name
  }))
  return yield* (yield* Transactor).transact(store.append(drafts))
})

export const port = Effect.map(NodeServer, (server) => (server.address() as AddressInfo).port)

export const open = Effect.fnUntraced(function* (tenant: Tenant, mode?: "observe") {
  const client = yield* connect(yield* port)
  client.send({
    type: "session.authenticate",
    token: `${tenant.tenantId} ${tenant.tokenVersion}`,
    ...(mode === undefined ? {} : { mode })
  })
  const ready = yield* client.expect("session.ready")
  return { ...client, ready }
})

export const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `event ${from + index}`)
