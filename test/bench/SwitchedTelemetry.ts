import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Plugin } from "rolldown"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

/** In the environment of the program: the path of a file with `on` or `off`. At SIGUSR2, the program obeys and removes it. */
export const SWITCH_FILE = "BENCH_TELEMETRY_SWITCH"

/** The other programs of the server have no switch, and are on. */
const IS_OFF = "(globalThis.hasTelemetry === false)"

const SWITCH = `
import { readFileSync, rmSync } from "node:fs"
globalThis.hasTelemetry = true
process.on("SIGUSR2", () => {
  const file = process.env.${SWITCH_FILE}
  globalThis.hasTelemetry = readFileSync(file, "utf8") === "on"
  rmSync(file)
})`

/** The modules that count, time and trace the work, by their paths. Their replacements do nothing while it is off. */
const MODULES = new Map([
  [
    "packages/core/src/kernel/Trace.ts",
    `import * as Effect from "effect/Effect"
    import * as actual from "ACTUAL"
    export const { TraceRecorder, traceIdOf } = actual
    export const traceparent = Effect.suspend(() => ${IS_OFF} ? Effect.succeed(null) : actual.traceparent)
    export const annotate = (fiber, attributes) => ${IS_OFF} ? undefined : actual.annotate(fiber, attributes)
    const switched = (make) => (...options) => {
      const inSpan = make(...options)
      return (effect) => {
        const observed = inSpan(effect)
        return Effect.suspend(() => ${IS_OFF} ? effect : observed)
      }
    }
    export const trace = switched(actual.trace)
    export const continued = switched(actual.continued)
    export const span = switched(actual.span)`
  ],
  [
    "packages/http-server/src/edge/RequestTelemetry.ts",
    `import * as actual from "ACTUAL"
    export const { methodOf } = actual
    export const recordRequest = (...facts) => ${IS_OFF} ? undefined : actual.recordRequest(...facts)`
  ]
])

/** In the place of Effect's metrics, for the modules of the server. Its imports are resolved as those of the core. */
const METRICS = `${ROOT}packages/core/src/kernel/SwitchedMetrics.js`
const SWITCHED_METRICS = `
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
export { MetricRegistry } from "effect/Metric"
const switched = (make) => (...options) => {
  const metric = make(...options)
  const update = metric.updateUnsafe.bind(metric)
  metric.updateUnsafe = (value, context) => ${IS_OFF} ? undefined : update(value, context)
  return metric
}
export const counter = switched(Metric.counter)
export const gauge = switched(Metric.gauge)
export const histogram = switched(Metric.histogram)
export const update = (metric, value) => Effect.suspend(() => ${IS_OFF} ? Effect.void : Metric.update(metric, value))
export const modify = (metric, value) => Effect.suspend(() => ${IS_OFF} ? Effect.void : Metric.modify(metric, value))`

/** Replacements of source text, each of which must stand in its file once. */
const REPLACEMENTS: ReadonlyMap<string, ReadonlyArray<readonly [made: string, switched: string]>> = new Map([
  ["packages/server/src/main.ts", [["#!/usr/bin/env node\n", `import "switch"\n`]]],
  [
    "packages/agentos/src/ProviderCalls.ts",
    [
      [
        "(...input: Array<never>) =>\n      Effect.withFiber(",
        `(...input: Array<never>) =>\n      ${IS_OFF} ? call(...input) : Effect.withFiber(`
      ]
    ]
  ],
  // The spans of Effect, which it makes for each statement and transaction even where they are not recorded.
  [
    "/effect/dist/internal/effect.js",
    [
      [
        "export const makeSpanUnsafe = (fiber, name, options) => {",
        `let noSpan\nexport const makeSpanUnsafe = (fiber, name, options) => {\nif (${IS_OFF}) return noSpan ??= noopSpan({})`
      ],
      [
        "export const endSpan = (span, exit, clock, timingEnabled) => sync(",
        `export const endSpan = (span, exit, clock, timingEnabled) => ${IS_OFF} ? void_ : sync(`
      ],
      [
        "return withFiber(fiber => {\n    const span = makeSpanUnsafe(fiber, name, options);\n    const clock",
        `return withFiber(fiber => {\n    const span = makeSpanUnsafe(fiber, name, options);\n if (${IS_OFF}) return evaluate(span)\n   const clock`
      ]
    ]
  ]
])

const ACTUAL = "?actual"

/** Bundles agentos-server so that its metrics and traces, and the spans of Effect, can be turned off while it runs. */
const switchedTelemetry: Plugin = {
  name: "switched-telemetry",
  resolveId: (source, importer = "") => {
    if (source === "switch") return source
    if (source === "ACTUAL") return importer + ACTUAL
    const isMetric = source === "effect/Metric" && importer.startsWith(`${ROOT}packages/`) && importer !== METRICS
    return isMetric ? METRICS : null
  },
  load: (id) => {
    if (id === "switch") return SWITCH
    if (id === METRICS) return SWITCHED_METRICS
    if (id.endsWith(ACTUAL)) return { code: readFileSync(id.slice(0, -ACTUAL.length), "utf8"), moduleType: "ts" }
    return MODULES.get(id.slice(ROOT.length)) ?? null
  },
  transform: (code, id) => {
    const replacements = [...REPLACEMENTS].find(([path]) => id.endsWith(path))?.[1] ?? []
    return replacements.reduce<string | null>((text, [made, switched]) => {
      const parts = (text ?? code).split(made)
      if (parts.length !== 2) throw new Error(`${id} must contain once: ${made}`)
      return parts.join(switched)
    }, null)
  }
}

export default switchedTelemetry
