import { Failure } from "../failure/Failure.ts"

/** The properties that have a value: what was not given is not sent. */
export const given = <const Values extends Readonly<Record<string, unknown>>>(
  values: Values
): { -readonly [Name in keyof Values]?: Exclude<Values[Name], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    -readonly [Name in keyof Values]?: Exclude<Values[Name], undefined>
  }

/** The value of a flag that a command can't do without. Throws the usage failure that names it. */
export const needed = (value: string | undefined, flag: string, command: string): string => {
  if (value !== undefined && value !== "") return value
  throw new Failure({
    code: "USAGE",
    message: `--${flag} is missing.`,
    next: [`agentctl ${command} --help`]
  })
}
