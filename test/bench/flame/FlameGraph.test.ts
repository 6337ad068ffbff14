import type { Profiler } from "node:inspector"
import { expect, it } from "vitest"
import { flameGraph } from "./FlameGraph.ts"

const node = (id: number, functionName: string, url: string, children: Array<number> = []): Profiler.ProfileNode => ({
  id,
  callFrame: { functionName, url, scriptId: "0", lineNumber: 0, columnNumber: 0 },
  hitCount: 0,
  children
})

const profile: Profiler.Profile = {
  nodes: [
    node(1, "(root)", "", [2, 3, 6]),
    node(2, "(idle)", ""),
    node(3, "answer", "file:///somewhere/packages/http-server/src/edge/HttpEdge.ts", [4, 5]),
    node(4, "runLoop", "file:///somewhere/node_modules/.pnpm/x/node_modules/effect/dist/internal/effect.js"),
    node(5, "writev<&>", ""),
    node(6, "(program)", "")
  ],
  startTime: 0,
  endTime: 1_000,
  samples: [2, 3, 4, 4, 5, 6],
  timeDeltas: [500, 100, 100, 100, 100, 1]
}

it("draws each function as wide as its share of the time in which the process worked", () => {
  const svg = flameGraph(profile, "a title")
  const widths = Object.fromEntries(
    [...svg.matchAll(/<title>(.*?): [\d.]+ %<\/title><rect x="[\d.]+" y="\d+" width="([\d.]+)"/g)].map(
      ([, label, width]) => [label, Math.round(Number(width))]
    )
  )
  const unit = (micros: number) => Math.round(Number(((1_200 * micros) / 401 - 0.5).toFixed(1)))
  expect(widths).toEqual({
    all: unit(401),
    "answer http-server/edge/HttpEdge.ts": unit(400),
    "runLoop effect/dist/internal/effect.js": unit(200),
    "writev&lt;&amp;&gt;": unit(100),
    "(program)": unit(1)
  })
  expect(svg).not.toContain("somewhere")
})

it("leaves out functions that are too narrow to be seen", () => {
  const svg = flameGraph({ ...profile, timeDeltas: [500, 100_000, 100_000, 100_000, 100_000, 1] }, "a title")
  expect(svg).not.toContain("(program)")
})
