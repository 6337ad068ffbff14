/** The changes of the open transaction, as steps that undo them. */
export class UndoLog {
  #steps: Array<() => void> = []

  /** Records how to undo a change that is about to be made. */
  note(undo: () => void): void {
    this.#steps.push(undo)
  }

  /** Keeps all changes. */
  commit(): void {
    this.#steps = []
  }

  /** Undoes all changes since the last commit, the latest first. */
  rollback(): void {
    const steps = this.#steps
    this.#steps = []
    for (const undo of steps.reverse()) undo()
  }
}

/** Functions that return a row's value in each index. A row with the value null is not in the index. */
export type TableIndexes<Row, Name extends string> = Readonly<Record<Name, (row: Row) => string | null>>

/**
 * Rows under unique keys, with indexes; every change is recorded in the undo log.
 *
 * Rows are immutable: a change replaces a row by another. So a row that was read before does not change.
 */
export class Table<Row, Name extends string = never> {
  readonly #undoLog: UndoLog
  readonly #indexOf: TableIndexes<Row, Name>
  readonly #rows = new Map<string, Row>()
  readonly #indexed = new Map<string, Map<string, Row>>()

  constructor(undoLog: UndoLog, indexOf: TableIndexes<Row, Name>) {
    this.#undoLog = undoLog
    this.#indexOf = indexOf
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key)
  }

  has(key: string): boolean {
    return this.#rows.has(key)
  }

  /** Returns all rows, in no particular order. */
  rows(): ReadonlyArray<Row> {
    return [...this.#rows.values()]
  }

  /** Returns all rows with their keys, in no particular order. */
  entries(): ReadonlyArray<readonly [key: string, row: Row]> {
    return [...this.#rows]
  }

  /** Returns the rows with a value in an index, in no particular order. */
  where(index: Name, value: string): ReadonlyArray<Row> {
    return [...(this.#indexed.get(bucket(index, value))?.values() ?? [])]
  }

  set(key: string, row: Row): void {
    this.#replace(key, row)
  }

  /** Adds a row. Returns false, and changes nothing, if the key has one. */
  insert(key: string, row: Row): boolean {
    const isFree = !this.#rows.has(key)
    if (isFree) this.#replace(key, row)
    return isFree
  }

  /** Replaces the row of a key, if it has one. Returns the new row. */
  update(key: string, change: (row: Row) => Row): Row | undefined {
    const row = this.#rows.get(key)
    if (row === undefined) return undefined
    const changed = change(row)
    this.#replace(key, changed)
    return changed
  }

  /** Returns whether the key had a row. */
  delete(key: string): boolean {
    const isFound = this.#rows.has(key)
    if (isFound) this.#replace(key, undefined)
    return isFound
  }

  #replace(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key)
    this.#undoLog.note(() => this.#put(key, before))
    this.#put(key, row)
  }

  #put(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key)
    for (const [name, valueOf] of Object.entries<(row: Row) => string | null>(this.#indexOf)) {
      if (before !== undefined) this.#leave(name, valueOf(before), key)
      if (row !== undefined) this.#enter(name, valueOf(row), key, row)
    }
    if (row === undefined) this.#rows.delete(key)
    else this.#rows.set(key, row)
  }

  #enter(index: string, value: string | null, key: string, row: Row): void {
    if (value === null) return
    const rows = this.#indexed.get(bucket(index, value)) ?? new Map<string, Row>()
    this.#indexed.set(bucket(index, value), rows.set(key, row))
  }

  #leave(index: string, value: string | null, key: string): void {
    if (value === null) return
    const rows = this.#indexed.get(bucket(index, value))
    rows?.delete(key)
    if (rows?.size === 0) this.#indexed.delete(bucket(index, value))
  }
}

const bucket = (index: string, value: string): string => `${index} ${value}`
