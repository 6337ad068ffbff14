import { closest, distance } from "fastest-levenshtein"
import { MAIL_VARIABLES } from "./MailVariables.ts"
import { QUOTA_VARIABLES } from "./QuotaVariables.ts"
import { SERVER_VARIABLES } from "./ServerVariables.ts"
import type { VariableSpec } from "./Variable.ts"

/** The environment variables of a server, in the order of the documents within each group. */
export const VARIABLES = { ...SERVER_VARIABLES, ...MAIL_VARIABLES, ...QUOTA_VARIABLES }

export type Variable = keyof typeof VARIABLES
type Specs = typeof VARIABLES

export type VariableOf<Kind extends VariableSpec["kind"]> = {
  [Name in Variable]: Specs[Name] extends { readonly kind: Kind } ? Name : never
}[Variable]

/** The default of a variable, as the type of its values: without one, undefined. */
export type FallbackOf<Name extends Variable, Value> = Specs[Name] extends { readonly default: Value }
  ? Value
  : Value | undefined

export type ChoiceOf<Name extends VariableOf<"choice">> = Specs[Name]["values"][number]

/** The declarations by name, for code that treats every variable alike. */
export const ALL_VARIABLES: ReadonlyArray<readonly [name: Variable, spec: VariableSpec]> = Object.entries(
  VARIABLES
) as ReadonlyArray<readonly [Variable, VariableSpec]>

export type Environment = Readonly<Record<string, string | undefined>>

const PREFIX = "AGENTOS_"
const NAMES = Object.keys(VARIABLES).filter((name) => name.startsWith(PREFIX))
/** The sandbox passes its own environment on to its servers. */
const SANDBOX_PREFIX = "AGENTOS_SANDBOX_"
/** A name counts as a misspelling of another if at most this fraction of its letters after the prefix differs. */
const MISSPELT_PART = 1 / 3

/**
 * Returns a sentence for each `AGENTOS_*` variable that a server does not read, with the name that was probably meant.
 */
export const unknownVariables = (environment: Environment): ReadonlyArray<string> => {
  const known: ReadonlySet<string> = new Set(NAMES)
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !name.startsWith(SANDBOX_PREFIX) && !known.has(name))
    .map((name) => {
      const nearest = closest(name, NAMES)
      const edits = (name.length - PREFIX.length) * MISSPELT_PART
      const hint = distance(name, nearest) <= edits ? ` Did you mean ${nearest}?` : ""
      return `${name} is not a setting of the server and has no effect.${hint}`
    })
}

/** The variables that set the options which other packages name in messages to the operator. */
const OPTION_VARIABLES: Readonly<Record<string, ReadonlyArray<Variable>>> = {
  keys: ["AGENTOS_KEYS"],
  operatorToken: ["AGENTOS_OPERATOR_TOKEN"],
  signInOrigins: ["AGENTOS_SIGN_IN_ORIGINS"],
  maxConnections: ["AGENTOS_DATABASE_POOL"],
  hostName: ["AGENTOS_SMTP_NAME", "AGENTOS_EMAIL_DOMAIN"]
}

/** Returns the variable that sets an option, as `SettingName` of the core. */
export const variableOf = (option: string): string => OPTION_VARIABLES[option]?.join(" or ") ?? option
