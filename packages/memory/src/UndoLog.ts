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
