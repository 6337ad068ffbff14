import { setFlagsFromString } from "node:v8"
import { Effect } from "effect"
import { logOf } from "../output/ProgramOutput.ts"

/** In milliseconds. Requests may take 6 s of it. */
const STOP_WITHIN = 11_000

/**
 * The compilers that run beside the event loop. `process.exit` of Node 24 and 26 waits for their threads, and for ever if one
 * of them waits for a garbage collection, which takes a turn of the event loop: https://github.com/nodejs/node/issues/64274
 */
const COMPILERS = ["maglev", "turbofan", "concurrent-sparkplug"]

/** Ends a process that was told to stop and does not. */
export class StopDeadline {
  readonly #worker: number | undefined
  #part = "the start"
  #timer: NodeJS.Timeout | undefined

  constructor(worker: number | undefined) {
    this.#worker = worker
  }

  /**
   * Ends the process in 11 s. Starts no further compilation until then: those that have begun are over long before a graceful
   * stop is.
   */
  readonly begin = (): void => {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(this.#end, STOP_WITHIN)
    for (const compiler of COMPILERS) setFlagsFromString(`--no-${compiler}`)
  }

  /** A finalizer that says which part of the server stops next. */
  readonly stopping = (part: string) =>
    Effect.addFinalizer(() =>
      Effect.sync(() => {
        this.#part = part
        this.begin()
      })
    )

  readonly #end = (): void => {
    const message = `the server did not stop within ${STOP_WITHIN / 1_000} s and is ended. Not finished: ${this.#part}`
    const resources = process.getActiveResourcesInfo()
    const entry = Effect.annotateLogs(Effect.logError(message), { resources: [...new Set(resources)].join(", ") })
    Effect.runSync(Effect.provide(entry, logOf({ worker: this.#worker })))
    process.exit(1)
  }
}
