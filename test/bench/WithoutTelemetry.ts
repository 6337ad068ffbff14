import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Plugin } from "rolldown"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

const NO_TRACE = `
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
export const TraceRecorder = Context.Reference("without/TraceRecorder", { defaultValue: () => null })
export const traceparent = Effect.succeed(null)
export const traceIdOf = () => undefined
export const annotate = () => undefined
export const trace = () => identity
export const continued = trace
export const span = trace`

/** The modules that count, time and trace the work, by their paths: those in their places do nothing. */
const MODULES = new Map([
  ["packages/core/src/kernel/Trace.ts", NO_TRACE],
  [
    "packages/agentos/src/Traces.ts",
    `import * as Layer from "effect/Layer"
    export const traceLayer = () => Layer.empty`
  ],
  [
    "packages/agentos/src/ProviderCalls.ts",
    `import * as Layer from "effect/Layer"
    export const NO_PROVIDER = "none"
    export const observedProviders = Layer.empty
    export const observedAgents = Layer.empty`
  ],
  [
    "packages/http-server/src/edge/RequestTelemetry.ts",
    `export const methodOf = (method) => method
    export const recordRequest = () => undefined`
  ]
])

for (const path of MODULES.keys()) if (!existsSync(ROOT + path)) throw new Error(`${path} has moved`)

/** In the place of Effect's metrics, for the modules of the server. Its imports are resolved as those of the core. */
const NO_METRICS = `${ROOT}packages/core/src/kernel/NoMetrics.js`
const METRICS = `
import * as Effect from "effect/Effect"
export { MetricRegistry } from "effect/Metric"
const metric = { updateUnsafe: () => undefined }
export const counter = () => metric
export const gauge = counter
export const histogram = counter
export const update = () => Effect.void
export const modify = update`

/** The spans of Effect, which it makes for each statement and transaction even where they are not recorded. */
const SPANS = [
  [
    "export const makeSpanUnsafe = (",
    "let noSpan; export const makeSpanUnsafe = () => noSpan ??= noopSpan({}); const makeUnused = ("
  ],
  ["export const endSpan = (", "export const endSpan = () => void_; const endUnused = ("],
  [
    "export const useSpan = (",
    "export const useSpan = (...args) => suspend(() => args.at(-1)(makeSpanUnsafe())); const useUnused = ("
  ]
] as const

/** Bundles agentos-server without its metrics and traces, and without the spans of Effect. */
const withoutTelemetry: Plugin = {
  name: "without-telemetry",
  resolveId: (source, importer = "") =>
    source === "effect/Metric" && importer.startsWith(`${ROOT}packages/`) && importer !== NO_METRICS
      ? NO_METRICS
      : null,
  load: (id) => (id === NO_METRICS ? METRICS : (MODULES.get(id.slice(ROOT.length)) ?? null)),
  transform: (code, id) => {
    if (!id.endsWith("/effect/dist/internal/effect.js")) return null
    return SPANS.reduce((text, [made, none]) => {
      if (text.split(made).length !== 2) throw new Error(`${id} has no ${made}`)
      return text.replace(made, none)
    }, code)
  }
}

export default withoutTelemetry
