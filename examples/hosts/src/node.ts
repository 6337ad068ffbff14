import { createAgentOs } from "@agentos/agentos"
import { createServer } from "node:http"
import { optionsFor } from "./options.ts"

/** AgentOS on node:http. */
const port = Number(process.env["PORT"] ?? 8500)
const agentos = await createAgentOs(optionsFor(port))
const server = createServer((request, response) => {
  if (request.url === "/hello") return response.end("the host's own route\n")
  return agentos.node(request, response)
})
server.on("upgrade", agentos.upgrade)
server.listen(port, () => console.log(`listening on http://localhost:${port}`))
process.once("SIGTERM", () => {
  server.close()
  void agentos.close()
})
