import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { SocketOrder } from "../support/RealtimeRig.ts"

/** A message to the process of the clients. */
export type ClientsCommand =
  | { readonly type: "open"; readonly sockets: ReadonlyArray<SocketOrder> }
  | { readonly type: "report" }

/** When a delivery of an event arrived: milliseconds of this machine's clock. */
export type Arrival = readonly [eventId: string, at: number]

/** A message from the process of the clients. */
export type ClientsAnswer =
  | { readonly type: "opened"; readonly open: number; readonly millis: number }
  | { readonly type: "report"; readonly open: number; readonly arrivals: ReadonlyArray<Arrival> }

/** Clients in another process, which acknowledge every delivery. */
export interface SocketClients {
  readonly pid: number
  readonly open: (sockets: ReadonlyArray<SocketOrder>) => Promise<Extract<ClientsAnswer, { type: "opened" }>>
  readonly report: () => Promise<Extract<ClientsAnswer, { type: "report" }>>
  readonly stop: () => Promise<void>
}

export const startSocketClients = (): SocketClients => {
  const child = fork(fileURLToPath(new URL("socketClientsMain.ts", import.meta.url)), { serialization: "advanced" })
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const ask = async (command: ClientsCommand): Promise<ClientsAnswer> => {
    child.send(command)
    const gone = exited.then(() => {
      throw new Error("the clients' process ended")
    })
    const [answer] = (await Promise.race([once(child, "message"), gone])) as [ClientsAnswer]
    return answer
  }
  const answerOf = <Type extends ClientsAnswer["type"]>(answer: ClientsAnswer, type: Type) => {
    if (answer.type !== type) throw new Error(`the clients answered ${answer.type} instead of ${type}`)
    return answer as Extract<ClientsAnswer, { type: Type }>
  }
  const { pid } = child
  if (pid === undefined) throw new Error("the clients' process did not start")
  return {
    pid,
    open: async (sockets) => answerOf(await ask({ type: "open", sockets }), "opened"),
    report: async () => answerOf(await ask({ type: "report" }), "report"),
    stop: () => {
      child.kill("SIGKILL")
      return exited
    }
  }
}

/** Fractional milliseconds of this machine's clock, the same in every process. */
export const clockMillis = (): number => performance.timeOrigin + performance.now()
