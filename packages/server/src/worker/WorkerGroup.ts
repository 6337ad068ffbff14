import { MetricsCollections } from "./MetricsCollection.ts"
import {
  ALIVE_EVERY,
  type FromWorker,
  type Listening,
  MISCONFIGURED,
  type WorkerExit,
  type WorkerProcess
} from "./WorkerProcess.ts"

/** A worker that has not ended this long after it was told to is killed, in milliseconds. */
const KILL_AFTER = 12_000
/** A worker that misses this many signs of life in a row is killed. Its watchdog has ended a blocked one before that. */
const SIGNS_MISSED = 8
/** At the end of the server, the last worker begins to drain this long after the first, in milliseconds. */
const STAGGER = 1_000

/** A worker that served this long before it ended counts as healthy, in milliseconds. */
const HEALTHY_AFTER = 60_000
const FIRST_DELAY = 1_000
const LONGEST_DELAY = 30_000

/** Decides how long a place stays empty: not at all after one end, and longer after each further early end. */
class RestartDelay {
  #failures = 0

  /** Returns the milliseconds before the next start, after a worker ended that served for a time; 0 if it never did. */
  after(servedMillis: number): number {
    if (servedMillis >= HEALTHY_AFTER) this.#failures = 0
    const delay = this.#failures === 0 ? 0 : FIRST_DELAY * 2 ** (this.#failures - 1)
    this.#failures++
    return Math.min(delay, LONGEST_DELAY)
  }
}

/** How the group starts workers and reports what happens. */
export interface WorkerGroupHost {
  /** Starts a worker. `onMessage` gets its messages, except the one that it serves. */
  readonly fork: (number: number, onMessage: (worker: WorkerProcess, message: FromWorker) => void) => WorkerProcess
  readonly log: (level: "Info" | "Warn" | "Error", message: string, fields: Readonly<Record<string, unknown>>) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** All workers serve. Called once. */
  readonly onReady: (listening: Listening) => void
}

interface Place {
  readonly number: number
  readonly delay: RestartDelay
  /** The worker that serves, or will once it is ready. */
  worker: WorkerProcess | undefined
}

const describeExit = ({ signal, status }: WorkerExit): string =>
  signal === null ? `exit status ${String(status)}` : `signal ${signal}`

const sleep = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/**
 * Runs several workers of one server. Workers that end are replaced. `run` resolves with the exit status of the server,
 * when it was stopped, or when no worker can serve.
 */
export class WorkerGroup {
  readonly #host: WorkerGroupHost
  readonly #places: ReadonlyArray<Place>
  readonly #running = new Set<WorkerProcess>()
  readonly #metrics = new MetricsCollections()
  /** How many signs of life in a row each worker that serves has missed. */
  readonly #missed = new Map<WorkerProcess, number>()
  /** Resolved with the exit status when the server ends. */
  readonly #ended: Promise<number>
  #end: (status: number) => void = () => undefined
  #isStopping = false
  /** Whether the workers are being replaced, and again after that. `starting` until all of them serve. */
  #roll: "starting" | "idle" | "running" | "again" = "starting"

