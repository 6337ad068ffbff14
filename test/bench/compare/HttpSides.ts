import type { BenchRun } from "../Bench.ts"
import type { ConstantOptions } from "../peer/nodeHttpMain.ts"
import { treeCpuMillis } from "../ProcessUsage.ts"
import { type ChildModule, startChild } from "./ChildModule.ts"
import type { Side } from "./Side.ts"
import type { Load, LoadResult } from "./loadMain.ts"

/** A server that receives requests. */
export interface HttpServer {
  readonly name: string
  readonly url: string
  readonly pid: number
}

/** Starts a peer from its module in `peer/`. */
export const startPeer = async <Options extends object>(
  { atEnd }: BenchRun,
  name: string,
  module: string,
  options: Options
): Promise<HttpServer> => {
  const child = startChild<Options, number>(new URL(`../peer/${module}`, import.meta.url))
  atEnd(child.stop)
  const port = await child.ask(options)
  return { name, url: `http://127.0.0.1:${port}`, pid: child.pid }
}

/** A request, and the expected answer. */
export interface HttpWork {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** `{unique}` in it becomes another eight hexadecimal digits each time. */
  readonly body?: string
  readonly status: number
  /** Throws if the answer is not complete. It gets a few of each round. */
  readonly check: (answer: Answer) => void
}

export interface Answer {
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const answerOf = (text: string): Answer => {
  const end = text.indexOf("\r\n\r\n")
  const lines = text.slice(0, end).split("\r\n").slice(1)
  return {
    headers: new Map(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
    ),
    body: text.slice(end + 4)
  }
}

/** Sends requests from a process of its own. */
export interface LoadGenerator extends ChildModule<Load, LoadResult> {
  /** The answers a second of a bare server: neither can do more. */
  readonly ceiling: number
}

/** Formats a request of HTTP/1.1 on a connection that is kept. */
const requestText = (url: URL, { body, headers = {}, method = "GET" }: HttpWork): string => {
  // The placeholder `{unique}` has as many characters as its replacement.
  const all = { host: url.host, ...headers, ...(body !== undefined && { "content-length": String(body.length) }) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`
}

/** Connections on which one request at a time is sent. */
export const CONNECTIONS = 32

/** A side that answers requests. */
export const httpSide = (
  generator: Pick<LoadGenerator, "ask">,
  { name, pid, url }: HttpServer,
  work: HttpWork
): Side => {
  const target = new URL(work.path, url)
  const request = requestText(target, work)
  return {
    name,
    cpuMillis: () => treeCpuMillis(pid),
    work: async (millis) => {
      const {
        count,
        millis: taken,
        samples
      } = await generator.ask({
        host: target.hostname,
        port: Number(target.port),
        request,
        status: work.status,
        connections: CONNECTIONS,
        millis
      })
      for (const sample of samples) work.check(answerOf(sample))
      return { count, millis: taken }
    }
  }
}

/** Starts a load generator, and says and returns how much it can do. */
export const startGenerator = async (bench: BenchRun): Promise<LoadGenerator> => {
  const generator = startChild<Load, LoadResult>(new URL("loadMain.ts", import.meta.url))
  bench.atEnd(generator.stop)
  const bare = await startPeer<ConstantOptions>(bench, "node:http", "nodeHttpMain.ts", {
    documents: [["/", "{}", '"1"']]
  })
  const side = httpSide(generator, bare, { path: "/", status: 200, check: () => undefined })
  const millis = bench.option("seconds") * 1_000
  await side.work(millis)
  const before = generator.cpuMillis()
  const { count, millis: taken } = await side.work(millis)
  const busy = (generator.cpuMillis() - before) / taken
  const ceiling = (1_000 * count) / taken
  bench.say(
    `load generator: a Node process with ${CONNECTIONS} connections, one request at a time on each; ` +
      `${ceiling.toFixed(0)} answers a second of a bare node:http server, for which it used ${(100 * busy).toFixed(0)} % of a core`
  )
  return { ...generator, ceiling }
}
