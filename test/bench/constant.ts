import type { Bench } from "./Bench.ts"
import { compare, COMPARISON_OPTIONS } from "./compare/Comparison.ts"
import { type Answer, CONNECTIONS, httpSide, type HttpServer, startGenerator, startPeer } from "./compare/HttpSides.ts"
import { startServerUnderTest } from "./compare/ServerUnderTest.ts"
import type { ConstantOptions } from "./peer/nodeHttpMain.ts"

const GOAL = 0.6

export const constant: Bench = {
  summary:
    "documents that do not change: catalog, service record, OpenAPI that the client has; beside Effect's router and node:http",
  options: COMPARISON_OPTIONS,
  comparesPeers: true,
  run: async (bench) => {
    const server = await startServerUnderTest(bench)
    const reads = [
      { what: "catalog", path: "/api/v1/services", isKnown: false },
      { what: "service record", path: "/api/v1/services/email.mailbox.create", isKnown: false },
      { what: "OpenAPI document, by its ETag", path: "/openapi.json", isKnown: true }
    ]
    const documents = await Promise.all(
      reads.map(async ({ path }) => {
        const response = await fetch(server.url + path)
        return [path, await response.text(), response.headers.get("etag") ?? '"0"'] as const
      })
    )
    const options: ConstantOptions = { documents }
    const peers = [
      await startPeer(bench, "Effect's router", "effectRouterMain.ts", options),
      await startPeer(bench, "node:http", "nodeHttpMain.ts", options)
    ]
    const generator = await startGenerator(bench)
    for (const [index, { isKnown, path, what }] of reads.entries()) {
      const [, text, etag] = documents[index]!
      const check = ({ body }: Answer) => {
        const expected = isKnown ? 0 : Buffer.byteLength(text)
        // The server writes a request id of fixed length into its envelopes.
        if (Buffer.byteLength(body) !== expected)
          throw new Error(`${path}: ${body.length} bytes instead of ${expected}`)
      }
      const side = (from: HttpServer) =>
        httpSide(generator, from, {
          path,
          ...(isKnown && { headers: { "if-none-match": etag } }),
          status: isKnown ? 304 : 200,
          check
        })
      const [ours, ...others] = [server, ...peers].map(side)
      await compare(bench, {
        title: `GET of a constant: ${what}, ${CONNECTIONS} callers`,
        unit: "answers",
        ceiling: generator.ceiling,
        goal: GOAL,
        ours: ours!,
        peers: others
      })
    }
  }
}
