import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LIVE_PATH, READY_PATH } from "@agentos/api"
import { describe, expect, it, onTestFinished, type TestContext } from "vitest"
import { DEPLOYMENT_LINTERS, type LintResult } from "../../lint/Deployment.ts"
import { declaredMetrics, describedMetrics } from "../../lint/Metrics.ts"
import { repository } from "./Workspace.ts"

const deploy = join(repository, "deploy")

type Linted = keyof typeof DEPLOYMENT_LINTERS

/** Runs a linter; undefined and a skipped test if it is not installed. */
const lint = (file: Linted, folder: string, context: TestContext): ReadonlyArray<string> => {
  const result: LintResult = DEPLOYMENT_LINTERS[file](folder)
  return "missing" in result ? context.skip(`${file} is not linted: ${result.missing} is not installed`) : result
}

/** The linted part, the file, a text in it, its replacement, and the problem. */
const DEFECTS: ReadonlyArray<
  readonly [linted: Linted, file: string, text: string | RegExp, replacement: string, problem: RegExp]
> = [
  ["Dockerfile", "Dockerfile", "--interval=10s", "--interval=10", /^Dockerfile:\d+: .*10/],
  ["compose.yaml", "compose.yaml", "restart:", "restarts:", /^compose\.yaml:\d+: .*additional properties/],
  ["kubernetes", "kubernetes/deployment.yaml", "replicas: 2", "replicas: two", /deployment\.yaml: .*replicas/],
  [
    "kubernetes",
    "kubernetes/deployment.yaml",
    "readinessProbe",
    "readynessProbe",
    /deployment\.yaml: .*readynessProbe/
  ],
  ["kubernetes", "kubernetes/service.yaml", "apiVersion: v1", "apiVersion: v2", /service\.yaml: v2 Service/],
  ["agentos.service", "agentos.service", "ProtectSystem", "ProtectSystm", /^agentos\.service: .*ProtectSystm/],
  [
    "agentos.service",
    "agentos.service",
    /^(Restrict|Protect|SystemCall|Private).*$/gm,
    "",
    /^agentos\.service: .*expos/
  ],
  ["Caddyfile", "Caddyfile", "reverse_proxy", "reverse_prox", /^Caddyfile: .*reverse_prox/],
  [
    "prometheus/alerts.yaml",
    "prometheus/alerts.yaml",
    "rate(agentos_provider",
    "rat(agentos_provider",
    /^prometheus\/alerts\.yaml: .*unknown function/
  ],
  [
    "kubernetes",
    "kubernetes/service.yaml",
    "targetPort: operator",
    "targetPort: operators",
    /service\.yaml: agentos-operator selects no pod with a port operators$/
  ],
  [
    "kubernetes",
    "kubernetes/deployment.yaml",
    /(template:\n *metadata:\n *labels:\n *app.kubernetes.io\/name: )agentos/,
    "$1other",
    /service\.yaml: agentos selects no pod/
  ],
  [
    "kubernetes",
    "kubernetes/service-monitor.yaml",
    "port: operator",
    "port: http-operator",
    /service-monitor\.yaml: selects no Service with a port http-operator$/
  ],
  [
    "kubernetes",
    "kubernetes/service-monitor.yaml",
    /(matchLabels:\n *app.kubernetes.io\/name: )agentos/,
    "$1other",
    /service-monitor\.yaml: selects no Service/
  ],
  ["kubernetes", "kubernetes/service-monitor.yaml", "honorLabels", "honourLabels", /monitor\.yaml: .*honourLabels/],
  ["kubernetes", "kubernetes/prometheus-rule.yaml", "expr:", "expression:", /prometheus-rule\.yaml: .*expression/],
  [
    "generated files",
    "prometheus/alerts.yaml",
    "for: 1m",
    "for: 2m",
    /^kubernetes\/prometheus-rule\.yaml: is stale.* generate:deployment/
  ],
  ["generated files", "grafana/agentos.json", '"30s"', '"60s"', /^grafana\/agentos\.json: is stale/],
  [
    "metrics of alerts and dashboard",
    "prometheus/alerts.yaml",
    "abs(agentos_clock_offset_seconds)",
    "abs(agentos_clock_offset)",
    /^prometheus\/alerts\.yaml: .* no metric agentos_clock_offset:/
  ],
  [
    "metrics of alerts and dashboard",
    "grafana/agentos.json",
    "agentos_http_request_duration_seconds_bucket",
    "agentos_http_request_duration_seconds",
    /^grafana\/agentos\.json: .* no metric agentos_http_request_duration_seconds:/
  ],
  [
    "metrics of alerts and dashboard",
    "grafana/agentos.json",
    "sum by (rule)",
    "sum by (limit)",
    /^grafana\/agentos\.json: .* no label limit:/
  ]
]

describe("the files of deploy", () => {
  it.for(DEFECTS)("are refused with a defect: %s %s %s", ([linted, file, text, replacement, problem], context) => {
    const folder = mkdtempSync(join(tmpdir(), "agentos-deploy-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    cpSync(deploy, folder, { recursive: true })
    const original = readFileSync(join(folder, file), "utf8")
    writeFileSync(join(folder, file), original.replace(text, replacement))
    expect(readFileSync(join(folder, file), "utf8")).not.toBe(original)
    expect(lint(linted, folder, context)).toContainEqual(expect.stringMatching(problem))
  })

  it("use metrics that the Operate page describes", () => {
    const [described, declared] = [describedMetrics(), declaredMetrics()].map((metrics) =>
      [...metrics.keys()].toSorted()
    )
    expect(described).toEqual(declared)
  })

  it("return freed memory to the system", () => {
    for (const file of ["Dockerfile", "agentos.service"]) {
      expect(readFileSync(join(deploy, file), "utf8")).toContain("MALLOC_MMAP_THRESHOLD_=131072")
    }
  })

  it("migrate the database before the server starts", () => {
    const [deployment, compose, unit] = ["kubernetes/deployment.yaml", "compose.yaml", "agentos.service"].map((file) =>
      readFileSync(join(deploy, file), "utf8")
    )
    expect(deployment).toMatch(/initContainers:[^]*args: \[migrate\][^]*\n {6}containers:/)
    expect(compose).toMatch(/\n {6}migrate:\n {8}condition: service_completed_successfully/)
    expect(unit!.match(/^Exec.*agentos-server .*$/gm)?.map((line) => line.replace(/=.*server /, " "))).toEqual([
      "ExecStart start"
    ])
  })

  it("do not restart a server whose configuration must be corrected", () => {
    expect(readFileSync(join(deploy, "agentos.service"), "utf8")).toContain("\nRestartPreventExitStatus=3\n")
  })

  it("name the health routes of the server", () => {
    const [deployment, dockerfile] = ["kubernetes/deployment.yaml", "Dockerfile"].map((file) =>
      readFileSync(join(deploy, file), "utf8")
    )
    expect(deployment!.match(/path: .*/g)).toEqual([LIVE_PATH, LIVE_PATH, READY_PATH].map((path) => `path: ${path}`))
    expect(dockerfile).toContain(`\${process.env.AGENTOS_PORT}${READY_PATH}\``)
  })
})
