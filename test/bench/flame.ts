import { mkdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Bench } from "./Bench.ts"
import { httpSide, type HttpWork, startGenerator } from "./compare/HttpSides.ts"
import { startServerUnderTest } from "./compare/ServerUnderTest.ts"
import { flameGraph } from "./flame/FlameGraph.ts"
import { INSPECTED, profileWhile } from "../support/Inspector.ts"
import { serverSide } from "./events.ts"
import { startMailers, WITHOUT_MAIL_LIMITS } from "./mailIn.ts"
import { fundOn, startBuyers } from "./paid.ts"
import { makeCustomer } from "./read.ts"

const FOLDER = fileURLToPath(new URL("../../docs/performance", import.meta.url))
const WARM_UP_MILLIS = 3_000

export const flame: Bench = {
  summary: "draws where the server spends its processor time on hot paths: SVG files in docs/performance",
  options: { seconds: 10 },
  run: async (bench) => {
    const server = await startServerUnderTest(bench, { fromModules: [INSPECTED], environment: WITHOUT_MAIL_LIMITS })
    const { address, token } = await makeCustomer(server)
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
    const draw = async (name: string, title: string, work: (millis: number) => Promise<unknown>, { log } = server) => {
      await work(WARM_UP_MILLIS)
      const profile = await profileWhile(log, () => work(bench.option("seconds") * 1_000))
      writeFileSync(`${FOLDER}/${name}.svg`, flameGraph(profile, title))
      bench.say(`docs/performance/${name}.svg: ${title}`)
    }
    for (const [name, [title, work]] of Object.entries(paths)) {
      await draw(name, title, httpSide(generator, server, work).work)
    }
    const { chain } = server.rig.cluster
    const { buy } = await startBuyers(bench, fundOn(chain))
    await draw("purchase", "purchase of a mailbox: challenge and payment", (millis) => buy(server.url, millis))
    const { mail, environment } = server.rig.cluster.servers[0]!
    const sendMail = startMailers(bench, environment()["AGENTOS_DNS_ZONE_FILE"]!)
    const size = { textBytes: 2 * 1024, attachmentBytes: 0, callers: 32 }
    await draw(
      "mail",
      "mail of 2 KiB from its connection to its event, without the processes that parse it",
      (millis) => sendMail({ host: mail.host, port: mail.port, to: address, ...size, millis })
    )
    // Its events must all be acknowledged, and those of the customer never are.
    const other = await startServerUnderTest(bench, { fromModules: [INSPECTED] })
    const { work } = await serverSide(bench, other)
    await draw("events", "events leased, delivered on sockets and acknowledged", work, other)
  }
}
