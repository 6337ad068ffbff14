import { readFileSync } from "node:fs"
import { join } from "node:path"

const ALERTS = "prometheus/alerts.yaml"

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
  "kubernetes/prometheus-rule.yaml": prometheusRuleText
}

/** Reports generated files that are not what their generators return now. */
export const lintGeneratedFiles = (folder: string): ReadonlyArray<string> =>
  Object.entries(GENERATED_FILES).flatMap(([file, generate]) =>
    read(folder, file) === generate(folder) ? [] : [`${file}: is stale. Run \`npx -y pnpm@12 generate:deployment\`.`]
  )