  constructor(count: number, host: WorkerGroupHost) {
    this.#host = host
    this.#places = Array.from({ length: count }, (_, index) => ({
      number: index + 1,
      delay: new RestartDelay(),
      worker: undefined
    }))
    this.#ended = new Promise((resolve) => {
      this.#end = (status) => {
        this.#isStopping = true
        resolve(status)
      }
    })
  }

  async run(): Promise<number> {
    void this.#startAll()
    const status = await this.#ended
    const isGraceful = await this.#stopAll()
    return status === 0 && !isGraceful ? 1 : status
  }

  /** Drains the workers one after the other, and ends `run` with 0, or with 1 if one of them had to be ended. */
  readonly stop = (): void => this.#end(0)

  /**
   * Replaces the workers one after the other: each drains once its successor serves. If one does not, the others stay. A
   * call during a replacement begins another one after it; one before all workers serve does nothing.
   */
  readonly roll = async (): Promise<void> => {
    if (this.#roll === "running") this.#roll = "again"
    if (this.#roll !== "idle") return
    do {
      this.#roll = "running"
      this.#host.log("Info", "replacing the workers", {})
      for (const place of this.#places) if (!(await this.#replace(place))) break
    } while (this.#isDueAgain() && !this.#isStopping)
    this.#roll = "idle"
  }

  /** Ends the processes at once. */
  readonly kill = (): void => {
    for (const worker of this.#running) worker.kill()
  }

  #isDueAgain(): boolean {
    return this.#roll === "again"
  }

  /** The first worker brings the database up to date, and finds the problems of the configuration, before others start. */
  async #startAll(): Promise<void> {
    const [first, ...others] = this.#places
    const listening = await this.#startIn(first!)
    if (listening === undefined) return
    const all = await Promise.all(others.map((place) => this.#startIn(place)))
    if (all.includes(undefined) || this.#isStopping) return
    this.#roll = "idle"
    this.#host.onReady(listening)
    for (const place of this.#places) this.#keep(place, place.worker!)
  }

  /** Starts the first worker of a place. The server ends if it does not serve. */
  async #startIn(place: Place): Promise<Listening | undefined> {
    place.worker = this.#start(place.number)
    const listening = await place.worker.ready
    if (listening === undefined) {
      const { status } = await place.worker.exited
      this.#end(status === null || status === 0 ? 1 : status)
    }
    return listening
  }

  #start(number: number): WorkerProcess {
    const worker = this.#host.fork(number, (from, message) => void this.#receive(from, message))
    this.#running.add(worker)
    void worker.exited.then(() => this.#running.delete(worker))
    return worker
  }

  async #receive(worker: WorkerProcess, message: FromWorker): Promise<void> {
    if (message.type === "alive") this.#missed.set(worker, 0)
    if (message.type === "metrics") this.#metrics.answer(worker, message.request, message.text)
    if (message.type !== "collect") return
    const serving = this.#places.flatMap((place) => place.worker ?? [])
    const metrics = await this.#metrics.collect(serving.includes(worker) ? serving : [...serving, worker])
    worker.send({ type: "collected", request: message.request, metrics })
  }

  /** Fills the place again when the worker ends, unless it has a successor. */
  #keep(place: Place, worker: WorkerProcess): void {
    const readyAt = this.#host.now()
    this.#watch(worker)
    void worker.exited.then(async (exit) => {
      if (this.#isStopping || place.worker !== worker) return
      place.worker = undefined
      const fields = { workerNumber: place.number, workerPid: worker.pid, exit: describeExit(exit) }
      this.#host.log(exit.status === 0 ? "Warn" : "Error", "a worker ended; starting another one", fields)
      await this.#refill(place, this.#host.now() - readyAt)
    })
  }

  /** Kills a worker that is stopped from outside, or whose watchdog fails. Checks are counted, as in the watchdog. */
  #watch(worker: WorkerProcess): void {
    const timer = setInterval(() => {
      const missed = (this.#missed.get(worker) ?? 0) + 1
      this.#missed.set(worker, missed)
      // The first check may come at once after a sign.
      if (missed !== SIGNS_MISSED + 1) return
      const message = `a worker gave no sign of life for ${(SIGNS_MISSED * ALIVE_EVERY) / 1_000} s and is killed`
      this.#host.log("Error", message, { workerNumber: worker.number, workerPid: worker.pid })
      worker.kill()
    }, ALIVE_EVERY)
    void worker.exited.then(() => {
      clearInterval(timer)
      this.#missed.delete(worker)
    })
  }

  async #refill(place: Place, servedMillis: number): Promise<void> {
    for (let served = servedMillis; ; served = 0) {
      await this.#pause(place.delay.after(served))
      // A rolling replacement may have filled the place meanwhile.
      if (this.#isStopping || place.worker !== undefined) return
      const worker = this.#start(place.number)
      place.worker = worker
      if ((await worker.ready) !== undefined) {
        this.#host.log("Info", "a worker serves", { workerNumber: place.number, workerPid: worker.pid })
        this.#keep(place, worker)
        return
      }
      const exit = await worker.exited
      if (this.#isStopping || place.worker !== worker) return
      place.worker = undefined
      const fields = { workerNumber: place.number, exit: describeExit(exit) }
      if (exit.status === MISCONFIGURED) {
        this.#giveUp(fields)
        return
      }
      this.#host.log("Error", "a worker could not start; retrying", fields)
    }
  }

  /** Leaves a place empty whose worker would fail again. The server ends when no worker is left. */
  #giveUp(fields: Readonly<Record<string, unknown>>): void {
    const message = "a worker cannot start with this configuration. Correct it, then send SIGHUP"
    this.#host.log("Error", message, fields)
    if (this.#places.every(({ worker }) => worker === undefined)) this.#end(1)
  }

  /** Returns whether the successor serves. */
  async #replace(place: Place): Promise<boolean> {
    if (this.#isStopping) return false
    const successor = this.#start(place.number)
    if ((await successor.ready) === undefined) {
      const exit = describeExit(await successor.exited)
      if (!this.#isStopping)
        this.#host.log("Error", "a worker could not be replaced; the others stay", { workerNumber: place.number, exit })
      return false
    }
    const old = place.worker
    place.worker = successor
    this.#host.log("Info", "a worker serves", { workerNumber: place.number, workerPid: successor.pid })
    this.#keep(place, successor)
    if (old !== undefined) await this.#drain(old)
    return true
  }

  /** Returns whether each worker ended as told. */
  async #stopAll(): Promise<boolean> {
    const workers = [...this.#running].toSorted((a, b) => a.number - b.number)
    const ended: Array<Promise<WorkerExit>> = []
    for (const worker of workers) {
      const drained = this.#drain(worker)
      ended.push(drained)
      await Promise.race([drained, sleep(STAGGER / workers.length)])
    }
    return (await Promise.all(ended)).every(({ status }) => status === 0)
  }

  /** Waits until the server stops, at most for this time. */
  async #pause(millis: number): Promise<void> {
    if (millis > 0) await Promise.race([sleep(millis), this.#ended])
  }

  async #drain(worker: WorkerProcess): Promise<WorkerExit> {
    worker.send({ type: "drain" })
    const timer = setTimeout(() => {
      const message = `a worker did not end within ${KILL_AFTER / 1_000} s and is killed`
      this.#host.log("Error", message, { workerNumber: worker.number, workerPid: worker.pid })
      worker.kill()
    }, KILL_AFTER)
    const exit = await worker.exited
    clearTimeout(timer)
    return exit
  }
}
