import { assert, describe, it } from "@effect/vitest"
import { mergeWorkerMetrics } from "../src/WorkerMetrics.ts"

const textOf = (count: number) =>
  [
    "# HELP requests_total Requests.",
    "# TYPE requests_total counter",
    `requests_total{route="/a{b} c",status="200"} ${count}`,
    "# TYPE sockets gauge",
    `sockets ${count + 1}`,
    "# TYPE seconds histogram",
    `seconds_bucket{le="+Inf"} ${count}`,
    `seconds_sum ${count / 2}`,
    ""
  ].join("\n")

describe("mergeWorkerMetrics", () => {
  it("labels each sample with its worker, and describes each metric once", () => {
    const merged = mergeWorkerMetrics([
      { worker: 1, text: textOf(3) },
      { worker: 2, text: textOf(5) }
    ])
    assert.deepStrictEqual(merged.split("\n"), [
      "# HELP requests_total Requests.",
      "# TYPE requests_total counter",
      `requests_total{worker="1",route="/a{b} c",status="200"} 3`,
      `requests_total{worker="2",route="/a{b} c",status="200"} 5`,
      "# TYPE sockets gauge",
      `sockets{worker="1"} 4`,
      `sockets{worker="2"} 6`,
      "# TYPE seconds histogram",
      `seconds_bucket{worker="1",le="+Inf"} 3`,
      `seconds_sum{worker="1"} 1.5`,
      `seconds_bucket{worker="2",le="+Inf"} 5`,
      `seconds_sum{worker="2"} 2.5`,
      ""
    ])
  })

  it("keeps a metric that only some workers have, and is empty without a worker", () => {
    const merged = mergeWorkerMetrics([
      { worker: 1, text: "# TYPE a gauge\na 1\n" },
      { worker: 2, text: "# TYPE b gauge\nb 2\n# TYPE a gauge\na 3\n" }
    ])
    assert.strictEqual(merged, `# TYPE a gauge\na{worker="1"} 1\na{worker="2"} 3\n# TYPE b gauge\nb{worker="2"} 2\n`)
    assert.strictEqual(mergeWorkerMetrics([]), "")
  })
})
