import { Context, type Effect } from "effect"

/** The metrics of one process, in the text format of Prometheus. */
export interface WorkerMetricsText {
  /** The number of the process among those of its server, from 1 on. */
  readonly worker: number
  readonly text: string
}

/**
 * Reads the metrics of every process that serves the same port as this one, its own included; undefined where it serves
 * alone. A process that does not answer is left out.
 */
export const WorkerMetrics = Context.Reference<Effect.Effect<ReadonlyArray<WorkerMetricsText>> | undefined>(
  "@agentos/http-server/WorkerMetrics",
  { defaultValue: () => undefined }
)

const FAMILY = /^# (?:HELP|TYPE) (\S+)/
/** The name of a sample, and its labels if it has some. */
const SAMPLE = /^([^\s{]+)(?:\{(.*)\})? (.*)$/

interface Family {
  /** HELP and TYPE, which are the same in every worker. */
  readonly comments: Set<string>
  readonly samples: Array<string>
}

/**
 * Combines the texts. Each sample gets the label `worker`; the samples of a metric stay together, below one description.
 */
export const mergeWorkerMetrics = (workers: ReadonlyArray<WorkerMetricsText>): string => {
  const families = new Map<string, Family>()
  for (const { text, worker } of workers) {
    let family: Family = { comments: new Set(), samples: [] }
    for (const line of text.split("\n")) {
      const name = FAMILY.exec(line)?.[1]
      if (name !== undefined) {
        family = families.get(name) ?? { comments: new Set(), samples: [] }
        families.set(name, family)
        family.comments.add(line)
        continue
      }
      const sample = SAMPLE.exec(line)
      if (sample === null) continue
      const [, id, labels, value] = sample
      family.samples.push(`${id}{worker="${worker}"${labels === undefined ? "" : `,${labels}`}} ${value}`)
    }
  }
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments, ...samples])
  return lines.map((line) => `${line}\n`).join("")
}
