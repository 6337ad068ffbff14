import cluster from "node:cluster"
import { once } from "node:events"
import { Effect } from "effect"
import { processMetricsText, type WorkerMetricsText } from "@agentos/http-server"
import { ALIVE_EVERY, type FromWorker, type Listening, type ToWorker, WORKER_VARIABLE } from "./WorkerProcess.ts"

/** A server that does not pass on the metrics of its workers by then is busy: the answer has those of this one alone. */
const COLLECTED_WITHIN = "2 seconds"

/** This process as a worker of a server. */
export interface WorkerRole {
  readonly number: number
  /** Aborted when the server tells the worker to finish. */
  readonly draining: AbortSignal
  /** Reports that this worker serves. */
  readonly ready: (listening: Listening) => void
  /**
   * Gives back the connections that the server has dealt out to this worker since it stopped listening; resolves when no
   * further one can come. Nothing can be sent to the server after that.
   */
  readonly leave: () => Promise<void>
  /** The metrics of all workers. */
  readonly metrics: Effect.Effect<ReadonlyArray<WorkerMetricsText>>
}

/** The server may have gone: then this process ends, too. */
const send = (message: FromWorker): void => void process.send?.(message, undefined, undefined, () => undefined)

/** Takes the role that the server gave to this process. Called once. */
export const takeWorkerRole = (): WorkerRole => {
  const number = Number(process.env[WORKER_VARIABLE])
  delete process.env[WORKER_VARIABLE]
  const draining = new AbortController()
  const requests = new Map<number, (metrics: ReadonlyArray<WorkerMetricsText>) => void>()
  let requested = 0

  process.on("message", (message: ToWorker) => {
    if (message.type === "drain") draining.abort()
    if (message.type === "collected") requests.get(message.request)?.(message.metrics)
    if (message.type === "report")
      Effect.runFork(
        Effect.map(processMetricsText, (text) => send({ type: "metrics", request: message.request, text }))
      )
  })

  const collected = Effect.callback<ReadonlyArray<WorkerMetricsText>>((resume) => {
    const request = ++requested
    requests.set(request, (metrics) => resume(Effect.succeed(metrics)))
    send({ type: "collect", request })
    return Effect.sync(() => void requests.delete(request))
  })
  const own = Effect.map(processMetricsText, (text) => [{ worker: number, text }])

  return {
    number,
    draining: draining.signal,
    ready: (listening) => {
      send({ type: "ready", listening })
      setInterval(send, ALIVE_EVERY, { type: "alive" }).unref()
    },
    leave: async () => {
      if (!process.connected) return
      const disconnected = once(process, "disconnect")
      cluster.worker?.disconnect()
      await disconnected
    },
    metrics: Effect.timeoutOrElse(collected, { duration: COLLECTED_WITHIN, orElse: () => own })
  }
}
