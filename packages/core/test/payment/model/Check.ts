import { Arbitrary, Effect } from "effect"
import { history } from "./Command.ts"
import type { Breakage } from "./Deployment.ts"
import { play, type Tally } from "./History.ts"

/** Maximum number of commands in a history. */
const LENGTH = 40
/**
 * Size of the generated values. The first histories have small numbers and lists; with this size, almost all others
 * have the full range.
 */
const SIZE = 400

/** Each planted defect of `BrokenCore.test.ts` is found within half of them. Twice as many take 4 s more. */
export const HISTORIES = 200

/** Options of a check. The same seed and number generate the same histories. */
export interface CheckOptions {
  readonly seed: number
  readonly histories: number
  /** Maximum number of shorter histories tried after a failure (default 3000). */
  readonly maxShrinks?: number
  readonly breakage?: Breakage
}

/** The result: the number of occurrences of every transition, or the shortened failing history as text. */
export type CheckReport =
  | { readonly _tag: "Held"; readonly tally: Tally }
  | { readonly _tag: "Failed"; readonly message: string }

/** Plays random histories until one fails, and shortens that one. */
export const check = Effect.fnUntraced(function* ({
  breakage,
  histories,
  maxShrinks = 3_000,
  seed
}: CheckOptions): Effect.fn.Return<CheckReport> {
  const tally = new Map<string, number>()
  const result = yield* Arbitrary.checkEffect(
    history(LENGTH),
    (generated) =>
      Effect.map(play(generated, breakage), (own) => {
        for (const [what, times] of own) tally.set(what, (tally.get(what) ?? 0) + times)
        return true
      }),
    { runs: histories, seed, size: SIZE, maxShrinks }
  )
  if (result._tag === "Passed") return { _tag: "Held", tally }
  if (result._tag !== "Falsified") return { _tag: "Failed", message: Arbitrary.formatCheckFailure(result) ?? "" }
  const { failure, runs, shrunkInput } = result
  return {
    _tag: "Failed",
    message: [
      `History ${runs} of seed ${seed} fails (again by: pnpm model --seed ${seed} --sequences ${histories}). Shortened,`,
      `${shrunkInput.refundWallet ? "with" : "without"} a refund wallet, on a chain that ` +
        `${shrunkInput.tiesTransfers ? "ties" : "does not tie"} transfers to authorizations:`,
      ...shrunkInput.commands.map((command) => `  ${JSON.stringify(command)}`),
      ...(failure._tag === "PropertyError" ? failure.error.findings : [])
    ].join("\n")
  }
})
