import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** What the process of the agents is told first. */
export interface AgentsCommand {
  /** Where its certificate authority is made. */
  readonly dataDir: string
  /** How long the agents think before the first words, in milliseconds. */
  readonly thinkMillis: number
}

/** How long an agent itself took over a turn: from the question to its first words, in milliseconds. */
export type OwnTime = readonly [turn: string, millis: number]

/** What the process of the agents answers: where it listens, and to each later message its times since the last one. */
export type AgentsAnswer =
  | { readonly type: "ready"; readonly port: number; readonly caFile: string }
  | { readonly type: "times"; readonly times: ReadonlyArray<OwnTime> }

/** Agents in a process of their own, which stream an answer to each turn. */
export interface VoiceAgents {
  readonly pid: number
  readonly port: number
  readonly caFile: string
  /** The times since they were asked for last. */
  readonly times: () => Promise<ReadonlyArray<OwnTime>>
  readonly stop: () => Promise<void>
}

export const startVoiceAgents = async (command: AgentsCommand): Promise<VoiceAgents> => {
  const child = fork(fileURLToPath(new URL("voiceAgentMain.ts", import.meta.url)), { serialization: "advanced" })
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const ask = async (message: AgentsCommand | "times"): Promise<AgentsAnswer> => {
    child.send(message)
    const gone = exited.then(() => {
      throw new Error("the agents' process ended")
    })
    const [answer] = (await Promise.race([once(child, "message"), gone])) as [AgentsAnswer]
    return answer
  }
  const ready = await ask(command)
  if (ready.type !== "ready" || child.pid === undefined) throw new Error("the agents' process did not start")
  return {
    pid: child.pid,
    port: ready.port,
    caFile: ready.caFile,
    times: async () => {
      const answer = await ask("times")
      return answer.type === "times" ? answer.times : []
    },
    stop: () => {
      child.kill("SIGKILL")
      return exited
    }
  }
}
