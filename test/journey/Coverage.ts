import { readFileSync } from "node:fs"
import type { Profiler } from "node:inspector"
import { relative } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { Inspector } from "../support/Inspector.ts"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))
/** The sources of the product. */
const PRODUCT = /^packages\/(?!sandbox\/)[^/]+\/src\/(?!generated\/)/

/** Work that the server does on its own, such as polling, repeats at least this often. */
const IDLE_MILLIS = 600
const IDLE_ROUNDS = 3

/** A function of the product, and how often a journey called it. */
export interface EnteredFunction {
  /** Relative to the repository. */
  readonly file: string
  readonly line: number
  /** Empty for a function without a name. */
  readonly name: string
  readonly calls: number
}

/** Counts calls of functions of an inspected process by V8's precise coverage. */
export class Coverage {
  private readonly inspector: Inspector
  /** The functions that the process calls on its own. */
  private readonly idle = new Set<string>()
  private readonly sources = new Map<string, string>()

  private constructor(inspector: Inspector) {
    this.inspector = inspector
  }

  /** Begins to count, and finds the functions that an idle process calls, which no journey includes. */
  static async start(inspector: Inspector): Promise<Coverage> {
    const coverage = new Coverage(inspector)
    await inspector.ask("Profiler.enable")
    await inspector.ask("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
    return coverage
  }

  /** Adds the functions that the process calls while it has no work. */
  async learnIdle(): Promise<void> {
    await this.take()
    for (let round = 0; round < IDLE_ROUNDS; round++) {
      await sleep(IDLE_MILLIS)
      for (const id of (await this.take()).keys()) this.idle.add(id)
    }
  }

  /** Returns the functions that the process calls during the work, in the order of their places. */
  async during(work: () => Promise<unknown>): Promise<ReadonlyArray<EnteredFunction>> {
    await this.take()
    await work()
    const entered = [...(await this.take())].flatMap(([id, entry]) => (this.idle.has(id) ? [] : [entry]))
    return entered.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line)
  }

  /** Returns the functions called since the last time. */
  private async take(): Promise<ReadonlyMap<string, EnteredFunction>> {
    const { result } = (await this.inspector.ask("Profiler.takePreciseCoverage")) as {
      readonly result: ReadonlyArray<Profiler.ScriptCoverage>
    }
    const entered = new Map<string, EnteredFunction>()
    for (const { functions, url } of result) {
      if (!url.startsWith("file:")) continue
      const file = relative(ROOT, fileURLToPath(url))
      if (!PRODUCT.test(file)) continue
      for (const { functionName: name, ranges } of functions) {
        const { count: calls, startOffset } = ranges[0]!
        if (calls > 0)
          entered.set(`${file}:${startOffset}`, { file, line: this.lineOf(file, startOffset), name, calls })
      }
    }
    return entered
  }

  /** Removing types does not move code, so positions are those of the source. */
  private lineOf(file: string, offset: number): number {
    const source = this.sources.get(file) ?? readFileSync(ROOT + file, "utf8")
    this.sources.set(file, source)
    return source.slice(0, offset).split("\n").length
  }
}
