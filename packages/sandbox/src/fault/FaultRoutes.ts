import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { HttpRefusal, ok, type Outcome, readJson, type Routes } from "../http/JsonServer.ts"
import { type FaultPlan, faultSchema } from "./FaultPlan.ts"

/**
 * How a test rules a plan of faults over HTTP: POST /sandbox/faults `{operation, mode, times, only}` plans one (times is
 * 1 unless given; only may be left out), GET lists what is planned, DELETE clears it. Each answers `{faults}` as they
 * then are.
 */
export const faultRoutes = <Operation extends string>(
  plan: FaultPlan<Operation>,
  operations: ReadonlyArray<Operation>
): Routes => {
  const decode = Schema.decodeUnknownResult(faultSchema(operations), { onExcessProperty: "error" })
  const listed = (): Outcome => ok({ faults: plan.list() })
  return {
    "/sandbox/faults": {
      GET: async () => listed(),
      POST: async (request) => {
        const body = await readJson(request)
        const fault = decode(typeof body === "object" && body !== null ? { times: 1, ...body } : body)
        if (Result.isFailure(fault)) throw new HttpRefusal(400, String(fault.failure))
        plan.add(fault.success)
        return listed()
      },
      DELETE: async () => {
        plan.clear()
        return listed()
      }
    }
  }
}
