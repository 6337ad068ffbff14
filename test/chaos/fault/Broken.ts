import { EventSignal, EventStore } from "@agentos/core"
import type { Ports } from "@agentos/http-server/ServerProgram"
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"

/** One statement of the real stores, and what is said in place of parts of it. */
export interface Rewriting {
  /** By which the statement is known. */
  readonly statement: string
  readonly parts: ReadonlyArray<readonly [part: string, becomes: string]>
}

/** Runs a program whose stores say something else to the database in one statement. Dies when that no longer has the parts. */
export const rewriting = <A, E, R>(program: Effect.Effect<A, E, R>, { parts, statement }: Rewriting) =>
  Effect.provideService(program, Statement.CurrentTransformer, (self, sql) => {
    const [text, parameters] = self.compile()
    if (!text.includes(statement)) return Effect.succeed(self)
    if (!parts.every(([part]) => text.includes(part))) {
      return Effect.die(new Error(`the statement that is to be broken has changed: ${text}`))
    }
    const broken = parts.reduce((rewritten, [part, becomes]) => rewritten.replaceAll(part, becomes), text)
    return Effect.succeed(sql.unsafe(broken, parameters))
  })

/** The real server's ports, with events that break their promise. */
export const aroundEvents =
  (broken: (store: EventStore["Service"]) => EventStore["Service"]) =>
  (ports: Ports): Ports =>
    Layer.effect(EventStore, Effect.map(EventStore, broken)).pipe(Layer.provideMerge(ports))

/** The real server's ports, with a signal that never comes. */
export const withoutSignal = (ports: Ports): Ports =>
  Layer.succeed(EventSignal, { listen: () => Effect.void }).pipe(Layer.provideMerge(ports))
