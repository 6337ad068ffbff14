import { Arbitrary, Effect } from "effect"
import { history } from "./Command.ts"
import type { Breakage } from "./Deployment.ts"
import { play, type Tally } from "./History.ts"

/** How many commands a history has at most. */
const LENGTH = 40
/** Histories begin with a few small numbers and lists; this lets almost all have their full range. */
const SIZE = 400

/** How histories are made: the same seed and number give the same ones. */
export interface CheckOptions {
  readonly seed: number
  readonly histories: number
  /** How many shorter histories are tried once one has failed; 3000 when left out. */
  readonly maxShrinks?: number
  readonly breakage?: Breakage
}

/** What came of it: how often every move was made, or the shortened history that failed, as text. */
export type CheckReport =
  | { readonly _tag: "Held"; readonly tally: Tally }
  | { readonly _tag: "Failed"; readonly message: string }

/** Plays random histories until one fails, and shortens that. */
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
      `${shrunkInput.refundWallet ? "with" : "without"} a refund wallet:`,
      ...shrunkInput.commands.map((command) => `  ${JSON.stringify(command)}`),
      ...(failure._tag === "PropertyError" ? failure.error.findings : [])
    ].join("\n")
  }
})
