import { OperationStep, type OperationSteps } from "@agentos/core"
import { Effect, Schema } from "effect"
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/**
 * Operations that are held at a step, by the nonce of their authorization in lower case. One that is held until it is
 * released continues once its entry is removed.
 */
export type Holds = Readonly<
  Record<string, { readonly step: OperationStep; readonly until: "killed" | "released" } | undefined>
>

/** One line of the log of operations that were held. */
const HeldLine = Schema.Struct({ step: OperationStep, nonce: Schema.String })
type HeldLine = typeof HeldLine.Type

/** The files through which a test and its servers communicate. */
export interface StepFiles {
  readonly holds: string
  readonly held: string
}

const readHolds = (path: string): Holds => JSON.parse(readFileSync(path, "utf8")) as Holds
const decodeHeld = Schema.decodeUnknownSync(Schema.fromJsonString(HeldLine))
const HELD_MILLIS_MAX = 40_000
const POLL_MILLIS = 50
/** Steps that the server's own job reaches after the client was answered. */
const JOB_STEPS: ReadonlySet<string> = new Set(["refund_owed", "before_refund", "after_refund", "refunded"])

/** The server's side: holds operations at their steps, and logs each. */
export const holdingSteps = (
  { held, holds }: StepFiles,
  doomed = new Set<string>()
): (typeof OperationSteps)["Service"] => {
  const entryOf = (nonce: string) => readHolds(holds)[nonce]
  return (step, operation) =>
    Effect.gen(function* () {
      const nonce = operation.proof.nonce.toLowerCase()
      // Another worker of this process may take the operation over, at any step. A dead process does nothing more.
      if (doomed.has(nonce)) return yield* Effect.never
      const entry = entryOf(nonce)
      if (entry?.step !== step) return
      // Written synchronously, because the test may kill this process as soon as it has read the line.
      appendFileSync(held, `${JSON.stringify({ step, nonce } satisfies HeldLine)}\n`)
      if (entry.until === "killed") {
        doomed.add(nonce)
        return yield* Effect.never
      }
      while (entryOf(nonce)?.step === step) yield* Effect.sleep(POLL_MILLIS)
    })
}

/** The test's side: decides which operations are held, and waits for them. */
export class StepGate {
  readonly files: StepFiles

  constructor(directory: string) {
    this.files = { holds: join(directory, "holds.json"), held: join(directory, "held.log") }
    writeFileSync(this.files.held, "")
    this.set({})
  }

  /** Replaces the holds. */
  set(holds: Holds): void {
    // Servers must not read half a file.
    writeFileSync(`${this.files.holds}.new`, JSON.stringify(holds))
    renameSync(`${this.files.holds}.new`, this.files.holds)
  }

  #held(): ReadonlyArray<HeldLine> {
    const text = readFileSync(this.files.held, "utf8")
    const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n")
    return lines.filter((line) => line !== "").map((line) => decodeHeld(line))
  }

  /** Waits until every operation is held at its step. */
  async untilHeld(expected: Holds): Promise<void> {
    const deadline = performance.now() + HELD_MILLIS_MAX
    for (;;) {
      const held = new Set(this.#held().map(({ nonce, step }) => `${nonce} at ${step}`))
      const missing = Object.entries(expected)
        .map(([nonce, hold]) => `${nonce} at ${hold?.step}`)
        .filter((name) => !held.has(name))
      if (missing.length === 0) return
      if (performance.now() > deadline) throw new Error(`operations did not reach their step: ${missing.join(", ")}`)
      await sleep(POLL_MILLIS)
    }
  }

  /** Returns whether an operation reaches a step before its client has finished. */
  async reaches(nonce: string, step: OperationStep, client: Promise<unknown>): Promise<boolean> {
    let isFinished = false
    const finish = () => (isFinished = true)
    client.then(finish, finish)
    const deadline = performance.now() + HELD_MILLIS_MAX
    for (;;) {
      const wasFinished = isFinished
      if (this.#held().some((line) => line.nonce === nonce && line.step === step)) return true
      if (performance.now() > deadline || (wasFinished && !JOB_STEPS.has(step))) return false
      await sleep(POLL_MILLIS)
    }
  }
}
