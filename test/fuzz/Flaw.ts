/** A promise that the service broke. */
export interface Flaw {
  readonly rule: string
  readonly detail: string
}
