import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import { describe, expect, it } from "vitest"
import type { BenchRun, ComparisonResult, LatencyResult } from "../Bench.ts"
import { HOST, portOf } from "../peer/Peer.ts"
import { startChild } from "./ChildModule.ts"
import { compare, describe as format } from "./Comparison.ts"
import type { Side } from "./Side.ts"
import { compareLatencies, type LatencySide } from "./LatencyComparison.ts"
import type { Load, LoadResult } from "./loadMain.ts"

/** Sends a load to a server for a moment. Returns the result and the bodies that the server received. */
const load = async (listener: RequestListener, request: string, status: number) => {
  const bodies: Array<string> = []
  const server = createServer((incoming, response) => {
    let body = ""
    incoming.setEncoding("utf8").on("data", (text: string) => (body += text))
    incoming.on("end", () => {
      bodies.push(body)
      listener(incoming, response)
    })
  })
  server.listen(0, HOST)
  await once(server, "listening")
  const generator = startChild<Load, LoadResult>(new URL("loadMain.ts", import.meta.url))
  try {
    const order = { host: HOST, port: portOf(server), request, status, connections: 3, millis: 500 }
    return { result: await generator.ask(order), bodies }
  } finally {
    await generator.stop()
    server.close()
  }
}

const GET = "GET / HTTP/1.1\r\nhost: bench\r\n\r\n"

describe("the load generator", () => {
  it("counts answers of a fixed length, in chunks, without a body, and in several packets", async () => {
    const kinds: ReadonlyArray<RequestListener> = [
      (_, response) => response.setHeader("content-length", 5).end("fixed"),
      (_, response) => {
        response.write("one")
        setImmediate(() => response.end("two"))
      },
      (_, response) => response.writeHead(200, { "content-length": 0 }).end(),
      (_, response) => response.setHeader("content-length", 300_000).end("x".repeat(300_000))
    ]
    let asked = 0
    const { bodies, result } = await load((...both) => kinds[asked++ % kinds.length]!(...both), GET, 200)
    expect(result.count).toBe(bodies.length)
    // Each kind was answered more than once.
    expect(result.count).toBeGreaterThanOrEqual(2 * kinds.length)
    expect(result.samples).toHaveLength(3)
    expect(result.samples[0]).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  it("makes each body unique where the request has a placeholder", async () => {
    const request = "POST / HTTP/1.1\r\nhost: bench\r\ncontent-length: 9\r\n\r\nm{unique}"
    const { bodies } = await load((_, response) => response.writeHead(402).end(), request, 402)
    expect(new Set(bodies).size).toBe(bodies.length)
    expect(bodies[0]).toMatch(/^m[0-9a-f]{8}$/)
  })

  it("rejects an answer with another status", async () => {
    const failing = load((_, response) => response.writeHead(500).end(), GET, 200)
    await expect(failing).rejects.toThrow("GET / HTTP/1.1: status 500 instead of 200")
  })
})

describe("a comparison", () => {
  it("lets the sides work in turn and compares medians and rounds", async () => {
    const order: Array<string> = []
    const side = (name: string, counts: ReadonlyArray<number>): Side => {
      let round = 0
      return {
        name,
        work: async () => {
          order.push(name)
          return { count: counts[round++]!, millis: 1_000 }
        }
      }
    }
    const recorded: Array<ComparisonResult> = []
    const bench: BenchRun = {
      option: (name) => (name === "rounds" ? 3 : 1),
      say: () => undefined,
      record: (result) => "unit" in result && recorded.push(result),
      atEnd: () => undefined
    }
    const ours = side("ours", [1, 10, 30, 20])
    await compare(bench, { title: "work", unit: "items", goal: 1, ours, peers: [side("peer", [1, 40, 20, 40])] })
    expect(order.join(" ")).toBe("ours peer ours peer peer ours ours peer")
    expect(recorded[0]!.ratios).toEqual([{ peer: "peer", ofMedians: 0.5, paired: [0.25, 1.5, 0.5] }])
    expect(format(recorded[0]!)).toMatch(/20 +\| 10–30/)
  })

  it("compares the medians of latencies", async () => {
    const side = (name: string, rounds: ReadonlyArray<ReadonlyArray<number>>): LatencySide => {
      let round = 0
      return { name, cpuMillis: () => 6 * round, measure: async () => rounds[round++]! }
    }
    const recorded: Array<LatencyResult> = []
    const bench: BenchRun = {
      option: (name) => (name === "rounds" ? 3 : 1),
      say: () => undefined,
      record: (result) => "p50" in result.sides[0]! && recorded.push(result as LatencyResult),
      atEnd: () => undefined
    }
    const warmUp = [100]
    const ours = side("ours", [warmUp, [3, 1, 2], [8, 9, 7], [4, 6, 5]])
    const peer = side("peer", [warmUp, [2, 2, 2], [4, 4, 4], [2, 2, 2]])
    await compareLatencies(bench, { title: "work", goal: 1.5, ours, peers: [peer] })
    const [result] = recorded
    expect(result!.sides[0]).toEqual({
      name: "ours",
      p50: [2, 8, 5],
      p95: [3, 9, 6],
      p99: [3, 9, 6],
      cpuMillis: [2, 2, 2]
    })
    expect(result!.ratios).toEqual([{ peer: "peer", ofMedians: 2.5 }])
  })
})
