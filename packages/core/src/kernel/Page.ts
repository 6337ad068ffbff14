/** One page of a list. `nextCursor` is null on the last one. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor: string | null
}

/** A place in a list ordered by createdAt, then id. */
export interface Position {
  readonly createdAt: number
  readonly id: string
}
