import { setTimeout as sleep } from "node:timers/promises"
import type { OpenDatabase } from "../support/ClusterDatabase.ts"
import { countOpen } from "./LeaseAudit.ts"

const LOOK_MILLIS = 250

/** Looks again and again how much there is left to do for the clients. */
export class Watch {
  #open = 0
  readonly #database: OpenDatabase
  readonly #over = new AbortController()
  readonly #looking: Promise<void>

  constructor(database: OpenDatabase) {
    this.#database = database
    this.#looking = this.#look()
  }

  /** Events that were neither acknowledged nor over in another way when it last looked. */
  get open(): number {
    return this.#open
  }

  /** Whether it became so within the time; `open` is looked up before each time that this is asked. */
  async until(condition: (open: number) => boolean, millis: number): Promise<boolean> {
    const deadline = performance.now() + millis
    for (;;) {
      if (condition(await countOpen(this.#database))) return true
      if (performance.now() > deadline) return false
      await sleep(LOOK_MILLIS)
    }
  }

  async stop(): Promise<void> {
    this.#over.abort()
    await this.#looking
  }

  async #look(): Promise<void> {
    while (!this.#over.signal.aborted) {
      this.#open = await countOpen(this.#database)
      await sleep(LOOK_MILLIS, undefined, { signal: this.#over.signal }).catch(() => undefined)
    }
  }
}
