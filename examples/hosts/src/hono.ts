import { createAgentOs } from "@agentos/agentos"
import { serve } from "@hono/node-server"
import { getConnInfo } from "@hono/node-server/conninfo"
import { Hono } from "hono"
import { optionsFor } from "./options.ts"

/** AgentOS below a path of a Hono application. */
const port = Number(process.env["PORT"] ?? 8503)
const agentos = await createAgentOs(optionsFor(port, "/agents"))
const app = new Hono()
app.get("/hello", (context) => context.text("the host's own route\n"))
app.all("/agents/*", (context) =>
  agentos.fetch(context.req.raw, { remoteAddress: getConnInfo(context).remote.address })
)
const server = serve({ fetch: app.fetch, port }, () => console.log(`listening on http://localhost:${port}/agents`))
server.on("upgrade", agentos.upgrade)
process.once("SIGTERM", () => {
  server.close()
  void agentos.close()
})
