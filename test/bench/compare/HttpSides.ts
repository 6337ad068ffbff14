import type { BenchRun } from "../Bench.ts"
import { usageOf } from "../ProcessUsage.ts"
import type { PeerAnswer, PeerCommand } from "../peer/Peer.ts"
import { startChild } from "./ChildModule.ts"
import type { Side } from "./Comparison.ts"
import { type LoadGenerator, requestText, startLoadGenerator } from "./LoadGenerator.ts"

/** A server that receives requests. */
export interface HttpServer {
  readonly name: string
  readonly url: string
  readonly pid: number
}

/** Starts a peer from its module in `peer/`. */
export const startPeer = async <Options>(
  { atEnd }: BenchRun,
  name: string,
  module: string,
  options: Options
): Promise<HttpServer> => {
  const child = startChild(new URL(`../peer/${module}`, import.meta.url))
  atEnd(child.stop)
  const { port } = await child.ask<PeerCommand<Options>, PeerAnswer>({ options })
  return { name, url: `http://127.0.0.1:${port}`, pid: child.pid }
}

/** What is asked of a server, and what it must answer. */
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

/** Connections on which one request at a time is sent. */
export const CONNECTIONS = 32

/** A side that answers requests. */
export const httpSide = (generator: LoadGenerator, { name, pid, url }: HttpServer, work: HttpWork): Side => {
  const target = new URL(work.path, url)
  const request = requestText(target, work.method ?? "GET", work.headers, work.body)
  return {
    name,
    cpuMillis: () => usageOf(pid).cpuMillis,
    work: async (millis) => {
      const {
        count,
        millis: taken,
        samples
      } = await generator.run({
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

/**
 * Starts a load generator and says how much it can do: the answers of a bare server, which is at its own limit, too.
 */
export const startGenerator = async (bench: BenchRun): Promise<LoadGenerator> => {
  const generator = startLoadGenerator()
  bench.atEnd(generator.stop)
  const bare = await startPeer(bench, "node:http", "nodeHttpMain.ts", { documents: [["/", "{}", '"1"']] })
  const side = httpSide(generator, bare, { path: "/", status: 200, check: () => undefined })
  const millis = bench.option("seconds") * 1_000
  await side.work(millis)
  const before = generator.cpuMillis()
  const { count, millis: taken } = await side.work(millis)
  const busy = (generator.cpuMillis() - before) / taken
  bench.say(
    `load generator: a Node process with ${CONNECTIONS} connections, one request at a time on each; ` +
      `${((1_000 * count) / taken).toFixed(0)} answers a second of a bare node:http server, ` +
      `for which it used ${(100 * busy).toFixed(0)} % of a core`
  )
  return generator
}
