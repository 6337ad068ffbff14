import { Context, type Effect } from "effect"

/** Checks everything on which this server depends, for operators: a JSON document. Undefined where no host offers that. */
export const Doctor = Context.Reference<Effect.Effect<unknown> | undefined>("@agentos/http-server/Doctor", {
  defaultValue: () => undefined
})
