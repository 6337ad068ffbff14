import { createAgentOs } from "@agentos/agentos"
import Fastify from "fastify"
import { optionsFor } from "./options.ts"

/** AgentOS below a path of a Fastify application. */
const port = Number(process.env["PORT"] ?? 8502)
const agentos = await createAgentOs(optionsFor(port, "/agents"))
const app = Fastify()
app.get("/hello", () => "the host's own route\n")
app.register(async (scope) => {
  // AgentOS reads bodies itself.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", (_request, _body, done) => done(null))
  scope.all("/agents/*", (request, reply) => {
    reply.hijack()
    agentos.node(request.raw, reply.raw)
  })
})
app.server.on("upgrade", agentos.upgrade)
// One address: for localhost, Fastify opens a second server, which would not pass upgrades.
await app.listen({ port, host: "0.0.0.0" })
console.log(`listening on http://localhost:${port}/agents`)
process.once("SIGTERM", () => void Promise.all([app.close(), agentos.close()]))
