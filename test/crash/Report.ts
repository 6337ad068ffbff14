import type { Cell } from "./Cell.ts"
import type { Verdict } from "./Judge.ts"
import type { Attempt, Purchase } from "./Purchase.ts"
import type { Outcome } from "./Witness.ts"

/** Of a payment with which something was wrong, so many answers are shown. */
const HISTORY_LINES = 8

/** Everything that was wrong, each with what the client concerned was told. */
export const violationsOf = (outcome: Outcome): ReadonlyArray<string> => [
  ...outcome.verdicts.flatMap(({ purchase, violations }) =>
    violations.map((text) => [`${labelOf(purchase)}: ${text}`, ...purchase.attempts.flatMap(historyOf)].join("\n"))
  ),
  ...outcome.strays
]

/** The last answers to a payment, with the seconds between the first of them and each. */
const historyOf = ({ authorization, told }: Attempt): ReadonlyArray<string> => {
  const shown = told.slice(-HISTORY_LINES)
  const began = shown[0]?.at ?? 0
  return [
    `  ${authorization.nonce} was answered ${told.length} times`,
    ...shown.map(({ at, status, text }) => `    ${((at - began) / 1_000).toFixed(1)} s: ${status} ${text}`)
  ]
}

const labelOf = ({ attempts, buyer, client, name, service }: Purchase): string =>
  [name, service, `client ${client}`, buyer.address, attempts.map(({ authorization }) => authorization.nonce).join(" ")]
    .filter((part) => part !== "")
    .join(", ")

/** How many purchases came to which end, as `12 delivered, 4 paid back`. */
export const endsOf = (verdicts: ReadonlyArray<Verdict>): string =>
  (["delivered", "paid back", "never charged"] as const)
    .map((end) => [verdicts.filter((verdict) => verdict.end === end).length, end] as const)
    .filter(([count]) => count > 0)
    .map(([count, end]) => `${count} ${end}`)
    .join(", ")

/** A table: each situation, and what it came to with a client that comes again and with one that does not. */
export const tableOf = (outcome: Outcome, cells: ReadonlyMap<Purchase, Cell>): ReadonlyArray<string> => {
  const rows = Map.groupBy(
    outcome.verdicts.filter(({ purchase }) => cells.has(purchase)),
    ({ purchase }) => purchase.name
  )
  return aligned([
    ["situation", "client comes again", "client gone", "violations"],
    ...[...rows].map(([name, verdicts]) => {
      const [gone, back] = [true, false].map((isGone) =>
        endsOf(verdicts.filter(({ purchase }) => (purchase.client === "gives up") === isGone))
      )
      return [name, back ?? "", gone ?? "", String(verdicts.flatMap(({ violations }) => violations).length)]
    })
  ])
}

const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
}
