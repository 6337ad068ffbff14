/** One line of the Prometheus text format (version 0.0.4). */
export interface Sample {
  /** As written in the line: the names of a histogram end in `_bucket`, `_sum` and `_count`. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const TYPE_LINE = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary|untyped)$/
const HELP_LINE = /^# HELP ([a-zA-Z_:][\w:]*) .*$/
const SAMPLE_LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?)|[+-]Inf|NaN)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy

/** Parses the format strictly. Throws on the first line that is malformed, duplicated or outside its family. */
export const readMetrics = (text: string): ReadonlyArray<Sample> => {
  if (!text.endsWith("\n")) throw new Error("the last line has no end")
  const samples: Array<Sample> = []
  const families = new Set<string>()
  const lines = new Set<string>()
  let family = ""
  for (const line of text.slice(0, -1).split("\n")) {
    if (HELP_LINE.test(line)) continue
    const type = TYPE_LINE.exec(line)
    if (type !== null) {
      family = type[1]!
      if (families.has(family)) throw new Error(`${family} comes twice`)
      families.add(family)
      continue
    }
    const sample = SAMPLE_LINE.exec(line)
    if (sample === null) throw new Error(`not a line of the format: ${line}`)
    const [, name = "", labelText = "", value = ""] = sample
    if (name.replace(/_(?:bucket|sum|count)$/, "") !== family && name !== family) {
      throw new Error(`${name} stands under ${family}`)
    }
    const key = `${name}{${labelText}}`
    if (lines.has(key)) throw new Error(`${key} comes twice`)
    lines.add(key)
    samples.push({ name, labels: readLabels(labelText), value: Number(value.replace("Inf", "Infinity")) })
  }
  return samples
}

const readLabels = (text: string): Readonly<Record<string, string>> => {
  const found = [...text.matchAll(LABEL)]
  if (found.reduce((length, [all]) => length + all.length, 0) !== text.length) throw new Error(`not labels: ${text}`)
  return Object.fromEntries(found.map(([, name, value]) => [name, value]))
}
