import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"
import { creditUnits } from "./Credits.ts"
import { openHost } from "./Host.ts"
import type { HouseMail } from "./HouseMail.ts"

/**
 * A custom HTTP interface around the core, on node:http:
 *
 *     POST /mailboxes  {"localPart"}                            buys a mailbox with the credits of the only account
 *     POST /mail       {"id", "from", "to", "subject", "text"}  accepts a mail from the host's mail system
 *     GET  /events                                              returns new events; requires the mailbox's bearer token
 *
 * Listens on PORT, or on a free port. All data is in memory.
 */
const host = openHost("house.test")
const account = host.openAccount("research", creditUnits(10))

const handle = async (request: IncomingMessage): Promise<readonly [status: number, body: unknown]> => {
  switch (`${request.method} ${request.url}`) {
    case "POST /mailboxes": {
      const { localPart } = (await json(request)) as { readonly localPart: string }
      return [201, await host.createMailbox(account, localPart)]
    }
    case "POST /mail":
      return (await host.accept((await json(request)) as HouseMail)) ? [202, {}] : [404, { error: "no such mailbox" }]
    case "GET /events":
      return [200, await host.events((request.headers.authorization ?? "").replace(/^Bearer /, ""))]
    default:
      return [404, { error: "no such route" }]
  }
}

const server = createServer((request, response) => {
  handle(request)
    .catch((error: unknown) => [400, { error: String(error) }] as const)
    .then(([status, body]) => {
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify(body))
    })
    .catch(() => response.destroy())
})
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.once("SIGINT", () => {
  server.close()
  server.closeAllConnections()
  void host.close()
})
