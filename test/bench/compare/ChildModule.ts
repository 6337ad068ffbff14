import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** A module of the bench that runs in a process of its own, and answers each message with one. */
export interface ChildModule {
  readonly pid: number
  readonly ask: <Command extends object, Answer>(command: Command) => Promise<Answer>
  readonly stop: () => Promise<void>
}

/** Starts the process. It ends with this one, by its `disconnect` event. */
export const startChild = (module: URL): ChildModule => {
  const child = fork(fileURLToPath(module), {
    serialization: "advanced",
    env: { ...process.env, NODE_ENV: "production" }
  })
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const { pid } = child
  if (pid === undefined) throw new Error(`${module.pathname} did not start`)
  return {
    pid,
    ask: async <Command extends object, Answer>(command: Command) => {
      const ended = exited.then((): never => {
        throw new Error(`${module.pathname} ended`)
      })
      child.send(command)
      const [answer] = (await Promise.race([once(child, "message"), ended])) as [Answer]
      return answer
    },
    stop: () => {
      child.kill("SIGKILL")
      return exited
    }
  }
}
