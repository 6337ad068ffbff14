import { Effect, Predicate, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { TOKEN_PRESETS } from "./TokenPreset.ts"

const isPreset = (name: unknown): name is keyof typeof TOKEN_PRESETS =>
  typeof name === "string" && Object.hasOwn(TOKEN_PRESETS, name)

const invalid = (message: string) => Effect.fail(new SchemaIssue.InvalidValue({ message }))

/** The field of a preset that is only a default. */
const OVERRIDABLE = "smartAccounts"

/** Replaces the name of a preset with the token's fields. Returns any other input unchanged. */
const expand = (input: unknown): Effect.Effect<unknown, SchemaIssue.Issue> => {
  if (!Predicate.isObject(input) || !("preset" in input)) return Effect.succeed(input)
  const { preset, ...own } = input
  if (!isPreset(preset)) return invalid(`must have a preset of ${Object.keys(TOKEN_PRESETS).join(", ")}`)
  const token = TOKEN_PRESETS[preset]
  const twice = Object.keys(token).filter((key) => key in own && key !== OVERRIDABLE)
  return twice.length === 0
    ? Effect.succeed({ ...token, ...own })
    : invalid(`must not set ${twice.join(", ")}, because the preset ${preset} does`)
}

/**
 * Returns the schema of a network as an operator configures it: either a complete one, or one with `preset`, the
 * name of one of `TOKEN_PRESETS`, instead of network, asset, decimals, name and version.
 */
export const withPreset = <Network extends Schema.Constraint>(network: Network) =>
  Schema.Unknown.pipe(
    Schema.decodeTo(
      Schema.Unknown,
      SchemaTransformation.transformEffect({ decode: expand, encode: (configured) => Effect.succeed(configured) })
    ),
    Schema.decodeTo(network)
  )
