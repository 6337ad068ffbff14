/** What the open transaction has changed, as steps that take it back. */
export class Journal {
  #steps: Array<() => void> = []

  /** Notes how to take back a change that is about to be made. */
  note(undo: () => void): void {
    this.#steps.push(undo)
  }

  /** Lets everything stay as it is now. */
  commit(): void {
    this.#steps = []
  }

  /** Makes everything as it was at the last commit, the latest change first. */
  rollback(): void {
    const steps = this.#steps
    this.#steps = []
    for (const undo of steps.reverse()) undo()
  }
}
