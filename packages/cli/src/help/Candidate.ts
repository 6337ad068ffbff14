/** A word that fits, and what it is. */
export interface Candidate {
  readonly word: string
  readonly does?: string | undefined
}
