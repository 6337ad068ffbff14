/** A request of Twilio's interface, as `GET /sandbox/log` shows it. */
export interface LoggedRequest {
  readonly at: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: Fields
  /** The form's fields. One that came several times is a list. */
  readonly form: Fields
  /** What it was answered; null until then. */
  readonly status: number | null
  /** False where a fault kept the answer from the client: what the status says was done. */
  readonly delivered: boolean
}

/** What the carrier itself did or saw. */
export interface LoggedEvent {
  readonly at: string
  readonly callSid: string
  readonly event: string
  readonly [detail: string]: unknown
}

export type Fields = Readonly<Record<string, string | ReadonlyArray<string>>>

/** All that happened, in order. The oldest is forgotten when there is too much. */
export interface Journal {
  readonly requests: () => ReadonlyArray<LoggedRequest>
  readonly events: () => ReadonlyArray<LoggedEvent>
  /** How many requests are not there any more, before those that are. */
  readonly forgottenRequests: () => number
  /** Notes a request when it has come. The answer can be filled in later. */
  readonly request: (request: Pick<LoggedRequest, "method" | "path" | "query">) => OpenRequest
  readonly event: (callSid: string, event: string, details?: Readonly<Record<string, unknown>>) => void
}

/** A request that is being answered. */
export interface OpenRequest {
  readonly form: (form: Fields) => void
  readonly answered: (status: number, delivered: boolean) => void
}

const entriesMax = 10_000

/** An empty journal. */
export const makeJournal = (): Journal => {
  const requests: Array<{ -readonly [Key in keyof LoggedRequest]: LoggedRequest[Key] }> = []
  const events: Array<LoggedEvent> = []
  let forgotten = 0
  const at = () => new Date().toISOString()
  return {
    requests: () => requests,
    events: () => events,
    forgottenRequests: () => forgotten,
    request: (request) => {
      const entry = { at: at(), ...request, form: {} as Fields, status: null as number | null, delivered: false }
      requests.push(entry)
      if (requests.length > entriesMax) {
        requests.shift()
        forgotten += 1
      }
      return {
        form: (form) => {
          entry.form = form
        },
        answered: (status, delivered) => {
          entry.status = status
          entry.delivered = delivered
        }
      }
    },
    event: (callSid, event, details = {}) => {
      events.push({ at: at(), callSid, event, ...details })
      if (events.length > entriesMax) events.shift()
    }
  }
}

/** Fields of a query or a form as the journal shows them. */
export const fieldsOf = (params: URLSearchParams): Fields => {
  const fields: Record<string, string | ReadonlyArray<string>> = {}
  for (const name of new Set(params.keys())) {
    const values = params.getAll(name)
    fields[name] = values.length === 1 ? values[0]! : values
  }
  return fields
}
