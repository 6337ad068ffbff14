import type { ChildProcess } from "node:child_process"
import cluster from "node:cluster"
import type { Readable } from "node:stream"
import {
  type FromWorker,
  type Listening,
  WORKER_VARIABLE,
  type WorkerExit,
  type WorkerProcess
} from "./WorkerProcess.ts"

/** A longer line of a worker's log is passed on in parts. */
const LINE_LENGTH_MAX = 64 * 1024

export interface ClusterWorkersOptions {
  /** Variables of this process that the workers read themselves. */
  readonly ownVariables: ReadonlyArray<string>
  /** Passes on complete lines of the log; resolves when they are written. */
  readonly relay: (lines: string) => Promise<void>
}

const relayOf = async (log: Readable, relay: ClusterWorkersOptions["relay"]): Promise<void> => {
  let rest = ""
  for await (const chunk of log.setEncoding("utf8")) {
    rest += String(chunk)
    const end = rest.length > LINE_LENGTH_MAX ? rest.length : rest.lastIndexOf("\n")
    if (end < 0) continue
    const lines = rest.slice(0, end)
    rest = rest.slice(end + 1)
    await relay(lines)
  }
  if (rest !== "") await relay(rest)
}

/** What node's cluster module sends between its processes, as far as it is read here. */
interface ClusterMessage {
  readonly cmd?: string
  /** `newconn` offers a connection to a worker. */
  readonly act?: string
  readonly seq?: number
  /** The `seq` that a message answers. */
  readonly ack?: number
}

/**
 * Offers connections to other workers that this one was offered and did not accept before it was killed. node:cluster
 * forgets them, and their clients would wait for ever: about every second worker that is killed while clients connect
 * leaves one. If all workers are killed at once, no worker can take it, and it stays lost.
 *
 * There is no public interface for this. It reads the messages of node's cluster module and answers in the name of the
 * worker (lib/internal/cluster in Node 22 and 24). A version of Node with other messages has the fault again.
 */
const returnConnections = (worker: ChildProcess): void => {
  const offered = new Set<number>()
  const send = worker.send.bind(worker) as (...sent: ReadonlyArray<unknown>) => boolean
  worker.send = (message: ClusterMessage, ...others: ReadonlyArray<unknown>) => {
    if (message.cmd === "NODE_CLUSTER" && message.act === "newconn" && message.seq !== undefined) {
      offered.add(message.seq)
    }
    return send(message, ...others)
  }
  worker.on("internalMessage", ({ ack }: ClusterMessage) => {
    if (ack !== undefined) offered.delete(ack)
  })
  // The loop reads the last messages of the worker before the second of these.
  worker.once("exit", () => setImmediate(() => setImmediate(giveBack)))

  const giveBack = () => {
    if (offered.size === 0) return
    // Takes the worker off the list; node may do it only with the next message, and would offer it another connection.
    worker.emit("disconnect")
    for (const ack of offered) worker.emit("internalMessage", { cmd: "NODE_CLUSTER", ack, accepted: false })
  }
}

/**
 * Starts workers with the program and the arguments of this process. They accept the connections of one socket, which this
 * process holds and deals out in turn: none is lost when a worker ends. Their logs pass through this process, which keeps
 * lines of different workers apart.
 */
export class ClusterWorkers {
  readonly #options: ClusterWorkersOptions
  readonly #relays = new Set<Promise<void>>()

  constructor(options: ClusterWorkersOptions) {
    this.#options = options
    cluster.schedulingPolicy = cluster.SCHED_RR
    cluster.setupPrimary({ args: process.argv.slice(2), stdio: ["ignore", "inherit", "pipe", "ipc"] })
  }

  fork(number: number, onMessage: (worker: WorkerProcess, message: FromWorker) => void): WorkerProcess {
    const own = Object.fromEntries(this.#options.ownVariables.map((name) => [name, undefined]))
    const forked = cluster.fork({ ...own, [WORKER_VARIABLE]: String(number) })
    returnConnections(forked.process)
    const exited = new Promise<WorkerExit>((resolve) => {
      forked.once("exit", (status: number | null, signal: string | null) =>
        resolve({ status: signal === null || signal === "" ? status : null, signal: signal === "" ? null : signal })
      )
    })
    const ready = new Promise<Listening | undefined>((resolve) => {
      forked.on("message", (message: FromWorker) => {
        if (message.type === "ready") resolve(message.listening)
      })
      void exited.then(() => resolve(undefined))
    })
    // A message to a worker that is about to end is lost.
    forked.on("error", () => undefined)
    const worker: WorkerProcess = {
      number,
      pid: forked.process.pid ?? 0,
      ready,
      exited,
      send: (message) => {
        if (forked.isConnected()) forked.send(message)
      },
      kill: () => void forked.process.kill("SIGKILL")
    }
    forked.on("message", (message: FromWorker) => onMessage(worker, message))
    const relay = relayOf(forked.process.stderr!, this.#options.relay)
    this.#relays.add(relay)
    void relay.finally(() => this.#relays.delete(relay))
    return worker
  }

  /** Resolves when the logs of all workers have ended and were passed on. */
  async relayed(): Promise<void> {
    await Promise.allSettled(this.#relays)
  }
}
