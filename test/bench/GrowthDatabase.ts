import {
  AS_CLAIMED,
  type EventDraft,
  EventStore,
  type Operation,
  OperationStore,
  TenantStore,
  Timestamp,
  Transactor,
  Uuid,
  walletAddress
} from "@agentos/core"
import { layerPostgres, Postgres } from "@agentos/postgres"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { openDatabase } from "../support/ClusterDatabase.ts"

type Ports = EventStore | OperationStore | TenantStore | Transactor

/** A database with many or few old rows, and the stores on it. */
export interface GrowthDatabase {
  readonly run: <A>(effect: Effect.Effect<A, never, Ports>) => Promise<A>
  /** The measured tenant. It owns half of the old events. */
  readonly tenantId: string
  /** The median age of the tenant's old events. */
  readonly middle: Timestamp.Timestamp
  readonly close: () => Promise<void>
}

/** The numbers of old rows. */
export interface Growth {
  readonly events: number
  readonly operations: number
}

/** They own the other half of the events. */
const OTHERS = 49
/** The period over which old events are spread. */
const FROM = 300 * Timestamp.DAY
const UNTIL = Timestamp.DAY
/** Open events of the tenant, and open operations. */
export const OPEN_EVENTS = 1_000
export const DUE_OPERATIONS = 64
const LATER_OPERATIONS = 1_000
/** Rows of one statement. Each statement is reported. */
const CHUNK = 500_000

/** Opens an empty database and fills it. */
export const openGrowthDatabase = async (
  url: string,
  { events, operations }: Growth,
  say: (line: string) => void
): Promise<GrowthDatabase> => {
  const runtime = ManagedRuntime.make(
    Layer.orDie(Layer.provide(Postgres.layer, layerPostgres({ url: Redacted.make(url), applicationName: "bench" })))
  )
  const run: GrowthDatabase["run"] = (effect) => runtime.runPromise(effect)
  const close = () => runtime.dispose()
  try {
    const tenantIds = await run(Effect.replicateEffect(makeTenant, OTHERS + 1))
    const tenantId = tenantIds[0]!
    const now = await run(Timestamp.now)
    const filling = openDatabase(url, { statementTimeout: "1 hour" })
    try {
      await filling.execute("set synchronous_commit = off")
      for (let from = 0; from < events; from += CHUNK) {
        const count = Math.min(CHUNK, events - from)
        await filling.execute(insertEvents({ tenantIds, from, count, total: events, now }))
        if (events > CHUNK) say(`${from + count} of ${events} old events`)
      }
      for (let from = 0; from < operations; from += CHUNK) {
        const count = Math.min(CHUNK, operations - from)
        await filling.execute(insertOperations({ tenantId, from, count }))
        if (operations > CHUNK) say(`${from + count} of ${operations} final operations`)
      }
      await run(addOpen(tenantId))
      await filling.execute("vacuum analyze events", "vacuum analyze operations", "checkpoint")
    } finally {
      await filling.close()
    }
    return { run, tenantId, middle: Timestamp.add(now, -(FROM + UNTIL) / 2), close }
  } catch (error) {
    await close()
    throw error
  }
}

export const makeTenant = Effect.gen(function* () {
  const tenants = yield* TenantStore
  const tenantId = yield* Uuid.next
  const wallet = walletAddress(`0x${tenantId.replaceAll("-", "").padStart(40, "0")}`)
  yield* tenants.ensure({ tenantId, wallet, tokenVersion: 1, createdAt: yield* Timestamp.now })
  return tenantId
})

