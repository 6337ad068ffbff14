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

interface VariableBase {
  readonly group: Group
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

/** The declaration of an environment variable: its reader, the documents and `init` derive from it. */
export type VariableSpec = VariableBase &
  (
    | { readonly kind: "text"; readonly default?: string }
    /** Whole numbers between two bounds, both included. */
    | {
        readonly kind: "integer"
        readonly minimum: number
        readonly maximum: number
        readonly default?: number
        readonly sandboxDefault?: number
      }
    | { readonly kind: "choice"; readonly values: ReadonlyArray<string>; readonly default: string }
    | { readonly kind: "json" }
  )

/** The default in the documents. Large numbers stay without separators, as the variable takes them. */
export const defaultOf = (spec: VariableSpec): string => {
  if (spec.required !== undefined) return "required"
  const fallback = "default" in spec ? spec.default : undefined
  if (fallback === undefined) return spec.otherwise ?? "none"
  const sandbox =
    spec.kind === "integer" && spec.sandboxDefault !== undefined ? `; ${spec.sandboxDefault} in a sandbox` : ""
  return `${fallback}${sandbox}`
}
