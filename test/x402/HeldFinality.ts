import { createServer } from "node:http"
import { Effect, type Scope } from "effect"
import { numberToHex } from "viem"

/** A node that reports no block after a chosen one as final. */
export interface HeldFinality {
  readonly rpcUrl: string
  holdAt: bigint
}

/** Starts a proxy for a node that passes every request except the one for the finalized block. */
export const holdFinality = (nodeUrl: string): Effect.Effect<HeldFinality, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<HeldFinality & { readonly close: () => void }>((resolve) => {
            const held = { rpcUrl: "", holdAt: 0n }
            const server = createServer((request, response) => {
              const chunks: Array<Buffer> = []
              request.on("data", (chunk: Buffer) => chunks.push(chunk))
              request.on("end", () => {
                const body = Buffer.concat(chunks)
                  .toString()
                  .replace('"finalized"', `"${numberToHex(held.holdAt)}"`)
                void fetch(nodeUrl, { method: "POST", headers: { "content-type": "application/json" }, body })
                  .then((answer) => answer.text())
                  .then(
                    (text) => response.writeHead(200, { "content-type": "application/json" }).end(text),
                    () => response.destroy()
                  )
              })
            })
            server.listen(0, "127.0.0.1", () => {
              const address = server.address()
              held.rpcUrl = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
              const close = () => {
                server.close()
                server.closeAllConnections()
              }
              resolve(Object.assign(held, { close }))
            })
          })
      ),
      ({ close }) => Effect.sync(close)
    ),
    (held) => held
  )
