import type { Tenant } from "@agentos/core"
import type { Acknowledgement, Frame } from "../faults/observation/EventHistory.ts"
import type { Random } from "../support/Random.ts"
import { type RealtimeRig, socketUrl } from "../support/RealtimeRig.ts"
import type { Behavior } from "./Behavior.ts"
import { ChaosClient, type ClientLog } from "./ChaosClient.ts"

export interface CrowdOptions {
  readonly tenants: ReadonlyArray<Tenant>
  readonly sockets: number
  readonly behaviors: ReadonlyArray<Behavior>
  readonly random: Random
}

/** A realtime token is valid for 15 minutes. */
const TOKEN_REUSE_MILLIS = 5 * 60_000
const POST_MILLIS_MAX = 10_000

/** All clients of a run, and the servers that they may connect to. */
export class Crowd {
  readonly log: ClientLog = { sessions: [], frames: [], acknowledgements: [], closes: new Map() }
  readonly clients: ReadonlyArray<ChaosClient>
  readonly #rig: RealtimeRig
  readonly #live: Set<number>
  readonly #tokens = new Map<string, { readonly until: number; readonly token: Promise<string> }>()
  readonly #accessTokens = new Map<string, Promise<string>>()

  constructor(rig: RealtimeRig, { behaviors, random, sockets, tenants }: CrowdOptions) {
    this.#rig = rig
    this.#live = new Set(rig.cluster.servers.keys())
    const shuffled = random.shuffle(Array.from({ length: sockets }, (_, index) => behaviors[index % behaviors.length]!))
    this.clients = shuffled.map((behavior, index) => {
      const tenant = tenants[index % tenants.length]!
      return new ChaosClient({
        tenantId: tenant.tenantId,
        behavior,
        random: random.fork(index),
        log: this.log,
        order: async (own) => ({ url: socketUrl(this.#server(own)), token: await this.#token(tenant) }),
        post: (acknowledgement, own) => this.#post(tenant, acknowledgement, own),
        foreignDelivery: (own) => this.#foreignDelivery(tenant, own)
      })
    })
  }

  /** Keeps clients from a server while `work` runs. */
  async without(server: number, work: () => Promise<void>): Promise<void> {
    this.#live.delete(server)
    await work()
    this.#live.add(server)
  }

  get live(): ReadonlyArray<number> {
    return [...this.#live].toSorted((a, b) => a - b)
  }

  #server(random: Random) {
    return this.#rig.cluster.servers[random.pick(this.live)]!
  }

  #token(tenant: Tenant): Promise<string> {
    const known = this.#tokens.get(tenant.tenantId)
    if (known !== undefined && known.until > performance.now()) return known.token
    const token = this.#rig.orders([tenant]).then(([order]) => order!.token)
    this.#tokens.set(tenant.tenantId, { until: performance.now() + TOKEN_REUSE_MILLIS, token })
    return token
  }

  async #post(tenant: Tenant, { eventId }: Acknowledgement, random: Random): Promise<Acknowledgement["answer"]> {
    const { baseUrl } = this.#server(random)
    const accessToken = this.#accessTokens.get(tenant.tenantId) ?? this.#rig.accessToken(tenant)
    this.#accessTokens.set(tenant.tenantId, accessToken)
    const response = await fetch(`${baseUrl}/api/v1/events/ack`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${await accessToken}` },
      body: JSON.stringify({ eventId }),
      signal: AbortSignal.timeout(POST_MILLIS_MAX)
    }).catch(() => undefined)
    // The status is conclusive even if the body is cut off.
    await response?.arrayBuffer().catch(() => undefined)
    if (response?.status === 200) return "acknowledged"
    return response?.status === 403 || response?.status === 404 ? "missing" : undefined
  }

  /** A delivery that a client of another tenant holds, or else the last one that reached such a client. */
  #foreignDelivery({ tenantId }: Tenant, random: Random): Frame | undefined {
    const others = this.clients.filter((client) => client.tenantId !== tenantId)
    const held = others.length === 0 ? undefined : random.pick(others).held
    return held ?? this.log.frames.findLast((frame) => frame.tenantId !== tenantId)
  }
}
