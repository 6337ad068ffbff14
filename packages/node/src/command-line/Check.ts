import { Failure } from "./Failure.ts"
import type { Output } from "./Output.ts"

/** One result of a diagnosis. Only a `failed` one fails the command. */
export interface Check {
  readonly name: string
  readonly status: "ok" | "warning" | "failed" | "skipped"
  readonly detail: string
  /** A command or a sentence; null if there is nothing to fix. */
  readonly fix: string | null
}

export type Finding = Omit<Check, "name">

export const passed = (detail: string): Finding => ({ status: "ok", detail, fix: null })
export const warned = (detail: string, fix: string): Finding => ({ status: "warning", detail, fix })
export const failed = (detail: string, fix: string | null): Finding => ({ status: "failed", detail, fix })
export const skipped = (detail: string, fix: string | null = null): Finding => ({ status: "skipped", detail, fix })

/** The shape of `reportChecks` with --json. */
export const CHECKS_JSON = "{healthy, checks: [{name, status: ok | warning | failed | skipped, detail, fix}]}"

export const checksDocument = (checks: ReadonlyArray<Check>) => ({
  healthy: !checks.some(({ status }) => status === "failed"),
  checks: checks.map(({ detail, fix, name, status }) => ({ name, status, detail, fix }))
})

/** Prints the checks, and on standard error how to fix them. Throws a failure if one failed. */
export const reportChecks = (output: Output, checks: ReadonlyArray<Check>): void => {
  const bad = checks.filter(({ status }) => status === "failed")
  output.table(
    checksDocument(checks),
    checks,
    [
      { heading: "CHECK", value: ({ name }) => name, whole: true },
      { heading: "STATUS", value: ({ status }) => status, whole: true },
      { heading: "DETAIL", value: ({ detail }) => detail, wraps: true }
    ],
    "Nothing to check."
  )
  for (const { fix, name } of checks) if (fix !== null) output.note(`To fix ${name}: ${fix}`)
  if (bad.length === 0) return
  throw new Failure({
    code: "FAILED",
    message: `${bad.length} ${bad.length === 1 ? "problem" : "problems"} found: ${bad.map(({ name }) => name).join(", ")}.`
  })
}
