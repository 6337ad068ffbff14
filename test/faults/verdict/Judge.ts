/** The purchase, round or object that a finding concerns. */
export interface Subject {
  /** The row of a report that it belongs to: a race, or a situation of the crash matrix. */
  readonly group: string
  readonly label: string
}

export interface Finding {
  readonly subject?: Subject
  readonly text: string
}

/** A property of observations that must hold. Yields one finding for each time that it does not. */
export type Invariant<Observed> = (observed: Observed) => Iterable<Finding | string>

export interface Violation extends Finding {
  readonly invariant: string
}

/** Checks observations against every invariant. */
export const judge = <Observed>(
  invariants: Readonly<Record<string, Invariant<Observed>>>,
  observed: Observed
): ReadonlyArray<Violation> =>
  Object.entries(invariants).flatMap(([invariant, find]) =>
    [...find(observed)].map((found) => ({ invariant, ...(typeof found === "string" ? { text: found } : found) }))
  )

/** The names of the violated invariants. */
export const invariantsOf = (violations: ReadonlyArray<Violation>): ReadonlyArray<string> => [
  ...new Set(violations.map(({ invariant }) => invariant))
]
