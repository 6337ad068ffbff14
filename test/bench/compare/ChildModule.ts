import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { usageOf } from "../ProcessUsage.ts"

type Reply<Answer> = { readonly answer: Answer } | { readonly problem: string }

/** A module of the bench in a process of its own, which answers each message with one. */
export interface ChildModule<Command, Answer> {
  readonly pid: number
  /** Processor time since its start. */
  readonly cpuMillis: () => number
  /** Rejects if the module does, or if the process ends. */
  readonly ask: (command: Command) => Promise<Answer>
  readonly stop: () => Promise<void>
}

/** Starts the process of a module that calls `answerParent`. */
export const startChild = <Command extends object, Answer>(module: URL): ChildModule<Command, Answer> => {
  const child = fork(fileURLToPath(module), {
    serialization: "advanced",
    env: { ...process.env, NODE_ENV: "production" }
  })
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const { pid } = child
  if (pid === undefined) throw new Error(`${module.pathname} did not start`)
  return {
    pid,
    cpuMillis: () => usageOf(pid).cpuMillis,
    ask: async (command) => {
      const ended = exited.then((): never => {
        throw new Error(`${module.pathname} ended`)
      })
      child.send(command)
      const [reply] = (await Promise.race([once(child, "message"), ended])) as [Reply<Answer>]
      if ("problem" in reply) throw new Error(reply.problem)
      return reply.answer
    },
    stop: () => {
      child.kill("SIGKILL")
      return exited
    }
  }
}

/** Answers the messages of the process that started this one, and ends with it. */
export const answerParent = <Command, Answer>(answer: (command: Command) => Promise<Answer>): void => {
  process.on("message", (command: Command) => {
    void answer(command)
      .then(
        (given): Reply<Answer> => ({ answer: given }),
        (error: unknown): Reply<Answer> => ({
          problem: error instanceof Error ? (error.stack ?? error.message) : String(error)
        })
      )
      .then((reply) => process.send?.(reply))
  })
  process.once("disconnect", () => process.exit(0))
}
