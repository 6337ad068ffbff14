import { DCLinter } from "dclint"
import { validate } from "dockerfile-utils"
import { Deployment, type IDeployment } from "kubernetes-models/apps/v1"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1"
import { type IService, Service } from "kubernetes-models/v1"
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseAllDocuments } from "yaml"
import { lintExpressions, lintGeneratedFiles } from "./Monitoring.ts"
import type { IServiceMonitor } from "./MonitoringResources.ts"

const repository = fileURLToPath(new URL("..", import.meta.url))

/** The problems that a linter reports, or its name if it is not installed. */
export type LintResult = ReadonlyArray<string> | { readonly missing: string }

const lintDockerfile = (folder: string): ReadonlyArray<string> =>
  validate(readFileSync(join(folder, "Dockerfile"), "utf8")).map(
    ({ message, range }) =>
      `Dockerfile:${range.start.line + 1}: ${typeof message === "string" ? message : message.value}`
  )

/** The part of a result of dclint that is used here; its own types cannot be resolved. */
interface ComposeResult {
  readonly messages: ReadonlyArray<{ readonly line: number; readonly message: string; readonly rule: string }>
}

const lintCompose = (folder: string): ReadonlyArray<string> => {
  const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] })
  const results: ReadonlyArray<ComposeResult> = linter.lintFiles([join(folder, "compose.yaml")], false)
  return results.flatMap(({ messages }) =>
    messages.map(({ line, message, rule }) => `compose.yaml:${line}: ${message} (${rule})`)
  )
}

/** Types of the resources of the Prometheus Operator, which kubernetes-models lacks. */
const MONITORING = { module: join(repository, "lint/MonitoringResources.ts"), apiVersion: "monitoring.coreos.com/v1" }

/** The kinds of our manifests, with the module of their types. */
const KINDS = {
  Deployment: { model: Deployment, module: "kubernetes-models/apps/v1", apiVersion: "apps/v1" },
  PodDisruptionBudget: { model: PodDisruptionBudget, module: "kubernetes-models/policy/v1", apiVersion: "policy/v1" },
  Service: { model: Service, module: "kubernetes-models/v1", apiVersion: "v1" },
  PrometheusRule: { model: undefined, ...MONITORING },
  ServiceMonitor: { model: undefined, ...MONITORING }
} as const

const isKind = (kind: unknown): kind is keyof typeof KINDS => typeof kind === "string" && kind in KINDS

interface Manifest {
  readonly file: string
  readonly kind: keyof typeof KINDS
  readonly value: object
}

