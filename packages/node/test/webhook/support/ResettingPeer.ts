import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { Effect, type Scope } from "effect"

const RESETTING = `
  const { parentPort } = require("node:worker_threads")
  const server = require("node:net").createServer((socket) => socket.on("error", () => {}).resetAndDestroy())
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port))
`

/**
 * Returns the port of a peer that accepts connections and resets them at once. It runs in its own thread, so that it
 * resets as early as possible.
 */
export const resettingPeer: Effect.Effect<number, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const worker = new Worker(RESETTING, { eval: true })
      const [port] = (await once(worker, "message")) as [number]
      return { port, worker }
    }),
    ({ worker }) => Effect.promise(() => worker.terminate())
  ),
  ({ port }) => port
)
