/** @typedef {{ readonly name: string, readonly labels: Readonly<Record<string, string>>, readonly value: number }} Sample */

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** Reads the text format of Prometheus. @param {string} text @returns {ReadonlyArray<Sample>} */
export const samplesOf = (text) =>
  text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = SAMPLE.exec(line) ?? []
    if (name === undefined || value === undefined) return []
    return [
      {
        name,
        labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, label = "", text = ""]) => [label, text])),
        value: value === "+Inf" ? Infinity : Number(value)
      }
    ]
  })

/**
 * The sum of the samples of a metric; undefined if the server has none.
 * @param {ReadonlyArray<Sample>} samples
 * @param {string} name
 * @param {Readonly<Record<string, string>>} [labels]
 */
export const sumOf = (samples, name, labels = {}) => {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

/**
 * The calls of providers by port and method, with those that did not succeed.
 * @param {ReadonlyArray<Sample>} samples
 */
export const providerCalls = (samples) => {
  /** @type {Map<string, { port: string, method: string, calls: number, failed: number, unknown: number, seconds: number }>} */
  const rows = new Map()
  /** @param {Sample} sample */
  const rowOf = ({ labels: { method = "", port = "" } }) => {
    const key = `${port} ${method}`
    const row = rows.get(key) ?? { port, method, calls: 0, failed: 0, unknown: 0, seconds: 0 }
    rows.set(key, row)
    return row
  }
  for (const sample of samples) {
    if (sample.name === "agentos_provider_calls_total") {
      const row = rowOf(sample)
      row.calls += sample.value
      if (sample.labels["outcome"] === "unknown") row.unknown += sample.value
      else if (sample.labels["outcome"] !== "success") row.failed += sample.value
    }
    if (sample.name === "agentos_provider_call_duration_seconds_sum") rowOf(sample).seconds += sample.value
  }
  return [...rows.values()].filter(({ calls }) => calls > 0)
}