/** Acknowledged events, every second one of the first tenant. Their ids begin with their times. */
const insertEvents = (part: {
  readonly tenantIds: ReadonlyArray<string>
  readonly from: number
  readonly count: number
  readonly total: number
  readonly now: number
}): string => {
  const tenants = `array[${part.tenantIds.map((tenantId) => `'${tenantId}'`).join(",")}]::uuid[]`
  const at = `${part.now - FROM} + n * ${FROM - UNTIL}::bigint / ${part.total}`
  return `
    insert into events (
      event_id, tenant_id, type, source, service, resource_id, agent_id, payload, dedupe_key, status,
      created_at, expires_at, delivered_at, acknowledged_at, delivery_count
    )
    select
      (lpad(to_hex(at), 12, '0') || '7' || lpad(to_hex(n), 19, '0'))::uuid,
      (${tenants})[case n % 2 when 0 then 1 else 2 + (n / 2) % ${OTHERS} end],
      'email.received', 'smtp', 'email', 'message ' || n, 'a mailbox', '{"subject":"${"x".repeat(100)}"}', 'old ' || n,
      'acknowledged', at, at + ${30 * Timestamp.DAY}, at + 100, at + 200, 1
    from (select n, ${at} as at from generate_series(${part.from}::bigint, ${part.from + part.count - 1}) n) moments`
}

/** Final operations. Nothing reads them. */
const insertOperations = (part: {
  readonly tenantId: string
  readonly from: number
  readonly count: number
}): string => `
  insert into operations (
    operation_id, tenant_id, service_id, endpoint, idempotency_key, fingerprint, request_id, network, asset, payer, nonce,
    amount, proof, terms, input, plan, state, transaction, fence, created_at, updated_at
  )
  select
    gen_random_uuid(), '${part.tenantId}'::uuid, 'email.message.send', 'POST /api/v1/email/messages', 'old ' || n,
    'fingerprint', 'request', 'eip155:196', '0x0a', '0x0b', '0x' || lpad(to_hex(n), 64, '0'), 20000,
    '{"payload":"${"x".repeat(500)}"}', '{}', '{}', '{}',
    case n % 10 when 0 then 'unpaid' else 'fulfilled' end, case n % 10 when 0 then null else '0x01' end, 2, n, n
  from generate_series(${part.from}::bigint, ${part.from + part.count - 1}) n`

const addOpen = (tenantId: string) =>
  Effect.gen(function* () {
    yield* appendEvents(tenantId, OPEN_EVENTS)
    const { transact } = yield* Transactor
    const store = yield* OperationStore
    yield* transact(
      Effect.gen(function* () {
        for (let index = 0; index < DUE_OPERATIONS + LATER_OPERATIONS; index++) {
          yield* store.claim(yield* newOperation(tenantId), index < DUE_OPERATIONS ? 0 : Timestamp.DAY)
        }
      })
    )
  })

/** Stores events of the tenant in one call. */
export const appendEvents = (tenantId: string, count: number, type: EventDraft["type"] = "email.received") =>
  Effect.gen(function* () {
    const store = yield* EventStore
    const drafts = yield* Effect.replicateEffect(
      Effect.map(Uuid.next, (id) => ({
        tenantId,
        type,
        source: "smtp",
        service: "email",
        resourceId: id,
        agentId: "a mailbox",
        payload: { subject: "x".repeat(100) },
        dedupeKey: id
      })),
      count
    )
    return yield* store.append(drafts)
  })

export const newOperation = (tenantId: string) =>
  Effect.gen(function* () {
    const id = yield* Uuid.next
    const now = yield* Timestamp.now
    const token = { network: "eip155:196", asset: `0x${"0a".repeat(20)}`, payTo: `0x${"0b".repeat(20)}` }
    const terms = { ...token, scheme: "exact", amount: 20_000n, maxTimeoutSeconds: 120, extra: {} } as const
    const operation: Operation = {
      operationId: id,
      tenantId,
      serviceId: "email.message.send",
      endpoint: "POST /api/v1/email/messages",
      idempotencyKey: id,
      fingerprint: "fingerprint",
      requestId: id,
      trace: null,
      proof: {
        ...token,
        digest: id,
        payer: walletAddress(`0x${"0c".repeat(20)}`),
        value: 20_000n,
        nonce: id,
        validAfter: 0,
        validBefore: 2_000_000_000,
        accepted: { ...terms, amount: "20000" },
        payload: "{}"
      },
      terms,
      input: "{}",
      plan: "{}",
      ...AS_CLAIMED,
      createdAt: now,
      updatedAt: now
    }
    return operation
  })
