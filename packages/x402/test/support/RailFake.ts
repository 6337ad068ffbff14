import { PaymentRail } from "@agentos/core"
import { Context, Effect, Layer } from "effect"
import { PaymentRailX402 } from "../../src/index.ts"
import { domainOf } from "../../src/method/TokenDomain.ts"
import { offer } from "../../src/network/PaymentNetwork.ts"
import { domainSeparator } from "../../src/network/TypedDomain.ts"
import * as ChainFake from "./ChainFake.ts"
import { type Respond, sendJson, serve } from "./HttpFake.ts"
import * as Sample from "./Sample.ts"

const kinds = [{ x402Version: 2, scheme: "exact", network: "eip155:402402" }]
const willing: Respond = ({ path }, response) => {
  if (path === "/supported") return sendJson(response, { kinds })
  sendJson(response, { success: true, transaction: Sample.transaction, network: "eip155:402402" })
}

/** A chain and a facilitator, with a function that makes the rail on them. */
export const prepare = (other: Partial<PaymentRailX402.RailNetwork> = {}, respond: Respond = willing) =>
  Effect.gen(function* () {
    const { seen: chainSeen, state, url } = yield* ChainFake.start
    const facilitator = yield* serve(respond)
    const configured = Sample.network(url, facilitator.url, other)
    state.domainSeparator = domainSeparator(domainOf(yield* offer(Sample.network(url, facilitator.url))))
    const build = (...networks: ReadonlyArray<PaymentRailX402.RailNetwork>) =>
      Effect.map(Layer.build(PaymentRailX402.layer({ networks })), (context) => Context.get(context, PaymentRail))
    return { state, chainSeen, facilitator, configured, build }
  })

/** The rail alone, once it is built. */
export const railOf = (other?: Partial<PaymentRailX402.RailNetwork>, respond?: Respond) =>
  Effect.gen(function* () {
    const { build, chainSeen, configured, facilitator, state } = yield* prepare(other, respond)
    return { rail: yield* build(configured), chainSeen, facilitator, state }
  })
