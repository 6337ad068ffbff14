import { Effect } from "effect"
import { ResourceNotFound, ResourceNotOwned, type ResourceKind } from "./ResourceError.ts"

/** The result of a tenant's lookup by id: its own resource, another tenant's (only that it exists), or nothing. */
export type Lookup<A> =
  | { readonly _tag: "Owned"; readonly value: A }
  | { readonly _tag: "Foreign" }
  | { readonly _tag: "Missing" }

export const owned = <A>(value: A): Lookup<A> => ({ _tag: "Owned", value })
export const foreign: Lookup<never> = { _tag: "Foreign" }
export const missing: Lookup<never> = { _tag: "Missing" }

/** Returns what a tenant finds: its own resource, another tenant's, or nothing. */
export const of = <A extends { readonly tenantId: string }>(found: A | undefined, tenantId: string): Lookup<A> => {
  if (found === undefined) return missing
  return found.tenantId === tenantId ? owned(found) : foreign
}

export const map = <A, B>(lookup: Lookup<A>, to: (value: A) => B): Lookup<B> =>
  lookup._tag === "Owned" ? owned(to(lookup.value)) : lookup

/** Returns the owned resource, or fails with `ResourceNotOwned` or `ResourceNotFound`. */
export const orFail = <A>(
  lookup: Lookup<A>,
  kind: ResourceKind,
  id: string
): Effect.Effect<A, ResourceNotFound | ResourceNotOwned> => {
  switch (lookup._tag) {
    case "Owned":
      return Effect.succeed(lookup.value)
    case "Foreign":
      return Effect.fail(new ResourceNotOwned({ kind, id }))
    case "Missing":
      return Effect.fail(new ResourceNotFound({ kind, id }))
  }
}
