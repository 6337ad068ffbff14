/** A call in the carrier's records. */
export interface CarrierCall {
  readonly id: string
  readonly state: "ringing" | "in-progress" | "completed" | "rejected"
  readonly direction: "inbound" | "outbound-api"
  readonly from: string
  readonly to: string
  /** Connected seconds after which the carrier ends the call. */
  readonly timeLimitSeconds: number
}

export interface TimedCall extends CarrierCall {
  /** Connected seconds; null until the call ends. */
  readonly seconds: number | null
}

/** A request from the service in the carrier's log. */
export interface LoggedRequest {
  readonly method: string
  readonly path: string
  readonly form: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** Status of the response; null until it is sent. */
  readonly status: number | null
}

/** The carrier's records of the service's account. */
export interface CarrierSight {
  /** Numbers that are sold and not released. */
  readonly numbers: ReadonlySet<string>
  /** Outbound calls by the number that was called. */
  readonly dialled: ReadonlyMap<string, ReadonlyArray<CarrierCall>>
}

/** Reads the carrier's records. */
export class CarrierLog {
  private readonly url: string

  constructor(carrierUrl: string) {
    this.url = carrierUrl
  }

  async read(): Promise<CarrierSight> {
    const [{ numbers }, calls] = await Promise.all([
      this.ask<{ readonly numbers: ReadonlyArray<string> }>("numbers"),
      this.calls()
    ])
    const dialled = calls.filter(({ direction }) => direction === "outbound-api")
    return { numbers: new Set(numbers), dialled: Map.groupBy(dialled, ({ to }) => to) }
  }

  /** Returns the calls of both directions, oldest first. */
  async calls(): Promise<ReadonlyArray<TimedCall>> {
    return (await this.ask<{ readonly calls: ReadonlyArray<TimedCall> }>("calls")).calls
  }

  /** Returns the requests that the carrier still stores, oldest first, and the number of older ones. */
  requests(): Promise<{ readonly requests: ReadonlyArray<LoggedRequest>; readonly forgottenRequests: number }> {
    return this.ask("log")
  }

  /** Returns the area codes with numbers for sale, by country. */
  areaCodes(): Promise<Readonly<Record<"US" | "CA", ReadonlyArray<string>>>> {
    return this.ask("area-codes")
  }

  private async ask<Answer>(what: string): Promise<Answer> {
    const response = await fetch(`${this.url}/sandbox/${what}`)
    if (!response.ok) throw new Error(`the carrier's ${what} could not be read: ${response.status}`)
    return (await response.json()) as Answer
  }
}
