import { serve } from "@hono/node-server"
import { HTTPFacilitatorClient } from "@x402/core/server"
import { ExactEvmScheme } from "@x402/evm/exact/server"
import { paymentMiddleware, x402ResourceServer } from "@x402/hono"
import { Hono } from "hono"
import pg from "pg"
import { answerParent } from "../compare/ChildModule.ts"
import { HOST } from "./Peer.ts"
import { type ShopOptions, termsOf } from "./Shop.ts"

/** Opens the database, if there is one, and returns a function that stores a row. */
const openStore = async (databaseUrl: string | undefined): Promise<(localPart: string) => Promise<unknown>> => {
  if (databaseUrl === undefined) return async () => undefined
  const pool = new pg.Pool({ connectionString: databaseUrl })
  await pool.query(
    "create table mailboxes (mailbox_id uuid primary key default gen_random_uuid(), local_part text unique, " +
      "created_at timestamptz not null default now())"
  )
  const text = "insert into mailboxes (local_part) values ($1) returning mailbox_id, local_part, created_at"
  return async (localPart) => (await pool.query({ name: "create", text, values: [localPart] })).rows[0] as unknown
}

/** A paid route on Hono. */
answerParent(async (options: ShopOptions): Promise<number> => {
  const store = await openStore(options.databaseUrl)
  const facilitator = new HTTPFacilitatorClient({ url: options.facilitatorUrl })
  const resourceServer = new x402ResourceServer(facilitator).register(options.network, new ExactEvmScheme())
  const app = new Hono()
  app.use(paymentMiddleware({ [`POST ${options.path}`]: termsOf(options) }, resourceServer))
  app.post(options.path, async (context) => {
    const { localPart } = await context.req.json<{ readonly localPart: string }>()
    return context.json({ mailbox: await store(localPart) }, 201)
  })
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: HOST }, ({ port }) => resolve(port))
  })
})
