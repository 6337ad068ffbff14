import { readFileSync } from "node:fs"
import { parse } from "yaml"
import { code } from "./Page.ts"

/** A rule of deploy/prometheus/alerts.yaml. */
interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: "page" | "ticket" }
  readonly annotations: Readonly<Record<"summary" | "meaning" | "look" | "action", string>>
}

const FILE = new URL("../../../deploy/prometheus/alerts.yaml", import.meta.url)

const { groups } = parse(readFileSync(FILE, "utf8")) as {
  readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }>
}

const URGENCY = { page: "needs a person now", ticket: "needs a person within a day" }

const section = ({ alert, annotations, expr, labels, ...rule }: Rule): string => {
  const { action, look, meaning, summary } = annotations
  const after = rule.for === undefined ? "" : `, once it has held for ${rule.for}`
  return [
    `## ${alert}`,
    summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => label.toUpperCase()),
    code("promql", `${expr.trim()}\n`),
    [
      `- It ${URGENCY[labels.severity]}${after}.`,
      `- Meaning: ${meaning}`,
      `- Look at: ${look}`,
      `- Do: ${action}`
    ].join("\n")
  ].join("\n\n")
}

/** A section for each rule of Prometheus: what it means, where to look, what to do. */
export const alertSections = groups.flatMap(({ rules }) => rules.map(section)).join("\n\n")
