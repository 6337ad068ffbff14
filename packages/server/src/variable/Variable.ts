/** The sections of the documents, in their order. */
export const GROUPS = {
  server: "Server",
  database: "Database",
  payment: "Payment",
  mail: "Mail",
  telephone: "Telephone",
  quotas: "Quotas"
} as const
export type Group = keyof typeof GROUPS

interface DeclarationBase {
  /** A phrase or sentences without the final period, in Markdown. */
  readonly meaning: string
  readonly example?: string
  /** Its value must not be shown or logged. */
  readonly isSecret?: true
  /** Continues "Set it to": the server does not start without the variable. */
  readonly required?: string
  /** What holds if the variable is not set and has no default. */
  readonly otherwise?: string
}

interface IntegerBase extends DeclarationBase {
  readonly default?: number
  readonly sandboxDefault?: number
}

type Declaration =
  | (DeclarationBase & { readonly kind: "text"; readonly default?: string })
  | (IntegerBase & { readonly kind: "integer"; readonly minimum: number; readonly maximum: number })
  | (DeclarationBase & { readonly kind: "choice"; readonly values: ReadonlyArray<string>; readonly default: string })
  | (DeclarationBase & { readonly kind: "json" })

/** The declaration of an environment variable: its reader, the documents and `init` derive from it. */
export type VariableSpec = Declaration & { readonly group: Group }

/** Declares the variables of a section. */
export const inGroup = <const Declarations extends Readonly<Record<string, Declaration>>>(
  group: Group,
  declarations: Declarations
): { readonly [Name in keyof Declarations]: Declarations[Name] & { readonly group: Group } } =>
  Object.fromEntries(Object.entries(declarations).map(([name, spec]) => [name, { group, ...spec }])) as never

/** Declares a whole number between two bounds, both included. */
export const integer = <const Rest extends IntegerBase>(minimum: number, maximum: number, rest: Rest) =>
  ({ kind: "integer", minimum, maximum, ...rest }) as const

/** The default in the documents. Large numbers stay without separators, as the variable takes them. */
export const defaultOf = (spec: VariableSpec): string => {
  if (spec.required !== undefined) return "required"
  const fallback = "default" in spec ? spec.default : undefined
  if (fallback === undefined) return spec.otherwise ?? "none"
  const sandbox =
    spec.kind === "integer" && spec.sandboxDefault !== undefined ? `; ${spec.sandboxDefault} in a sandbox` : ""
  return `${fallback}${sandbox}`
}
