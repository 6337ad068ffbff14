import { serve } from "@hono/node-server"
import { HTTPFacilitatorClient } from "@x402/core/server"
import { ExactEvmScheme } from "@x402/evm/exact/server"
import { paymentMiddleware, x402ResourceServer } from "@x402/hono"
import { Hono } from "hono"
import { HOST, servePeer } from "./Peer.ts"
import { type ShopOptions, termsOf } from "./Shop.ts"

/** A paid route on Hono. */
servePeer<ShopOptions>(
  (options) =>
    new Promise((resolve) => {
      const facilitator = new HTTPFacilitatorClient({ url: options.facilitatorUrl })
      const resourceServer = new x402ResourceServer(facilitator).register(options.network, new ExactEvmScheme())
      const app = new Hono()
      app.use(paymentMiddleware({ [`POST ${options.path}`]: termsOf(options) }, resourceServer))
      app.post(options.path, (context) => context.json({ created: true }, 201))
      serve({ fetch: app.fetch, port: 0, hostname: HOST }, ({ port }) => resolve(port))
    })
)
