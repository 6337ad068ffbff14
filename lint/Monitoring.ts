import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { dashboardText } from "./Dashboard.ts"
import { unknownNames } from "./Metrics.ts"

const ALERTS = "prometheus/alerts.yaml"
const DASHBOARD = "grafana/agentos.json"

const read = (folder: string, file: string): string => readFileSync(join(folder, file), "utf8")

/** Returns the alerts as a resource of the Prometheus Operator. */
const prometheusRuleText = (folder: string): string => {
  const alerts = read(folder, ALERTS)
  return [
    `# Generated from deploy/${ALERTS} by \`npx -y pnpm@12 generate:deployment\`.`,
    "apiVersion: monitoring.coreos.com/v1",
    "kind: PrometheusRule",
    "metadata:",
    "  name: agentos",
    "  labels:",
    "    app.kubernetes.io/name: agentos",
    "spec:",
    alerts.slice(alerts.indexOf("groups:")).replaceAll(/^(?=.)/gm, "  ")
  ].join("\n")
}

/** The generated files of the folder `deploy`, which their generators are called with. */
export const GENERATED_FILES: Readonly<Record<string, (folder: string) => string>> = {
  "kubernetes/prometheus-rule.yaml": prometheusRuleText,
  [DASHBOARD]: dashboardText
}

/** Reports generated files that are not what their generators return now. */
export const lintGeneratedFiles = (folder: string): ReadonlyArray<string> =>
  Object.entries(GENERATED_FILES).flatMap(([file, generate]) =>
    read(folder, file) === generate(folder) ? [] : [`${file}: is stale. Run \`npx -y pnpm@12 generate:deployment\`.`]
  )

interface Query {
  readonly expr: string
}

const alertExpressions = (folder: string): ReadonlyArray<string> => {
  const { groups } = parse(read(folder, ALERTS)) as {
    readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Query> }>
  }
  return groups.flatMap(({ rules }) => rules.map(({ expr }) => expr))
}

/** Returns the expressions of the dashboard, with Grafana's variables. */
export const dashboardExpressions = (folder: string): ReadonlyArray<string> => {
  const { panels } = JSON.parse(read(folder, DASHBOARD)) as {
    readonly panels: ReadonlyArray<{ readonly targets?: ReadonlyArray<Query> }>
  }
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
}

/** Reports expressions with a metric or a label that the server does not export. */
export const lintExpressions = (folder: string): ReadonlyArray<string> =>
  Object.entries({ [ALERTS]: alertExpressions(folder), [DASHBOARD]: dashboardExpressions(folder) }).flatMap(
    ([file, exprs]) => unknownNames(exprs).map((problem) => `${file}: ${problem}`)
  )
