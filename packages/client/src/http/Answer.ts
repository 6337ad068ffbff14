/** A response, whatever its status. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
  /** The body as JSON; undefined if it is not. */
  readonly json: unknown
}

/** Returns the Retry-After header in seconds; null without one. */
export const retryAfterSeconds = ({ headers }: Answer): number | null => {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}
