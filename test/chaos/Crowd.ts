import type { Tenant } from "@agentos/core"
import type { Random } from "../race/Random.ts"
import { type RealtimeRig, socketUrl } from "../support/RealtimeRig.ts"
import { ChaosClient, type ClientLog } from "./ChaosClient.ts"
import type { Acknowledgement, Frame } from "./History.ts"
import type { Manner } from "./Manner.ts"

export interface CrowdOptions {
  readonly tenants: ReadonlyArray<Tenant>
  readonly sockets: number
  readonly manners: ReadonlyArray<Manner>
  readonly random: Random
}

/** A realtime token is good for 15 minutes; a client that connects in this time gets the same again. */
const TOKEN_MILLIS = 5 * 60_000
/** For how long a client waits for the answer to a request. */
const POST_MILLIS = 10_000

/** Every client of a run, and the servers that they know to live. */
export class Crowd {
  readonly log: ClientLog = { sessions: [], frames: [], acknowledgements: [], closes: new Map() }
  readonly clients: ReadonlyArray<ChaosClient>
  readonly #rig: RealtimeRig
  readonly #living: Set<number>
  readonly #tokens = new Map<string, { readonly until: number; readonly token: Promise<string> }>()
  readonly #accessTokens = new Map<string, Promise<string>>()

  constructor(rig: RealtimeRig, { manners, random, sockets, tenants }: CrowdOptions) {
    this.#rig = rig
    this.#living = new Set(rig.cluster.servers.keys())
    const shuffled = random.shuffle(Array.from({ length: sockets }, (_, index) => manners[index % manners.length]!))
    this.clients = shuffled.map((manner, index) => {
      const tenant = tenants[index % tenants.length]!
      return new ChaosClient({
        tenantId: tenant.tenantId,
        manner,
        random: random.fork(index),
        log: this.log,
        order: async (own) => ({ url: socketUrl(this.#server(own)), token: await this.#token(tenant) }),
        post: (acknowledgement, own) => this.#post(tenant, acknowledgement, own),
        strange: (own) => this.#strange(tenant, own)
      })
    })
  }

  /** No client goes there until it is said to be back. */
  away(server: number): void {
    this.#living.delete(server)
  }

  back(server: number): void {
    this.#living.add(server)
  }

  get living(): ReadonlyArray<number> {
    return [...this.#living].toSorted((a, b) => a - b)
  }

  #server(random: Random) {
    return this.#rig.cluster.servers[random.pick(this.living)]!
  }

  #token(tenant: Tenant): Promise<string> {
    const known = this.#tokens.get(tenant.tenantId)
    if (known !== undefined && known.until > performance.now()) return known.token
    const token = this.#rig.orders([tenant]).then(([order]) => order!.token)
    this.#tokens.set(tenant.tenantId, { until: performance.now() + TOKEN_MILLIS, token })
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
      signal: AbortSignal.timeout(POST_MILLIS)
    }).catch(() => undefined)
    // A body that does not come to its end leaves nothing in doubt: the status says what happened.
    await response?.arrayBuffer().catch(() => undefined)
    if (response?.status === 200) return "acknowledged"
    return response?.status === 403 || response?.status === 404 ? "missing" : undefined
  }

  /** A delivery that a client of another tenant holds, or else the last one that came to one. */
  #strange({ tenantId }: Tenant, random: Random): Frame | undefined {
    const others = this.clients.filter((client) => client.tenantId !== tenantId)
    const held = others.length === 0 ? undefined : random.pick(others).held
    return held ?? this.log.frames.findLast((frame) => frame.tenantId !== tenantId)
  }
}
