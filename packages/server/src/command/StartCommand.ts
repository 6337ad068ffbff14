import type { ServerServices } from "@agentos/agentos"
import { type ExitCode, Failure, usageError } from "@agentos/node/command-line"
import { WORKERS_RULE, workersOf } from "../worker/WorkerCount.ts"
import { isWorker } from "../worker/WorkerProcess.ts"
import { defineCommand, environmentNow, runEffect, type ServerCommandContext } from "./ServerCommand.ts"

const WORKERS = "AGENTOS_WORKERS"

/** Runs the only process of a server, or one of its workers. */
const runServer = async (context: ServerCommandContext, jobs: boolean): Promise<void> => {
  const { isMisconfiguration, serverProgram } = await import("../program/ServerProgram.ts")
  const { Effect } = await import("effect")
  const { explain } = await import("../output/ProgramOutput.ts")
  const { StopDeadline } = await import("../program/StopDeadline.ts")
  const worker = isWorker() ? (await import("../worker/WorkerRole.ts")).takeWorkerRole() : undefined
  const { host } = context
  const signal = worker === undefined ? host.signal : AbortSignal.any([host.signal, worker.draining])
  const stopDeadline = new StopDeadline(worker?.number)
  signal.addEventListener("abort", stopDeadline.begin, { once: true })
  try {
    // The end of a terminal ends the server that runs in it.
    const reread = worker === undefined && !host.stdinIsTerminal ? () => environmentNow(context) : undefined
    // Loaded by the first request.
    const doctor = Effect.map(Effect.context<ServerServices>(), (services) =>
      Effect.flatMap(
        Effect.promise(() => import("../check/Doctor.ts")),
        ({ diagnoseServer }) => Effect.provideContext(diagnoseServer, services)
      )
    )
    const program = serverProgram({ jobs, worker, stopDeadline, reread, doctor })
    await runEffect({ ...context, host: { ...host, signal } }, program, (error) =>
      isMisconfiguration(error) ? new Failure({ code: "CONFIGURATION", message: explain(error) }) : undefined
    )
  } catch (error) {
    // A stop by a signal is a success.
    if (!(error instanceof Failure && error.parts.code === "INTERRUPTED")) throw error
  } finally {
    await worker?.leave()
  }
}

export const START = defineCommand(
  {
    name: "start",
    summary: "Run the server until SIGTERM or SIGINT",
    description:
      "Prints one line of JSON with its addresses and its process id when it listens; its log goes to standard error. Creates the tables and brings them up to date. A signal stops it gracefully, within 10 seconds; the same signal again stops it at once.\nWith several workers, as many processes serve the same port, and one that ends is replaced. SIGHUP replaces them one after the other, without losing a request; the new ones read the file of --env-file again. A single process reads the limits in it again.\nAny number of servers can share one PostgreSQL database. At least one of them must run the jobs.",
    flags: [
      {
        name: "workers",
        type: "text",
        value: "N",
        summary: "Number of processes that serve, or auto for one for each core. More than 1 needs PostgreSQL.",
        env: WORKERS
      },
      {
        name: "no-jobs",
        type: "boolean",
        summary: "Answer requests only: leave mail delivery, open payments and periodic jobs to other servers."
      }
    ],
    examples: [
      { line: "agentos-server start", does: "Run a server" },
      { line: "agentos-server start --workers auto", does: "Run a server that uses every core" },
      { line: "agentos-server start --no-jobs", does: "Add a server that only answers requests" }
    ],
    output: "text",
    json: "one line: {event, http: {host, port}, smtp: {host, port} | null, operator: {host, port} | null, pid}"
  },
  async (context, { flags }) => {
    const { "no-jobs": noJobs, workers } = flags
    if (workers !== undefined) {
      if (workersOf(workers) === undefined) throw usageError(`--workers ${WORKERS_RULE}.`)
      process.env[WORKERS] = workers
    }
    // A server reports an invalid variable together with all other problems.
    if (!isWorker()) {
      const { reportStopping } = await import("../output/ServiceManager.ts")
      context.host.signal.addEventListener("abort", reportStopping, { once: true })
    }
    const count = isWorker() ? 1 : (workersOf(process.env[WORKERS] ?? "") ?? 1)
    if (count === 1) return runServer(context, !noJobs)
    const { superviseWorkers } = await import("../worker/WorkerServer.ts")
    return (await superviseWorkers(context, count, context.fileVariables)) as ExitCode
  }
)
