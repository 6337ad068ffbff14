import { usageOf } from "../ProcessUsage.ts"
import { startChild } from "./ChildModule.ts"

/** A request that many connections repeat. */
export interface Load {
  readonly host: string
  readonly port: number
  /** The bytes of the request. `{unique}` becomes another eight hexadecimal digits each time. */
  readonly request: string
  /** The status that each answer must have. */
  readonly status: number
  readonly connections: number
  readonly millis: number
}

export interface LoadCommand {
  readonly load: Load
}

export type LoadAnswer =
  | {
      readonly type: "measured"
      readonly count: number
      readonly bytes: number
      readonly millis: number
      /** A few of the answers, head and body. */
      readonly samples: ReadonlyArray<string>
    }
  | { readonly type: "failed"; readonly problem: string }

export type LoadResult = Extract<LoadAnswer, { type: "measured" }>

/** A process that sends requests. */
export interface LoadGenerator {
  /** Rejects if an answer has another status. */
  readonly run: (load: Load) => Promise<LoadResult>
  /** The processor time that it has used. */
  readonly cpuMillis: () => number
  readonly stop: () => Promise<void>
}

export const startLoadGenerator = (): LoadGenerator => {
  const child = startChild(new URL("loadMain.ts", import.meta.url))
  return {
    run: async (load) => {
      const answer = await child.ask<LoadCommand, LoadAnswer>({ load })
      if (answer.type === "failed") throw new Error(`${load.request.split("\r\n")[0]}: ${answer.problem}`)
      return answer
    },
    cpuMillis: () => usageOf(child.pid).cpuMillis,
    stop: child.stop
  }
}

/** Formats a request of HTTP/1.1 on a connection that is kept. */
export const requestText = (
  url: URL,
  method: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string
): string => {
  // The placeholder `{unique}` has as many characters as what replaces it.
  const all = { host: url.host, ...headers, ...(body !== undefined && { "content-length": String(body.length) }) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`
}
