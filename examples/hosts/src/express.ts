import { createAgentOs } from "@agentos/agentos"
import express from "express"
import { optionsFor } from "./options.ts"

/** AgentOS below a path of an Express application. Body parsers belong after it, or on other routes. */
const port = Number(process.env["PORT"] ?? 8501)
const agentos = await createAgentOs(optionsFor(port, "/agents"))
const app = express()
app.get("/hello", (_request, response) => void response.send("the host's own route\n"))
app.use("/agents", agentos.node)
const server = app.listen(port, () => console.log(`listening on http://localhost:${port}/agents`))
server.on("upgrade", agentos.upgrade)
process.once("SIGTERM", () => {
  server.close()
  void agentos.close()
})
