import type { Timestamp } from "./Timestamp.ts"

/** Work that waits. */
export interface Backlog {
  /** At most the limit up to which it was counted. */
  readonly count: number
  /** Since when the oldest of it waits; null without any. */
  readonly since: Timestamp | null
}
