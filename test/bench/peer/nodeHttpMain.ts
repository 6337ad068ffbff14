import { once } from "node:events"
import { createServer } from "node:http"
import { answerParent } from "../compare/ChildModule.ts"
import { HOST, portOf } from "./Peer.ts"

/** Documents of JSON with their entity tags. */
export interface ConstantOptions {
  readonly documents: ReadonlyArray<readonly [path: string, text: string, tag: string]>
}

/** Node's own server. It answers 304 to a client that has the document. */
answerParent(async ({ documents }: ConstantOptions): Promise<number> => {
  const answers = new Map(
    documents.map(([path, text, etag]) => {
      const body = Buffer.from(text)
      return [
        path,
        { body, etag, headers: { "content-type": "application/json", "content-length": body.length, etag } }
      ]
    })
  )
  const server = createServer((request, response) => {
    const answer = answers.get(request.url ?? "")
    if (answer === undefined) response.writeHead(404).end()
    else if (request.headers["if-none-match"] === answer.etag) response.writeHead(304, { etag: answer.etag }).end()
    else response.writeHead(200, answer.headers).end(answer.body)
  })
  server.listen(0, HOST)
  await once(server, "listening")
  return portOf(server)
})
