import { Context, type Effect, Schema } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"

/** What an operator may do. Each role includes those before it. */
export const OperatorRole = Schema.Literals(["read", "support", "money"])
export type OperatorRole = typeof OperatorRole.Type

/** A person or program that operates the service, with a token of its own. */
export interface Operator {
  readonly name: string
  readonly role: OperatorRole
  /** SHA-256 of the token, in hex. The token is random, so it can't be guessed from that. */
  readonly tokenDigest: string
  readonly createdAt: Timestamp
  /** When the token ends; null for one that does not. */
  readonly expiresAt: Timestamp | null
}

/** The port that stores operators. */
export class OperatorStore extends Context.Service<
  OperatorStore,
  {
    /** Returns the operators in ascending order of their names. */
    readonly list: Effect.Effect<ReadonlyArray<Operator>>
    /** Stores an operator. Returns false, and stores nothing, if one has the name. */
    readonly add: (operator: Operator) => Effect.Effect<boolean>
    /** Replaces the token and its end. Returns false if no operator has the name. */
    readonly rotate: (name: string, token: Pick<Operator, "tokenDigest" | "expiresAt">) => Effect.Effect<boolean>
    /** Removes an operator. Returns false if none has the name. */
    readonly remove: (name: string) => Effect.Effect<boolean>
  }
>()("@agentos/core/operator/OperatorStore") {}
