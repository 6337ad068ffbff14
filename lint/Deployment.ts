import { DCLinter } from "dclint"
import { validate } from "dockerfile-utils"
import { Deployment } from "kubernetes-models/apps/v1"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1"
import { Service } from "kubernetes-models/v1"
import { spawnSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseAllDocuments } from "yaml"

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

/** The kinds of our manifests, with the module of their types. */
const KINDS = {
  Deployment: { model: Deployment, module: "apps/v1", apiVersion: "apps/v1" },
  PodDisruptionBudget: { model: PodDisruptionBudget, module: "policy/v1", apiVersion: "policy/v1" },
  Service: { model: Service, module: "v1", apiVersion: "v1" }
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
      try {
        new KINDS[kind].model(value as never).validate()
      } catch (error) {
        problems.push(`${file}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
  return [...problems, ...lintFieldNames(manifests)]
}

/** The compiler refuses fields that a type does not have. */
const lintFieldNames = (manifests: ReadonlyArray<Manifest>): ReadonlyArray<string> => {
  const cache = join(repository, "node_modules/.cache")
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, "manifests-"))
  try {
    manifests.forEach(({ kind, value }, index) => {
      const lines = [
        `import type { I${kind} } from "kubernetes-models/${KINDS[kind].module}"`,
        `export const manifest: I${kind} = ${JSON.stringify(value, undefined, 2)}`
      ]
      writeFileSync(join(folder, `${index}.ts`), `${lines.join("\n")}\n`)
    })
    const compilerOptions = { noEmit: true, strict: true, skipLibCheck: true, module: "nodenext", types: [] }
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

/** The linter of each file of the folder `deploy`, which it is called with. */
export const DEPLOYMENT_LINTERS = {
  Dockerfile: lintDockerfile,
  "compose.yaml": lintCompose,
  kubernetes: lintManifests,
  "agentos.service": lintUnit,
  Caddyfile: lintProxy,
  "prometheus/alerts.yaml": lintAlerts
} satisfies Readonly<Record<string, (folder: string) => LintResult>>
