/** A request to Twilio's API, as `GET /sandbox/log` returns it. */
export interface LoggedRequest {
  readonly at: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: Fields
  /** The fields of the form. A repeated field is a list. */
  readonly form: Fields
  /** Null until the response. */
  readonly status: number | null
  /** False if a fault withheld the response. The operation took effect with this status. */
  readonly delivered: boolean
}

export interface LoggedEvent {
  readonly at: string
  readonly callSid: string
  readonly event: string
  readonly [detail: string]: unknown
}

export type Fields = Readonly<Record<string, string | ReadonlyArray<string>>>

const entriesMax = 10_000

export type RequestLog = ReturnType<typeof makeRequestLog>

/** Keeps requests and events in order. The oldest are removed above a limit. */
export const makeRequestLog = () => {
  const requests: Array<{ -readonly [Key in keyof LoggedRequest]: LoggedRequest[Key] }> = []
  const events: Array<LoggedEvent> = []
  let forgotten = 0
  const at = () => new Date().toISOString()
  return {
    requests: (): ReadonlyArray<LoggedRequest> => requests,
    events: (): ReadonlyArray<LoggedEvent> => events,
    /** The number of removed requests. */
    forgottenRequests: () => forgotten,
    /** Adds a request on arrival. The returned handle completes the entry. */
    request: (request: Pick<LoggedRequest, "method" | "path" | "query">) => {
      const entry = { at: at(), ...request, form: {} as Fields, status: null as number | null, delivered: false }
      requests.push(entry)
      if (requests.length > entriesMax) {
        requests.shift()
        forgotten += 1
      }
      return {
        form: (form: Fields): void => {
          entry.form = form
        },
        answered: (status: number, delivered: boolean): void => {
          entry.status = status
          entry.delivered = delivered
        }
      }
    },
    event: (callSid: string, event: string, details: Readonly<Record<string, unknown>> = {}): void => {
      events.push({ at: at(), callSid, event, ...details })
      if (events.length > entriesMax) events.shift()
    }
  }
}

/** Converts a query or form to fields. */
export const fieldsOf = (params: URLSearchParams): Fields => {
  const fields: Record<string, string | ReadonlyArray<string>> = {}
  for (const name of new Set(params.keys())) {
    const values = params.getAll(name)
    fields[name] = values.length === 1 ? values[0]! : values
  }
  return fields
}
