import { type Output, plainLine } from "@agentos/node/command-line"
import type { Handled } from "./EventHandling.ts"
import type { Acknowledged, Delivery, Intake, TailEvent } from "./TailEvent.ts"

export interface WorkerOptions {
  /** Handles an event. A failure of the event is a result, not a rejection. */
  readonly handle: (event: TailEvent) => Promise<Handled>
  readonly acknowledge: "never" | "success" | "always"
  /** Events handled concurrently. */
  readonly jobs: number
  /** Maximum number of events; undefined for no limit. */
  readonly max: number | undefined
}

/** Waiting events: as many as the server leases to one session. */
const QUEUE_LIMIT = 64
/** Remembered events that were handled but whose acknowledgement was not answered, so that they may be delivered again. */
const HANDLED_LIMIT = 10_000
const MIN_RETRY_MILLIS = 5_000
const MAX_RETRY_MILLIS = 300_000

interface Job {
  readonly event: TailEvent
  acknowledge: Delivery["acknowledge"]
  state: "waiting" | "running" | "failed"
  attempts: number
  retry: NodeJS.Timeout | undefined
}

/**
 * Handles events in order, up to `jobs` at a time, and acknowledges each one after it is handled. A failed event is
 * retried later while the next ones continue. An event that is delivered again while it is being handled is not handled
 * twice; if only its acknowledgement was lost, it is only acknowledged.
 */
export class Worker implements Intake {
  readonly #options: WorkerOptions
  readonly #output: Output
  readonly #jobs = new Map<string, Job>()
  readonly #queue: Array<Job> = []
  readonly #handled = new Set<string>()
  readonly #watchers: Array<{ readonly holds: () => boolean; readonly resolve: () => void }> = []
  #taken = 0
  #running = 0
  #isClosed = false
  #error: unknown
  failures = 0

  constructor(output: Output, options: WorkerOptions) {
    this.#output = output
    this.#options = options
  }

  async take(delivery: Delivery): Promise<void> {
    if (this.#isClosed) return
    const { eventId } = delivery.event
    const job = this.#jobs.get(eventId)
    if (job !== undefined) job.acknowledge = delivery.acknowledge
    else if (this.#handled.has(eventId)) await this.#acknowledge(delivery.event, delivery.acknowledge)
    else if (this.#taken < (this.#options.max ?? Number.POSITIVE_INFINITY)) {
      this.#taken++
      this.#enqueue({ ...delivery, state: "waiting", attempts: 0, retry: undefined })
      await this.#until(() => this.#queue.length < QUEUE_LIMIT || this.#isClosed)
    }
  }

  leasesLost(): void {
    for (const job of this.#jobs.values())
      if (job.state === "running") job.acknowledge = () => Promise.resolve("unknown")
      else {
        this.#forget(job)
        this.#taken--
      }
    this.#queue.length = 0
    this.#changed()
  }

  idle(): Promise<void> {
    return this.#until(() => this.#queue.length === 0 && this.#running === 0)
  }

  /** Resolves when `max` events are handled. Rejects when the server rejects acknowledgements. */
  async ended(): Promise<void> {
    const { max } = this.#options
    await this.#until(
      () => this.#error !== undefined || (max !== undefined && this.#taken >= max && this.#jobs.size === 0)
    )
    if (this.#error !== undefined) throw this.#error
  }

  /** Starts nothing more, and resolves when running events have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { retry } of this.#jobs.values()) clearTimeout(retry)
    this.#queue.length = 0
    this.#changed()
    await this.#until(() => this.#running === 0)
  }

  #enqueue(job: Job): void {
    this.#jobs.set(job.event.eventId, job)
    this.#queue.push(job)
    this.#startNext()
  }

  #startNext(): void {
    while (!this.#isClosed && this.#running < this.#options.jobs) {
      const job = this.#queue.shift()
      if (job === undefined) return
      this.#running++
      void this.#run(job).then(
        () => this.#finished(),
        (error: unknown) => {
          this.#error ??= error
          this.#finished()
        }
      )
    }
  }

  #finished(): void {
    this.#running--
    this.#startNext()
    this.#changed()
  }

  async #run(job: Job): Promise<void> {
    job.state = "running"
    job.attempts++
    const { event } = job
    const outcome = await this.#options.handle(event)
    const { acknowledge, max } = this.#options
    if (outcome._tag === "Interrupted") return
    const name = `${plainLine(event.type)} ${event.eventId}`
    if (outcome._tag === "Done" || acknowledge === "always") {
      if (outcome._tag === "Failed") this.#output.warn(`${name}: ${outcome.why}.`)
      if (acknowledge !== "never") await this.#acknowledge(event, job.acknowledge)
      return this.#forget(job)
    }
    this.failures++
    const isRetried = acknowledge === "success" && max === undefined
    const millis = Math.min(MAX_RETRY_MILLIS, MIN_RETRY_MILLIS * 2 ** Math.min(job.attempts - 1, 10))
    const rest = acknowledge === "never" ? "" : " It stays unacknowledged."
    this.#output.warn(`${name}: ${outcome.why}.${rest}${isRetried ? ` Retrying in ${millis / 1_000} s.` : ""}`)
    if (!isRetried) return this.#forget(job)
    job.state = "failed"
    job.retry = setTimeout(() => {
      job.state = "waiting"
      this.#queue.unshift(job)
      this.#startNext()
    }, millis)
  }

  async #acknowledge(event: TailEvent, acknowledge: Delivery["acknowledge"]): Promise<void> {
    const outcome: Acknowledged = (await acknowledge?.()) ?? "unknown"
    this.#handled.delete(event.eventId)
    if (outcome === "stale")
      this.#output.warn(
        `${plainLine(event.type)} ${event.eventId}: the lease was lost or the event has expired, so it was not acknowledged.`
      )
    if (outcome !== "unknown") return
    this.#handled.add(event.eventId)
    const [oldest] = this.#handled
    if (this.#handled.size > HANDLED_LIMIT && oldest !== undefined) this.#handled.delete(oldest)
  }

  #forget(job: Job): void {
    clearTimeout(job.retry)
    this.#jobs.delete(job.event.eventId)
  }

  #until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve()
    return new Promise((resolve) => this.#watchers.push({ holds, resolve }))
  }

  #changed(): void {
    for (const watcher of this.#watchers.splice(0))
      if (watcher.holds()) watcher.resolve()
      else this.#watchers.push(watcher)
  }
}
