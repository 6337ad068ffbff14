import { createServer } from "node:http"
import { Effect, Schema, type Scope } from "effect"

/**
 * The handling of a request:
 * - `answer`: normal;
 * - `lose`: responds and discards the request (a mempool after a restart);
 * - `drop`: the connection breaks before the node receives the request;
 * - `break`: the connection breaks before the response;
 * - `stand`: repeats the first response to the same request, as if the chain stood still.
 */
export type Behaviour = "answer" | "lose" | "drop" | "break" | "stand"

/** A proxy for a node with configurable faults. */
export interface RpcProxy {
  readonly url: string
  /** Number of requests by method. */
  readonly asked: ReadonlyMap<string, number>
  /** Sets the behavior of a method, by default of all. */
  readonly behave: (behaviour: Behaviour, method?: string) => void
}

const Call = Schema.Struct({ id: Schema.Unknown, method: Schema.String, params: Schema.optionalKey(Schema.Unknown) })
/** Decodes a request, or a batch of them. */
const decodeCalls = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Union([Call, Schema.Array(Call)])))

export const startProxy = (chainUrl: string): Effect.Effect<RpcProxy, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<RpcProxy & { readonly close: () => void }>((resolve) => {
          const asked = new Map<string, number>()
          const behaviours = new Map<string, Behaviour>()
          const firstAnswers = new Map<string, Promise<unknown>>()
          const pass = (call: typeof Call.Type): Promise<unknown> =>
            fetch(chainUrl, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ jsonrpc: "2.0", ...call })
            }).then((answer) => answer.json())
          /** Ignores the id of the request. */
          const passOnce = async (call: typeof Call.Type): Promise<unknown> => {
            const { id, method, params } = call
            const question = JSON.stringify([method, params])
            const first = firstAnswers.get(question) ?? pass(call).then((answer) => Object(answer).result as unknown)
            firstAnswers.set(question, first)
            return { jsonrpc: "2.0", id, result: await first }
          }
          const answer = async (call: typeof Call.Type): Promise<unknown> => {
            const { id, method } = call
            asked.set(method, (asked.get(method) ?? 0) + 1)
            const behaviour = behaviours.get(method) ?? behaviours.get("*") ?? "answer"
            if (behaviour === "drop") throw new Error("dropped")
            if (behaviour === "lose") return { jsonrpc: "2.0", id, result: `0x${"0".repeat(64)}` }
            const passed = await (behaviour === "stand" ? passOnce(call) : pass(call))
            if (behaviour === "break") throw new Error("broken")
            return passed
          }
          const server = createServer((incoming, response) => {
            const chunks: Array<Buffer> = []
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
            incoming.on("end", () => {
              const calls = decodeCalls(Buffer.concat(chunks).toString())
              const answers = "method" in calls ? answer(calls) : Promise.all(calls.map(answer))
              answers
                .then((value) => {
                  response.writeHead(200, { "content-type": "application/json" })
                  response.end(JSON.stringify(value))
                })
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
