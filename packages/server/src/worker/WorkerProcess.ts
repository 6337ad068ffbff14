import type { WorkerMetricsText } from "@agentos/http-server"

/** The addresses on which a server listens. */
export interface Listening {
  readonly http: { readonly host: string; readonly port: number }
  readonly smtp: { readonly host: string; readonly port: number } | null
  /** Where the operator routes are served. */
  readonly operator: { readonly host: string; readonly port: number } | null
}

/** A message from a worker to its server. */
export type FromWorker =
  | { readonly type: "ready"; readonly listening: Listening }
  /** Sent every few seconds: its event loop turns. */
  | { readonly type: "alive" }
  /** Asks for the metrics of all workers. */
  | { readonly type: "collect"; readonly request: number }
  | { readonly type: "metrics"; readonly request: number; readonly text: string }

/** A message from a server to a worker. */
export type ToWorker =
  | { readonly type: "drain" }
  | { readonly type: "report"; readonly request: number }
  | { readonly type: "collected"; readonly request: number; readonly metrics: ReadonlyArray<WorkerMetricsText> }

/** Tells a process its number among the workers. It is no setting, and the worker removes it. */
export const WORKER_VARIABLE = "AGENTOS_WORKER"

/** Whether another process started this one as a worker. */
export const isWorker = (): boolean => process.send !== undefined && process.env[WORKER_VARIABLE] !== undefined

/** How often a worker that serves says that it is alive, in milliseconds. */
export const ALIVE_EVERY = 5_000

/** The exit status of a worker whose configuration cannot work: a new one would fail, too. */
export const MISCONFIGURED = 3

/** How a process ended: its exit status, or the signal that killed it. */
export interface WorkerExit {
  readonly status: number | null
  readonly signal: string | null
}

/** One worker, from its start to its end. */
export interface WorkerProcess {
  /** The number of its place among the workers, from 1 on. Its successor has the same. */
  readonly number: number
  readonly pid: number
  /** Resolves with its addresses once it serves, or with undefined if it ends before that. */
  readonly ready: Promise<Listening | undefined>
  readonly exited: Promise<WorkerExit>
  readonly send: (message: ToWorker) => void
  readonly kill: () => void
}
