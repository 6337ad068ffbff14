import { OperationStep, type OperationSteps } from "@agentos/core"
import { Effect, Schema } from "effect"
import { appendFileSync, readFileSync } from "node:fs"

/**
 * Which operations are stopped where, by the nonces of their authorizations (lower case), which a client knows
 * before it pays. One that is stopped `until` it is killed never goes on; one `until` it is released goes on
 * once it is no longer in the file.
 */
export const ArmedFile = Schema.Record(
  Schema.String,
  Schema.Struct({ step: OperationStep, until: Schema.Literals(["killed", "released"]) })
)
export type ArmedFile = typeof ArmedFile.Type

/** A line of the log of operations that were stopped. */
export const ParkedLine = Schema.Struct({
  pid: Schema.Int,
  step: OperationStep,
  nonce: Schema.String,
  operationId: Schema.String
})
export type ParkedLine = typeof ParkedLine.Type

/** The environment variables that name the two files. */
export const ARMED_VARIABLE = "AGENTOS_CRASH_ARMED"
export const PARKED_VARIABLE = "AGENTOS_CRASH_PARKED"

const decodeArmed = Schema.decodeUnknownSync(Schema.fromJsonString(ArmedFile))
const RELEASE_POLL = "50 millis"

/**
 * Stops the operations that the armed file names, each at its step, and writes down that it did. Whoever else in this
 * process takes up one that waits to be killed is stopped too, at whichever step comes next: a dead process does
 * nothing more.
 */
export const parkingSteps =
  (armedPath: string, parkedPath: string, doomed = new Set<string>()): (typeof OperationSteps)["Service"] =>
  (step, operation) =>
    Effect.gen(function* () {
      const nonce = operation.proof.nonce.toLowerCase()
      if (doomed.has(nonce)) return yield* Effect.never
      const entry = decodeArmed(readFileSync(armedPath, "utf8"))[nonce]
      if (entry?.step !== step) return
      const line: ParkedLine = { pid: process.pid, step, nonce, operationId: operation.operationId }
      // In one write, which is done when the call returns: whoever reads it may kill this process at once.
      appendFileSync(parkedPath, `${JSON.stringify(line)}\n`)
      if (entry.until === "killed") {
        doomed.add(nonce)
        return yield* Effect.never
      }
      while (decodeArmed(readFileSync(armedPath, "utf8"))[nonce]?.step === step) yield* Effect.sleep(RELEASE_POLL)
    })
