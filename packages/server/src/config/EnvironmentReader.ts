import { settingIssues } from "@agentos/core"
import { Option, Result, Schema } from "effect"
import type { VariableSpec } from "../variable/Variable.ts"
import {
  type ChoiceOf,
  type Environment,
  type FallbackOf,
  type Variable,
  type VariableOf,
  VARIABLES
} from "../variable/Variables.ts"

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** Reads variables by their declarations and collects all problems with them. */
export class EnvironmentReader {
  readonly issues: Array<string> = []
  readonly isSandbox: boolean
  private readonly environment: Environment

  constructor(environment: Environment) {
    this.environment = environment
    this.isSandbox = environment["AGENTOS_ENVIRONMENT"]?.trim() === "sandbox"
  }

  /** Returns the value of the environment, without the default. */
  given(name: Variable): string | undefined {
    const value = this.environment[name]?.trim()
    return value === "" ? undefined : value
  }

  text<const Name extends VariableOf<"text">>(name: Name): FallbackOf<Name, string> {
    const spec: VariableSpec & { readonly default?: string } = VARIABLES[name]
    return (this.given(name) ?? spec.default) as FallbackOf<Name, string>
  }

  /** Reads a variable that must be set, by its declaration or because of another one: `meaning` continues "Set it to". */
  required(name: Variable, meaning?: string): string {
    const { required = meaning }: VariableSpec = VARIABLES[name]
    const value = this.given(name)
    if (value === undefined) this.issues.push(`${name} is missing. Set it to ${required}`)
    return value ?? ""
  }

  /** Reads variables that are valid only together. */
  together<const Names extends ReadonlyArray<Variable>>(
    ...names: Names
  ): { readonly [Place in keyof Names]: string } | undefined {
    const missing = names.filter((name) => this.given(name) === undefined)
    if (missing.length === 0)
      return names.map((name) => this.given(name)) as unknown as { readonly [Place in keyof Names]: string }
    if (missing.length < names.length) {
      const all = `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`
      this.issues.push(
        `${all} must be set together; ${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} missing`
      )
    }
    return undefined
  }

  integer<const Name extends VariableOf<"integer">>(name: Name): FallbackOf<Name, number> {
    const spec: VariableSpec & { readonly kind: "integer" } = VARIABLES[name]
    const { default: production, maximum, minimum, sandboxDefault = production } = spec
    const fallback = (this.isSandbox ? sandboxDefault : production) as FallbackOf<Name, number>
    const value = this.given(name)
    if (value === undefined) return fallback
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= minimum && number <= maximum) return number as FallbackOf<Name, number>
    this.issues.push(`${name} must be a whole number from ${minimum} to ${maximum}`)
    return fallback
  }

  /** Decodes a variable that contains JSON. */
  json<A>(name: VariableOf<"json">, schema: Schema.Codec<A, unknown>): Option.Option<A> {
    const value = this.given(name)
    if (value === undefined) return Option.none()
    const parsed = parseJson(value)
    if (Option.isNone(parsed)) {
      this.issues.push(`${name} must be JSON`)
      return Option.none()
    }
    const decoded = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })(parsed.value)
    if (Result.isSuccess(decoded)) return Option.some(decoded.success)
    this.issues.push(...settingIssues(name, decoded.failure.issue))
    return Option.none()
  }

  choice<const Name extends VariableOf<"choice">>(name: Name): ChoiceOf<Name> {
    const spec: VariableSpec & { readonly kind: "choice" } = VARIABLES[name]
    const value = this.given(name) ?? spec.default
    if (spec.values.includes(value)) return value as ChoiceOf<Name>
    this.issues.push(`${name} must be one of ${spec.values.join(", ")}`)
    return spec.default as ChoiceOf<Name>
  }
}
