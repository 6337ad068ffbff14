/** A request as it is sent: the body is this very text. */
export interface Request {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Whether it may be sent again where no answer came. */
  readonly repeatable: boolean
}

/** An answer, whatever its status. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The server's id of the request. */
  readonly requestId: string | undefined
  /** The body as JSON; undefined where it is none. */
  readonly json: () => unknown
}
