import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const repository = fileURLToPath(new URL("..", import.meta.url))

/** The page that describes each metric with its labels. */
const PAGE = "packages/site/content/operate.md"

/** Prometheus adds `up`, and these labels to every series: the last for a server of several workers. */
const OF_PROMETHEUS = "up"
const LABELS_OF_TARGETS = ["job", "instance", "worker"]

/** A declaration of a metric in the sources. */
const DECLARATION = /\b(counter|gauge|histogram)\(\s*"([a-z]\w+)"/g

/** Returns the names of the metrics that the server declares, with whether each is a histogram. */
export const declaredMetrics = (): ReadonlyMap<string, { readonly isHistogram: boolean }> =>
  new Map(
    globSync("packages/*/src/**/*.ts", { cwd: repository }).flatMap((file) =>
      [...readFileSync(join(repository, file), "utf8").matchAll(DECLARATION)].map(
        ([, kind, name = ""]) => [name, { isHistogram: kind === "histogram" }] as const
      )
    )
  )

const inCode = (text: string): ReadonlyArray<string> => [...text.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)

/** Returns the labels of each metric in the tables of the page; some of them are values of labels. */
export const describedMetrics = (): ReadonlyMap<string, ReadonlyArray<string>> => {
  const rows = readFileSync(join(repository, PAGE), "utf8").matchAll(
    /^\| (`(?:agentos|nodejs|process)_[^|]*)\|(.*)\|$/gm
  )
  return new Map(
    [...rows].flatMap(([, names = "", labels = ""]) => inCode(names).map((name) => [name, inCode(labels)]))
  )
}

/** Returns the series that the server exports, with their labels. */
const exportedSeries = (): ReadonlyMap<string, ReadonlyArray<string>> => {
  const described = describedMetrics()
  const series = [...declaredMetrics()].flatMap(([name, { isHistogram }]) => {
    const labels = described.get(name) ?? []
    const suffixed = ["_bucket", "_sum", "_count"].map((suffix) => `${name}${suffix}`)
    return (isHistogram ? suffixed : [name]).map((each) => [each, isHistogram ? [...labels, "le"] : labels] as const)
  })
  return new Map<string, ReadonlyArray<string>>([[OF_PROMETHEUS, []], ...series])
}

const MODIFIER = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g
const KEYWORDS = new Set(["and", "or", "unless", "bool", "offset"])

/** Returns the names of the metrics and labels in an expression of PromQL. */
export const namesIn = (expr: string) => {
  const labels: Array<string> = []
  const take = (found: ReadonlyArray<RegExpExecArray>) => labels.push(...found.map(([, label = ""]) => label))
  const names = expr
    .replaceAll(/"[^"]*"/g, "")
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\{([^}]*)\}/g, (_, matchers: string) => (take([...matchers.matchAll(/(\w+)\s*[=!]/g)]), ""))
    .replaceAll(MODIFIER, (_, list: string) => (take([...list.matchAll(/(\w+)/g)]), ""))
    .match(/\b[a-zA-Z_:][\w:]*\b(?!\s*\()/g)
  return { metrics: (names ?? []).filter((name) => !KEYWORDS.has(name)), labels }
}

/** Returns the problems of the names in expressions: metrics and labels that the server does not export. */
export const unknownNames = (exprs: ReadonlyArray<string>): ReadonlyArray<string> => {
  const exported = exportedSeries()
  return exprs.flatMap((expr) => {
    const { labels, metrics } = namesIn(expr)
    const known = new Set([...LABELS_OF_TARGETS, ...metrics.flatMap((metric) => exported.get(metric) ?? [])])
    return [
      ...metrics.filter((metric) => !exported.has(metric)).map((metric) => `no metric ${metric}`),
      ...labels.filter((label) => !known.has(label)).map((label) => `no label ${label}`)
    ].map((problem) => `the server exports ${problem}: ${expr}`)
  })
}
