/** The findings of a subject of `fidelity`. */
export interface Findings {
  /** The text of its section in docs/mail-fidelity.md, in Markdown, without the heading. */
  readonly section: string
  /** One line for each fault. Empty if the goal is reached. */
  readonly faults: ReadonlyArray<string>
}

/** A part of reading mail that is measured on public data, beside other libraries. */
export interface Subject {
  /** The heading of its section in docs/mail-fidelity.md. */
  readonly heading: string
  readonly summary: string
  /** Measures. The directory is empty at first, and is deleted afterwards. */
  readonly measure: (directory: string) => Promise<Findings>
}
