/** What a subject of `fidelity` found. */
export interface Findings {
  /** The text of its section in docs/mail-fidelity.md, in Markdown, without the heading. */
  readonly section: string
  /** What is wrong, a line each. Empty if the goal is reached. */
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
