import type { WorkerMetricsText } from "@agentos/http-server"
import type { WorkerProcess } from "./WorkerProcess.ts"

/** A worker that does not answer in time is left out, in milliseconds. */
const ANSWER_WITHIN = 1_000

interface Collection {
  readonly texts: Array<WorkerMetricsText>
  readonly missing: Set<WorkerProcess>
  readonly finish: () => void
}

/** Collects the metrics of all workers for the one that answers a request for them. */
export class MetricsCollections {
  readonly #open = new Map<number, Collection>()
  #requests = 0

  /** Returns the metrics of the workers that answer within a second, in the order of their numbers. */
  async collect(workers: ReadonlyArray<WorkerProcess>): Promise<ReadonlyArray<WorkerMetricsText>> {
    if (workers.length === 0) return []
    const request = ++this.#requests
    const texts: Array<WorkerMetricsText> = []
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ANSWER_WITHIN)
      const finish = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#open.set(request, { texts, missing: new Set(workers), finish })
      for (const worker of workers) worker.send({ type: "report", request })
    })
    this.#open.delete(request)
    return texts.toSorted((a, b) => a.worker - b.worker)
  }

  answer(worker: WorkerProcess, request: number, text: string): void {
    const collection = this.#open.get(request)
    if (collection === undefined || !collection.missing.delete(worker)) return
    collection.texts.push({ worker: worker.number, text })
    if (collection.missing.size === 0) collection.finish()
  }
}
