import { HTTPFacilitatorClient } from "@x402/core/server"
import { ExactEvmScheme } from "@x402/evm/exact/server"
import { paymentMiddleware, x402ResourceServer } from "@x402/express"
import express from "express"
import { once } from "node:events"
import { answerParent } from "../compare/ChildModule.ts"
import { HOST, portOf } from "./Peer.ts"
import { type ShopOptions, termsOf } from "./Shop.ts"

/** A paid route on Express. */
answerParent(async (options: ShopOptions): Promise<number> => {
  const facilitator = new HTTPFacilitatorClient({ url: options.facilitatorUrl })
  const resourceServer = new x402ResourceServer(facilitator).register(options.network, new ExactEvmScheme())
  const app = express()
  app.use(paymentMiddleware({ [`POST ${options.path}`]: termsOf(options) }, resourceServer))
  app.post(options.path, (_request, response) => {
    response.status(201).json({ created: true })
  })
  const server = app.listen(0, HOST)
  await once(server, "listening")
  return portOf(server)
})
