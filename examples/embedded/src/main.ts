import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { json } from "node:stream/consumers"
import { type HouseMail, openHost } from "./Host.ts"

/** Serves the HTTP API of an AgentOS whose payments and mail are the host's own, and routes of the host. */
const port = Number(process.env["PORT"] ?? 8504)
const { accept, agentos, open } = await openHost(`http://localhost:${port}`)
const account = open("research", 10_000_000n)

const answer = async (request: IncomingMessage, response: ServerResponse) => {
  switch (`${request.method} ${request.url}`) {
    case "GET /hello":
      return response.end("the host's own route\n")
    // The host's customer buys a mailbox with its credits.
    case "POST /buy": {
      const input = (await json(request)) as { readonly localPart: string }
      const order = { service: "email.mailbox.create", input, payment: account.pay } as const
      const { data } = await agentos.operations.purchase(order)
      return response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(data))
    }
    // The host's mail system delivers a mail.
    case "POST /mail": {
      const refused = await accept((await json(request)) as HouseMail)
      return response.writeHead(refused.length === 0 ? 202 : 404).end()
    }
    default:
      return agentos.node(request, response)
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => response.writeHead(error.status ?? 400).end(`${error.message}\n`))
})
server.on("upgrade", agentos.upgrade)
server.listen(port, () => console.log(`listening on http://localhost:${port}`))
process.once("SIGTERM", () => {
  server.close()
  void agentos.close()
})
