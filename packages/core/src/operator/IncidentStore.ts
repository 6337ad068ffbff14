import { Context, type Effect } from "effect"
import type { Incident } from "./Incident.ts"

/** The port that stores incidents, of which there are few. */
export class IncidentStore extends Context.Service<
  IncidentStore,
  {
    /** Returns all of them, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Incident>>
    /** Stores an incident, in place of the one of its kind and subject. */
    readonly put: (incident: Incident) => Effect.Effect<void>
    /** Removes the incident of this kind and subject, if there is one. */
    readonly remove: (incident: Pick<Incident, "kind" | "subject">) => Effect.Effect<void>
  }
>()("@agentos/core/operator/IncidentStore") {}
