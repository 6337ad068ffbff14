/** One page of a list. `nextCursor` is null on the last page. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor: string | null
}

/** The part of a list that a client asks for. */
export interface PageRequest {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** A position in a list ordered by createdAt, then id. */
export interface Position {
  readonly createdAt: number
  readonly id: string
}
