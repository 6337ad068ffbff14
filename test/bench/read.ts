import type { Tenant } from "@agentos/core"
import { newWallets } from "../faults/client/Wallet.ts"
import { databaseUrl, execute } from "../support/ClusterDatabase.ts"
import { Treasury } from "../support/Treasury.ts"
import type { Bench } from "./Bench.ts"
import { append } from "./CapacityLoads.ts"
import { compare, COMPARISON_OPTIONS } from "./compare/Comparison.ts"
import { type Answer, CONNECTIONS, httpSide, type HttpServer, startGenerator, startPeer } from "./compare/HttpSides.ts"
import { type ServerUnderTest, startServerUnderTest } from "./compare/ServerUnderTest.ts"
import type { FastifyOptions, Resource } from "./peer/fastifyMain.ts"

const MAILBOXES = 3
const EVENTS = 100

/** A wallet with three mailboxes and a hundred pending events. */
export const makeCustomer = async ({ rig }: ServerUnderTest) => {
  const [wallet] = await newWallets(rig.cluster, new Treasury(rig.cluster.chain), 1, 100)
  const { address } = await wallet!.on(0).createMailbox("bench0")
  for (let count = 1; count < MAILBOXES; count++) await wallet!.on(0).createMailbox(`bench${count}`)
  const [row] = await execute(
    rig.cluster.database.url,
    "select tenant_id, operation_id from operations order by created_at limit 1"
  )
  await rig.run(append({ tenantId: row!["tenant_id"] } as Tenant, EVENTS))
  return { address, token: wallet!.token!, operationId: String(row!["operation_id"]) }
}

type Items = ReadonlyArray<Readonly<Record<string, unknown>>>

/** The records of an answer: a list, or the only field of its data. */
const itemsOf = ({ body }: Pick<Answer, "body">): Items => {
  const { data } = JSON.parse(body) as { readonly data: Readonly<Record<string, object>> }
  return (data["items"] ?? Object.values(data)) as Items
}

export const read: Bench = {
  summary:
    "GET with a bearer token: one record, 3 rows, 100 rows, beside Fastify with pg and its tokens in the database",
  options: COMPARISON_OPTIONS,
  comparesPeers: true,
  run: async (bench) => {
    const server = await startServerUnderTest(bench)
    const { operationId, token } = await makeCustomer(server)
    const headers = { authorization: `Bearer ${token}` }
    const reads = [
      { what: "one record", path: `/api/v1/payments/${operationId}`, rows: 1, goal: 1.5 },
      { what: "3 rows", path: "/api/v1/email/mailboxes/query", rows: MAILBOXES, goal: 1.3 },
      { what: "100 rows", path: `/api/v1/events?limit=${EVENTS}`, rows: EVENTS, goal: 1 }
    ]
    const resources = await Promise.all(
      reads.map(async ({ path, rows }, index): Promise<Resource> => {
        const records = itemsOf({ body: await (await fetch(server.url + path, { headers })).text() })
        const common = { table: `records${index}`, records }
        return rows === 1
          ? { ...common, path: "/api/v1/payments/:id", idColumn: "operationId" }
          : { ...common, path: path.replace(/\?.*/, "") }
      })
    )
    const { url } = server.rig.cluster.database
    await execute(url, "create database peer")
    const options: FastifyOptions = { databaseUrl: databaseUrl(url, "peer"), token, resources }
    const peer = await startPeer(bench, "Fastify with `pg`", "fastifyMain.ts", options)
    const generator = await startGenerator(bench)
    for (const { goal, path, rows, what } of reads) {
      const check = (answer: Answer) => {
        const items = itemsOf(answer)
        if (items.length !== rows || items.some((item) => Object.keys(item).length < 5))
          throw new Error(`an answer with ${items.length} records instead of ${rows}: ${answer.body}`)
      }
      const side = (from: HttpServer) => httpSide(generator, from, { path, headers, status: 200, check })
      await compare(bench, {
        title: `GET with a bearer token: ${what}, ${CONNECTIONS} callers`,
        unit: "answers",
        ceiling: generator.ceiling,
        goal,
        ours: side(server),
        peers: [side(peer)]
      })
    }
  }
}
