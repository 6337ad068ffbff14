import { mkdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Bench } from "./Bench.ts"
import { httpSide, type HttpWork, startGenerator } from "./compare/HttpSides.ts"
import { startServerUnderTest } from "./compare/ServerUnderTest.ts"
import { flameGraph } from "./flame/FlameGraph.ts"
import { INSPECTED, profileWhile } from "./flame/Inspector.ts"
import { makeCustomer } from "./read.ts"

const FOLDER = fileURLToPath(new URL("../../docs/performance", import.meta.url))
const WARM_UP_MILLIS = 3_000

export const flame: Bench = {
  summary: "draws where the server spends its processor time on hot paths: SVG files in docs/performance",
  options: { seconds: 10 },
  run: async (bench) => {
    const server = await startServerUnderTest(bench, { fromModules: [INSPECTED] })
    const { token } = await makeCustomer(server)
    const generator = await startGenerator(bench)
    const headers = { authorization: `Bearer ${token}` }
    const check = () => undefined
    const paths: Readonly<Record<string, readonly [title: string, work: HttpWork]>> = {
      challenge: [
        "402 challenge with a body that is checked against the database",
        {
          method: "POST",
          path: "/api/v1/email/mailboxes",
          headers: { "content-type": "application/json" },
          body: `{"localPart":"m{unique}"}`,
          status: 402,
          check
        }
      ],
      read: [
        "GET of a list of three rows with a bearer token",
        { path: "/api/v1/email/mailboxes/query", headers, status: 200, check }
      ],
      page: [
        "GET of 100 events with a bearer token",
        { path: "/api/v1/events?limit=100", headers, status: 200, check }
      ],
      constant: ["GET of a service record", { path: "/api/v1/services/email.mailbox.create", status: 200, check }]
    }
    mkdirSync(FOLDER, { recursive: true })
    for (const [name, [title, work]] of Object.entries(paths)) {
      const side = httpSide(generator, server, work)
      await side.work(WARM_UP_MILLIS)
      const profile = await profileWhile(server.log, () => side.work(bench.option("seconds") * 1_000))
      writeFileSync(`${FOLDER}/${name}.svg`, flameGraph(profile, title))
      bench.say(`docs/performance/${name}.svg: ${title}`)
    }
  }
}
