import { Context, Duration, Effect, Layer, Option, Schema } from "effect"
import { Conflict, ResourceNotFound } from "../kernel/ResourceError.ts"
import { monotonicMillis } from "../kernel/Monotonic.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import { Transactor } from "../kernel/Transactor.ts"
import { recordChange } from "./Audit.ts"
import { type Operator, OperatorRole, OperatorStore } from "./OperatorStore.ts"

/** The operator whose token the configuration has. It needs no database, and has every role. */
export const DEFAULT_OPERATOR = "default"

/** How long a server may accept a token after its end on another server. Operators are promised 5 seconds. */
const CACHE_LIFETIME = Duration.toMillis("4 seconds")
/** How long a request waits for the store before the operators that were last known are used. */
const STORE_WAIT = Duration.seconds(1)
const EXPIRY_DAYS_MAX = 3_650

/** A name is part of audit records and of paths. */
export const OperatorName = Schema.String.check(
  Schema.isPattern(/^(?!default$)[a-z0-9][a-z0-9._-]{0,62}$/, {
    expected: `up to 63 lower-case letters, digits, dots, hyphens and underscores, and not ${DEFAULT_OPERATOR}`
  })
)

const expiresInDays = Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: EXPIRY_DAYS_MAX })))

export const AddOperatorInput = Schema.Struct({ name: OperatorName, role: OperatorRole, expiresInDays })
export type AddOperatorInput = typeof AddOperatorInput.Type
export const RotateOperatorInput = Schema.Struct({ expiresInDays })
export type RotateOperatorInput = typeof RotateOperatorInput.Type

/** An operator in its wire format, without its token. */
export interface OperatorRecord extends Pick<Operator, "name" | "role"> {
  /** In ISO 8601. */
  readonly createdAt: string
  readonly expiresAt: string | null
}

const toRecord = ({ createdAt, expiresAt, name, role }: Operator): OperatorRecord => ({
  name,
  role,
  createdAt: Timestamp.toIso(createdAt),
  expiresAt: expiresAt === null ? null : Timestamp.toIso(expiresAt)
})

/** Returns whether an operator with a role may do what needs another one. */
export const includesRole = (role: OperatorRole, needed: OperatorRole): boolean =>
  OperatorRole.literals.indexOf(role) >= OperatorRole.literals.indexOf(needed)

/** The operators and their tokens. */
export class Operators extends Context.Service<
  Operators,
  {
    /**
     * Returns the operator with the token of this digest, unless the token has ended. Reads the store at most once in 4
     * seconds, and uses its last answer while it does not answer.
     */
    readonly authenticate: (tokenDigest: string) => Effect.Effect<Option.Option<Operator>>
    readonly list: Effect.Effect<ReadonlyArray<OperatorRecord>>
    /** Adds an operator. Fails with `Conflict` if its name is taken. */
    readonly add: (input: AddOperatorInput, tokenDigest: string) => Effect.Effect<OperatorRecord, Conflict>
    /** Replaces the token of an operator. Every server refuses the old one within 5 s. */
    readonly rotate: (
      name: string,
      input: RotateOperatorInput,
      tokenDigest: string
    ) => Effect.Effect<OperatorRecord, ResourceNotFound>
    /** Removes an operator. Every server refuses its token within 5 s. */
    readonly remove: (name: string) => Effect.Effect<OperatorRecord, ResourceNotFound>
  }
>()("@agentos/core/operator/Operators") {
  static readonly layer = Layer.effect(
    Operators,
    Effect.gen(function* () {
      const store = yield* OperatorStore
      const { transact } = yield* Transactor
      let known: ReadonlyArray<Operator> = []
      let knownUntil = 0
      let changes = 0
      const current = Effect.gen(function* () {
        const now = yield* monotonicMillis
        if (now < knownUntil) return known
        const before = changes
        const read = yield* store.list.pipe(
          Effect.timeout(STORE_WAIT),
          Effect.catchCause(() => Effect.succeed(known))
        )
        // A read that began before a change does not know it. A silent store is asked again in 4 seconds.
        if (before === changes) {
          known = read
          knownUntil = now + CACHE_LIFETIME
        }
        return read
      })
      const forget = Effect.sync(() => {
        changes++
        knownUntil = 0
      })

      const expiryOf = ({ expiresInDays: days }: RotateOperatorInput) =>
        days === undefined
          ? Effect.succeed(null)
          : Effect.map(Timestamp.now, (now) => Timestamp.add(now, days * Timestamp.DAY))

      const find = Effect.fnUntraced(function* (name: string) {
        const found = (yield* store.list).find((operator) => operator.name === name)
        return found ?? (yield* new ResourceNotFound({ kind: "operator", id: name }))
      })
      /** Fails if another operator has removed it since it was found. */
      const requireChanged = (name: string, isChanged: boolean) =>
        isChanged ? Effect.void : Effect.fail(new ResourceNotFound({ kind: "operator", id: name }))

      return Operators.of({
        authenticate: Effect.fnUntraced(function* (tokenDigest) {
          const operator = (yield* current).find((candidate) => candidate.tokenDigest === tokenDigest)
          if (operator === undefined) return Option.none()
          const isOver = operator.expiresAt !== null && operator.expiresAt <= (yield* Timestamp.now)
          return isOver ? Option.none() : Option.some(operator)
        }),
        list: Effect.map(store.list, (operators) => operators.map(toRecord)),
        add: Effect.fnUntraced(function* ({ name, role, ...expiry }, tokenDigest) {
          const [createdAt, expiresAt] = [yield* Timestamp.now, yield* expiryOf(expiry)]
          const operator = { name, role, tokenDigest, createdAt, expiresAt }
          const added = transact(
            Effect.gen(function* () {
              if (!(yield* store.add(operator))) {
                return yield* new Conflict({
                  message: `The operator ${name} exists. Rotate its token, or choose another name.`
                })
              }
              yield* recordChange(null, toRecord(operator))
              return toRecord(operator)
            })
          )
          return yield* Effect.tap(added, () => forget)
        }),
        rotate: Effect.fnUntraced(function* (name, input, tokenDigest) {
          const expiresAt = yield* expiryOf(input)
          const rotated = transact(
            Effect.gen(function* () {
              const before = yield* find(name)
              yield* requireChanged(name, yield* store.rotate(name, { tokenDigest, expiresAt }))
              const after = toRecord({ ...before, expiresAt })
              yield* recordChange(toRecord(before), after)
              return after
            })
          )
          return yield* Effect.tap(rotated, () => forget)
        }),
        remove: (name) =>
          transact(
            Effect.gen(function* () {
              const before = toRecord(yield* find(name))
              yield* requireChanged(name, yield* store.remove(name))
              yield* recordChange(before, null)
              return before
            })
          ).pipe(Effect.tap(() => forget))
      })
    })
  )
}
