import fastify from "fastify"
import { createHash } from "node:crypto"
import pg from "pg"
import { answerParent } from "../compare/ChildModule.ts"
import { HOST, portOf } from "./Peer.ts"

type RecordFields = Readonly<Record<string, unknown>>

/** A table, and the route that reads one of its records or all records of a tenant. */
export interface Resource {
  readonly path: string
  readonly table: string
  /** The column that `:id` of the path names. Without it, the route lists records. */
  readonly idColumn?: string
  readonly records: ReadonlyArray<RecordFields>
}

export interface FastifyOptions {
  readonly databaseUrl: string
  readonly token: string
  readonly resources: ReadonlyArray<Resource>
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

interface Column {
  readonly type: string
  readonly schema: object
}

const columnOf = (value: unknown): Column => {
  if (typeof value === "boolean") return { type: "boolean", schema: { type: "boolean" } }
  if (typeof value === "number") return { type: "integer", schema: { type: "integer" } }
  if (typeof value === "object" && value !== null)
    return { type: "json", schema: { type: "object", additionalProperties: true } }
  if (typeof value === "string" && ISO_TIME.test(value))
    return { type: "timestamptz", schema: { type: "string", format: "date-time" } }
  return { type: "text", schema: { type: "string", nullable: true } }
}

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest()
const TENANT = "00000000-0000-4000-8000-000000000001"
/** Tenants with as many records, so that the table has more than is read. */
const OTHERS = 100

/** Fastify with a schema for each answer, and pg with its pool and named statements. The database knows the tokens. */
answerParent(async ({ databaseUrl, resources, token }: FastifyOptions): Promise<number> => {
  const pool = new pg.Pool({ connectionString: databaseUrl })
  await pool.query("create table tokens (hash bytea primary key, tenant_id uuid not null)")
  await pool.query("insert into tokens values ($1, $2)", [hashOf(token), TENANT])
  await pool.query(
    "insert into tokens select sha256(convert_to(n::text, 'UTF8')), gen_random_uuid() from generate_series(1, 1000) n"
  )
  const app = fastify()
  for (const { idColumn, path, records, table } of resources) {
    const columns = Object.entries(records[0]!).map(([name, value]) => ({ name, ...columnOf(value) }))
    const names = columns.map(({ name }) => `"${name}"`).join(", ")
    const types = columns.map(({ name, type }) => `"${name}" ${type}`).join(", ")
    await pool.query(`create table ${table} (tenant_id uuid not null, place serial, ${types})`)
    await pool.query(
      `insert into ${table} (tenant_id, ${names}) select $1::uuid, ${names} from json_to_recordset($2) as given (${types})`,
      [TENANT, JSON.stringify(records)]
    )
    await pool.query(
      `insert into ${table} (tenant_id, ${names}) select tenant, ${names} from ${table}, ` +
        `(select gen_random_uuid() as tenant from generate_series(1, ${OTHERS})) others order by tenant, place`
    )
    await pool.query(`create index on ${table} (tenant_id, ${idColumn === undefined ? "place" : `"${idColumn}"`})`)
    await pool.query(`analyze ${table}`)
    const item = { type: "object", properties: Object.fromEntries(columns.map(({ name, schema }) => [name, schema])) }
    const data = { type: "object", properties: { items: { type: "array", items: item } } }
    const filter = idColumn === undefined ? "order by place limit 100" : `and "${idColumn}" = $2`
    app.get<{ Params: { readonly id: string } }>(
      path,
      { schema: { response: { 200: { type: "object", properties: { data } } } } },
      async (request, reply) => {
        const given = request.headers.authorization?.replace(/^Bearer /, "") ?? ""
        const known = await pool.query<{ readonly tenant_id: string }>({
          name: "token",
          text: "select tenant_id from tokens where hash = $1",
          values: [hashOf(given)]
        })
        const tenantId = known.rows[0]?.tenant_id
        if (tenantId === undefined) return reply.code(401).send()
        const { rows } = await pool.query<RecordFields>({
          name: table,
          text: `select ${names} from ${table} where tenant_id = $1 ${filter}`,
          values: idColumn === undefined ? [tenantId] : [tenantId, request.params.id]
        })
        return { data: { items: rows } }
      }
    )
  }
  await app.listen({ host: HOST, port: 0 })
  return portOf(app.server)
})
