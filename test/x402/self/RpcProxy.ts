import { createServer } from "node:http"
import { Effect, Schema, type Scope } from "effect"

/**
 * What a node does with a question:
 * - `answer`: as it should;
 * - `lose`: it answers, and forgets what it was told (a mempool after a restart);
 * - `drop`: the connection breaks before it has the question;
 * - `break`: it does as it was told, and the connection breaks before its answer;
 * - `stand`: it answers as it did when it was first asked so, as if the chain stood still in this.
 */
export type Behaviour = "answer" | "lose" | "drop" | "break" | "stand"

/** A node's address that leads to a chain, and that a test can make behave as nodes do. */
export interface RpcProxy {
  readonly url: string
  /** How often each method was asked. */
  readonly asked: ReadonlyMap<string, number>
  /** From now on, questions of this method, or of all, are treated so. */
  readonly behave: (behaviour: Behaviour, method?: string) => void
}

const decodeCall = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({ id: Schema.Unknown, method: Schema.String, params: Schema.optionalKey(Schema.Unknown) })
  )
)

export const startProxy = (chainUrl: string): Effect.Effect<RpcProxy, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<RpcProxy & { readonly close: () => void }>((resolve) => {
          const asked = new Map<string, number>()
          const behaviours = new Map<string, Behaviour>()
          const firstAnswers = new Map<string, Promise<unknown>>()
          const pass = (body: string): Promise<string> =>
            fetch(chainUrl, { method: "POST", headers: { "content-type": "application/json" }, body }).then((answer) =>
              answer.text()
            )
          /** Whatever number the question has. */
          const passOnce = async (body: string): Promise<string> => {
            const { id, method, params } = decodeCall(body)
            const question = JSON.stringify([method, params])
            const first = firstAnswers.get(question) ?? pass(body).then((text) => JSON.parse(text).result as unknown)
            firstAnswers.set(question, first)
            return JSON.stringify({ jsonrpc: "2.0", id, result: await first })
          }
          const server = createServer((incoming, response) => {
            const chunks: Array<Buffer> = []
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
            incoming.on("end", () => {
              const body = Buffer.concat(chunks).toString()
              const { id, method } = decodeCall(body)
              asked.set(method, (asked.get(method) ?? 0) + 1)
              const behaviour = behaviours.get(method) ?? behaviours.get("*") ?? "answer"
              if (behaviour === "drop") return response.destroy()
              const say = (text: string) => {
                response.writeHead(200, { "content-type": "application/json" })
                response.end(text)
              }
              if (behaviour === "lose")
                return say(JSON.stringify({ jsonrpc: "2.0", id, result: `0x${"0".repeat(64)}` }))
              const passed = behaviour === "stand" ? passOnce(body) : pass(body)
              passed
                .then((text) => (behaviour === "break" ? response.destroy() : say(text)))
                .catch(() => response.destroy())
            })
          })
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            const port = typeof address === "object" && address !== null ? address.port : 0
            resolve({
              url: `http://127.0.0.1:${port}`,
              asked,
              behave: (behaviour, method = "*") => void behaviours.set(method, behaviour),
              close: () => {
                server.close()
                server.closeAllConnections()
              }
            })
          })
        })
    ),
    ({ close }) => Effect.sync(close)
  )