/** Checks values against the schemas of Kubernetes' API, and names of fields, which these schemas leave open. */
const lintManifests = (folder: string): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const manifests: Array<Manifest> = []
  for (const file of globSync("kubernetes/*.yaml", { cwd: folder }).toSorted()) {
    for (const document of parseAllDocuments(readFileSync(join(folder, file), "utf8"))) {
      problems.push(...document.errors.map(({ message }) => `${file}: ${message}`))
      const value = document.toJS() as { readonly kind?: unknown; readonly apiVersion?: unknown } | null
      const kind = value?.kind
      if (value === null || !isKind(kind) || value.apiVersion !== KINDS[kind].apiVersion) {
        problems.push(
          `${file}: ${String(value?.apiVersion)} ${String(kind)} is not one of our kinds (lint/Deployment.ts)`
        )
        continue
      }
      manifests.push({ file, kind, value })
      const { model } = KINDS[kind]
      if (model === undefined) continue
      try {
        new model(value as never).validate()
      } catch (error) {
        problems.push(`${file}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
  const shapes = [...problems, ...lintFieldNames(manifests)]
  // Manifests of the wrong shape have no selectors to compare.
  return shapes.length > 0 ? shapes : lintSelectors(manifests)
}

/** The compiler refuses fields that a type does not have. */
const lintFieldNames = (manifests: ReadonlyArray<Manifest>): ReadonlyArray<string> => {
  const cache = join(repository, "node_modules/.cache")
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, "manifests-"))
  try {
    manifests.forEach(({ kind, value }, index) => {
      const lines = [
        `import type { I${kind} } from "${KINDS[kind].module}"`,
        `export const manifest: I${kind} = ${JSON.stringify(value, undefined, 2)}`
      ]
      writeFileSync(join(folder, `${index}.ts`), `${lines.join("\n")}\n`)
    })
    const checks = { noEmit: true, strict: true, skipLibCheck: true }
    const compilerOptions = { ...checks, module: "nodenext", allowImportingTsExtensions: true, types: [] }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }))
    const run = spawnSync(join(repository, "node_modules/.bin/tsc"), ["--project", folder], { encoding: "utf8" })
    const found = [...run.stdout.matchAll(/(\d+)\.ts\(\d+,\d+\): error TS\d+: (.*)/g)].map(
      ([, index, message]) => `${manifests[Number(index)]?.file}: ${message}`
    )
    return run.status === 0 || found.length > 0 ? found : [`kubernetes: tsc failed: ${run.stdout}${run.stderr}`]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Labels = Readonly<Record<string, string>>

interface Target {
  readonly labels: Labels | undefined
  /** The names of its ports. */
  readonly ports: ReadonlyArray<string | undefined>
}

const hasTarget = (targets: ReadonlyArray<Target>, selector: Labels, port: unknown): boolean =>
  targets.some(
    ({ labels, ports }) =>
      ports.some((name) => name === port) &&
      Object.entries(selector).every(([label, value]) => labels?.[label] === value)
  )

/** Nothing reports a Service that selects no pod, or a ServiceMonitor that selects no Service: it reaches nothing. */
const lintSelectors = (manifests: ReadonlyArray<Manifest>): ReadonlyArray<string> => {
  const of = <A>(kind: keyof typeof KINDS) =>
    manifests.flatMap(({ file, value, ...manifest }) => (manifest.kind === kind ? [{ file, value: value as A }] : []))
  const pods = of<IDeployment>("Deployment").map(({ value: { spec } }) => ({
    labels: spec?.template.metadata?.labels,
    ports: (spec?.template.spec?.containers ?? []).flatMap(({ ports = [] }) => ports.map(({ name }) => name))
  }))
  const services = of<IService>("Service").map(({ file, value: { metadata, spec } }) => ({
    file,
    name: metadata?.name,
    labels: metadata?.labels,
    selector: spec?.selector ?? {},
    ports: (spec?.ports ?? []).map(({ name }) => name),
    targetPorts: (spec?.ports ?? []).map(({ targetPort }) => targetPort)
  }))
  return [
    ...services.flatMap(({ file, name, selector, targetPorts }) =>
      targetPorts
        .filter((port) => !hasTarget(pods, selector, port))
        .map((port) => `${file}: ${name} selects no pod with a port ${port}`)
    ),
    ...of<IServiceMonitor>("ServiceMonitor").flatMap(({ file, value: { spec } }) =>
      spec.endpoints
        .filter(({ port }) => !hasTarget(services, spec.selector.matchLabels, port))
        .map(({ port }) => `${file}: selects no Service with a port ${port}`)
    )
  ]
}

/** Highest allowed exposure, in tenths, of 100. */
const EXPOSURE_MAX = 20

const lintUnit = (folder: string): LintResult => {
  if (!isInstalled("systemd-analyze")) return { missing: "systemd-analyze" }
  const scratch = mkdtempSync(join(tmpdir(), "agentos-unit-"))
  try {
    // The program of the unit need not be installed here.
    const unit = join(scratch, "agentos.service")
    const text = readFileSync(join(folder, "agentos.service"), "utf8")
    writeFileSync(unit, text.replaceAll(/^(Exec\w+=)\S+/gm, `$1${process.execPath}`))
    const runs = [
      ["verify", "--man=no", unit],
      ["security", "--offline=true", `--threshold=${EXPOSURE_MAX}`, "--no-pager", unit]
    ].map((parameters) => spawnSync("systemd-analyze", parameters, { encoding: "utf8" }))
    return runs.flatMap(({ status, stderr, stdout }) =>
      status === 0 && stderr === "" ? [] : [`agentos.service: ${stderr}${stdout.trim().split("\n").at(-1) ?? ""}`]
    )
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

const lintProxy = (folder: string): LintResult => {
  if (!isInstalled("caddy")) return { missing: "caddy" }
  const parameters = ["validate", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")]
  const { status, stderr } = spawnSync("caddy", parameters, { encoding: "utf8" })
  return status === 0 ? [] : [`Caddyfile: ${stderr.trim().split("\n").at(-1) ?? ""}`]
}

const lintAlerts = (folder: string): LintResult => {
  if (!isInstalled("promtool")) return { missing: "promtool" }
  const parameters = ["check", "rules", "--lint-fatal", join(folder, "prometheus/alerts.yaml")]
  const { status, stderr, stdout } = spawnSync("promtool", parameters, { encoding: "utf8" })
  return status === 0 ? [] : [`prometheus/alerts.yaml: ${`${stdout}${stderr}`.trim().replaceAll(/\s+/g, " ")}`]
}

const isInstalled = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined

/** The linters of the folder `deploy`, which they are called with, by what they check. */
export const DEPLOYMENT_LINTERS = {
  Dockerfile: lintDockerfile,
  "compose.yaml": lintCompose,
  kubernetes: lintManifests,
  "agentos.service": lintUnit,
  Caddyfile: lintProxy,
  "prometheus/alerts.yaml": lintAlerts,
  "generated files": lintGeneratedFiles,
  "metrics of alerts and dashboard": lintExpressions
} satisfies Readonly<Record<string, (folder: string) => LintResult>>
