import { EventPolicy } from "@agentos/core"
import { Effect } from "effect"
import { storeClock } from "../ClockOffset.ts"
import { Database } from "../Database.ts"

/** The services that all statements on events use. */
export const makeEventDatabase = Effect.gen(function* () {
  return { ...(yield* Database), ...(yield* storeClock), policy: yield* EventPolicy }
})

export type EventDatabase = Effect.Success<typeof makeEventDatabase>
