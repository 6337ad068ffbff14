import type { Variable } from "./Variables.ts"

/** The variables that set the options which other packages name in messages to the operator. */
const VARIABLES: Readonly<Record<string, ReadonlyArray<Variable>>> = {
  keys: ["AGENTOS_KEYS"],
  operatorToken: ["AGENTOS_OPERATOR_TOKEN"],
  signInOrigins: ["AGENTOS_SIGN_IN_ORIGINS"],
  maxConnections: ["AGENTOS_DATABASE_POOL"],
  hostName: ["AGENTOS_SMTP_NAME", "AGENTOS_EMAIL_DOMAIN"]
}

/** Returns the variable that sets an option, as `SettingName` of the core. */
export const variableOf = (option: string): string => VARIABLES[option]?.join(" or ") ?? option
