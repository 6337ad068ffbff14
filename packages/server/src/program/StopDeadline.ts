import { Effect } from "effect"
import { logOf } from "../output/ProgramOutput.ts"

/** In milliseconds. Requests may take 6 s of it. */
const STOP_WITHIN = 11_000

/** Ends a process that was told to stop and does not. */
export class StopDeadline {
  readonly #worker: number | undefined
  #part = "the start"
  #timer: NodeJS.Timeout | undefined

  constructor(worker: number | undefined) {
    this.#worker = worker
  }

  /** Ends the process in 11 s, unless `clear` is called before. */
  readonly begin = (): void => {
    this.#timer ??= setTimeout(this.#end, STOP_WITHIN)
  }

  /** A finalizer that says which part of the server stops next. */
  readonly stopping = (part: string) =>
    Effect.addFinalizer(() =>
      Effect.sync(() => {
        this.#part = part
        this.begin()
      })
    )

  readonly clear = (): void => clearTimeout(this.#timer)

  readonly #end = (): void => {
    const message = `the server did not stop within ${STOP_WITHIN / 1_000} s and is ended. Not finished: ${this.#part}`
    const resources = process.getActiveResourcesInfo()
    const entry = Effect.annotateLogs(Effect.logError(message), { resources: [...new Set(resources)].join(", ") })
    Effect.runSync(Effect.provide(entry, logOf({ worker: this.#worker })))
    process.exit(1)
  }
}
