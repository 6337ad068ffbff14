import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** The first message to the process of the agents. */
export interface AgentsCommand {
  /** Directory of its certificate authority. */
  readonly dataDir: string
  /** How long the agents think before the first words, in milliseconds. */
  readonly thinkMillis: number
}

/** The time from a turn to the agent's first words, in milliseconds. */
export type OwnTime = readonly [turn: string, millis: number]

/** A message from the process of the agents: its port, and later its times since the last message. */
export type AgentsAnswer =
  | { readonly type: "ready"; readonly port: number; readonly caFile: string }
  | { readonly type: "times"; readonly times: ReadonlyArray<OwnTime> }

/** Agents in another process, which stream an answer to each turn. */
export interface VoiceAgents {
  readonly pid: number
  readonly port: number
  readonly caFile: string
  /** The times since the last call. */
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
