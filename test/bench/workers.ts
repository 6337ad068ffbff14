import type { Bench } from "./Bench.ts"
import { compare, COMPARISON_OPTIONS } from "./compare/Comparison.ts"
import { CONNECTIONS, type HttpServer, httpSide, type HttpWork, startGenerator } from "./compare/HttpSides.ts"
import { startServerUnderTest } from "./compare/ServerUnderTest.ts"
import { makeCustomer } from "./read.ts"

const WORKERS = [2, 1] as const

export const workers: Bench = {
  summary: "Challenges and reads of a server with two workers, beside one with a single process.",
  options: COMPARISON_OPTIONS,
  run: async (bench) => {
    const servers: Array<HttpServer & { readonly token: string }> = []
    for (const count of WORKERS) {
      const server = await startServerUnderTest(bench, { environment: { AGENTOS_WORKERS: String(count) } })
      const { token } = await makeCustomer(server)
      servers.push({ ...server, name: count === 1 ? "1 process" : `${count} workers`, token })
    }
    const generator = await startGenerator(bench)
    const run = (title: string, workOf: (token: string) => HttpWork) => {
      const [ours, ...peers] = servers.map((server) => httpSide(generator, server, workOf(server.token)))
      const comparison = { title, unit: "answers", ceiling: generator.ceiling, goal: 1.5 }
      return compare(bench, { ...comparison, ours: ours!, peers })
    }
    await run(`402 challenge with a body, ${CONNECTIONS} callers`, () => ({
      method: "POST",
      path: "/api/v1/email/mailboxes",
      headers: { "content-type": "application/json" },
      body: `{"localPart":"m{unique}"}`,
      status: 402,
      check: () => undefined
    }))
    await run(`GET with a bearer token: 3 rows, ${CONNECTIONS} callers`, (token) => ({
      path: "/api/v1/email/mailboxes/query",
      headers: { authorization: `Bearer ${token}` },
      status: 200,
      check: ({ body }) => {
        if (!body.includes('"mailboxId"')) throw new Error(`an answer without mailboxes: ${body}`)
      }
    }))
  }
}
