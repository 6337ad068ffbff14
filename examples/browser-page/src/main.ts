/** Serves a page that uses the client of AgentOS in the browser. */
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { rolldown } from "rolldown"

const option = { type: "string" } as const
const { port = "8505", sandbox } = parseArgs({ options: { port: option, sandbox: option } }).values
const sandboxFile = sandbox ?? new URL("../../../.agentos/sandbox.json", import.meta.url)
const baseUrl: string = process.env["AGENTOS_BASE_URL"] ?? JSON.parse(readFileSync(sandboxFile, "utf8")).baseUrl

const input = fileURLToPath(new URL("page.ts", import.meta.url))
const bundle = await rolldown({ input, platform: "browser" })
const [script] = (await bundle.generate({ minify: true, codeSplitting: false })).output
await bundle.close()
const html = readFileSync(new URL("index.html", import.meta.url), "utf8").replace(
  "<body>",
  `<body data-base-url="${baseUrl}">`
)

const server = createServer((request, response) => {
  if (request.url === "/page.js") response.setHeader("Content-Type", "text/javascript").end(script.code)
  else if (request.url === "/") response.setHeader("Content-Type", "text/html; charset=utf-8").end(html)
  else response.writeHead(404).end()
})
server.listen(Number(port), "127.0.0.1", () => {
  console.log(`open http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})
