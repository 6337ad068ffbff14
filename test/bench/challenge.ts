import { decodePaymentRequiredHeader } from "@x402/core/http"
import type { Bench } from "./Bench.ts"
import { compare, COMPARISON_OPTIONS } from "./compare/Comparison.ts"
import { type Answer, CONNECTIONS, httpSide, type HttpWork, startGenerator, startPeer } from "./compare/HttpSides.ts"
import { startServerUnderTest } from "./compare/ServerUnderTest.ts"
import type { ShopOptions } from "./peer/Shop.ts"

const PATH = "/api/v1/email/mailboxes"

const challengeOf = ({ headers }: Answer) => decodePaymentRequiredHeader(headers.get("payment-required") ?? "")

export const challenge: Bench = {
  summary:
    "402 challenges of a paid route, without a body and with one that is checked, beside @x402/hono and @x402/express",
  options: COMPARISON_OPTIONS,
  comparesPeers: true,
  run: async (bench) => {
    const server = await startServerUnderTest(bench)
    const first = await fetch(server.url + PATH, { method: "POST" })
    const { accepts } = decodePaymentRequiredHeader(first.headers.get("payment-required") ?? "")
    const terms = accepts[0]!
    const options: ShopOptions = {
      ...terms,
      path: PATH,
      description: "Creates a real mailbox for the paying wallet and returns the wallet's access token.",
      facilitatorUrl: server.rig.cluster.facilitatorUrl
    }
    const peers = [
      await startPeer(bench, "@x402/hono", "x402HonoMain.ts", options),
      await startPeer(bench, "@x402/express", "x402ExpressMain.ts", options)
    ]
    const check = (answer: Answer) => {
      const [offer] = challengeOf(answer).accepts
      if (offer?.amount !== terms.amount || offer.asset !== terms.asset || offer.payTo !== terms.payTo)
        throw new Error(`another challenge than expected: ${JSON.stringify(offer)}`)
    }
    const generator = await startGenerator(bench)
    const run = (title: string, goal: number, work: HttpWork) => {
      const [ours, ...others] = [server, ...peers].map((each) => httpSide(generator, each, work))
      return compare(bench, { title, unit: "challenges", goal, ceiling: generator.ceiling, ours: ours!, peers: others })
    }
    const common = { method: "POST", path: PATH, status: 402, check }
    await run(`402 challenge with a body, ${CONNECTIONS} callers; the peers do not read it`, 1.2, {
      ...common,
      headers: { "content-type": "application/json" },
      body: `{"localPart":"m{unique}"}`
    })
    await run(`402 challenge without a body, ${CONNECTIONS} callers`, 1.5, {
      ...common,
      headers: { "content-length": "0" }
    })
  }
}
