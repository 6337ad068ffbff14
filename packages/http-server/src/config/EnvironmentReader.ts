/** Variables by their names. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Reads one variable after the other, and gathers what is wrong with them. */
export class EnvironmentReader {
  readonly issues: Array<string> = []
  private readonly environment: Environment

  constructor(environment: Environment) {
    this.environment = environment
  }

  text(name: string): string | undefined {
    const value = this.environment[name]?.trim()
    return value === "" ? undefined : value
  }

  required(name: string, why: string): string {
    const value = this.text(name)
    if (value === undefined) this.issues.push(`${name} is missing: ${why}`)
    return value ?? ""
  }

  port(name: string, fallback: number): number {
    return this.integer(name, 0, 65_535) ?? fallback
  }

  integer(name: string, minimum: number, maximum: number): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= minimum && number <= maximum) return number
    this.issues.push(`${name} must be a whole number from ${minimum} to ${maximum}`)
    return undefined
  }

  oneOf<const Value extends string>(name: string, values: ReadonlyArray<Value>, fallback: Value): Value {
    const value = this.text(name)
    if (value === undefined) return fallback
    const found = values.find((candidate) => candidate === value)
    if (found === undefined) this.issues.push(`${name} must be one of ${values.join(", ")}`)
    return found ?? fallback
  }
}
