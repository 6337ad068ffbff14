import { EventSignal } from "@agentos/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"

export const layer: Layer.Layer<EventSignal, never, Database> = Layer.effect(
  EventSignal,
  Effect.map(Database, ({ announcements }) => EventSignal.of({ listen: announcements.listen }))
)
