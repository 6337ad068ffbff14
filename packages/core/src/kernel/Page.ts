/** One page of a list. `nextCursor` is null on the last page. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor: string | null
}

/** A position in a list ordered by createdAt, then id. */
export interface Position {
  readonly createdAt: number
  readonly id: string
}
