import type { End } from "../faults/observation/Purchases.ts"
import { aligned, tally } from "../faults/verdict/Report.ts"
import type { Cell } from "./Cell.ts"
import type { ClientKind, CrashPurchase } from "./Purchase.ts"
import type { Outcome } from "./Settle.ts"

const ENDS: ReadonlyArray<End> = ["delivered", "refunded", "never charged"]

/** How many purchases ended in each way: `12 delivered, 4 refunded`. */
export const endsOf = (ends: ReadonlyArray<End>): string =>
  tally(ends.toSorted((a, b) => ENDS.indexOf(a) - ENDS.indexOf(b)))

/** The ends of each situation, by the kind of client. */
export const tableOf = (
  { verdict, violations }: Outcome,
  cells: ReadonlyMap<CrashPurchase, Cell>
): ReadonlyArray<string> => {
  const situations = Map.groupBy(cells.keys(), ({ group }) => group)
  return aligned([
    ["situation", "client repeats", "client gives up", "client follows advice", "violations"],
    ...[...situations].map(([group, purchases]) => {
      const endsWith = (...clients: ReadonlyArray<ClientKind>) =>
        endsOf(
          purchases
            .filter(({ client }) => clients.includes(client))
            .flatMap((purchase) => verdict.ends.get(purchase) ?? [])
        )
      const ends = [endsWith("repeats", "pays again"), endsWith("gives up"), endsWith("follows advice")]
      const found = violations.filter(({ subject }) => subject?.group === group).length
      return [group, ...ends, String(found)]
    })
  ])
}
