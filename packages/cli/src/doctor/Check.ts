/** What a look at one thing found. `missing` keeps nobody from going on; `broken` does. */
export interface Finding {
  readonly status: "ok" | "missing" | "broken" | "skipped"
  readonly detail: string
  /** What to do about it: a command, or a sentence; null where nothing is to be done. */
  readonly mend: string | null
}

/** A finding, and of what. */
export interface Check extends Finding {
  readonly name: string
}

export const ok = (detail: string): Finding => ({ status: "ok", detail, mend: null })
export const missing = (detail: string, mend: string): Finding => ({ status: "missing", detail, mend })
export const broken = (detail: string, mend: string): Finding => ({ status: "broken", detail, mend })
export const skipped = (detail: string): Finding => ({ status: "skipped", detail, mend: null })
