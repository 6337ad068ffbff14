/** A call as the carrier has it. */
export interface CarrierCall {
  /** The carrier's id of it. */
  readonly id: string
  readonly state: "ringing" | "in-progress" | "completed" | "rejected"
  readonly direction: "inbound" | "outbound-api"
  readonly from: string
  readonly to: string
  /** Connected seconds after which the carrier ends it. */
  readonly timeLimitSeconds: number
}

export interface TimedCall extends CarrierCall {
  /** For how long it was connected, once it is over. */
  readonly seconds: number | null
}

/** A request of the service's, as the carrier has it on record. */
export interface LoggedRequest {
  readonly method: string
  readonly path: string
  readonly form: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** What it was answered; null until then. */
  readonly status: number | null
}

/** What the carrier has done for the service's account, by its own word. */
export interface CarrierSight {
  /** Every number that is sold and was not given back. */
  readonly numbers: ReadonlySet<string>
  /** Every call that was dialled, by whom it was to. */
  readonly dialled: ReadonlyMap<string, ReadonlyArray<CarrierCall>>
}

/** Reads what the carrier has sold and dialled. */
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

  /** Every call, in either direction, oldest first. */
  async calls(): Promise<ReadonlyArray<TimedCall>> {
    return (await this.ask<{ readonly calls: ReadonlyArray<TimedCall> }>("calls")).calls
  }

  /** Every request that the carrier remembers, oldest first, and how many there were before those. */
  requests(): Promise<{ readonly requests: ReadonlyArray<LoggedRequest>; readonly forgottenRequests: number }> {
    return this.ask("log")
  }

  /** The area codes in which it has numbers for sale, by country. */
  areaCodes(): Promise<Readonly<Record<"US" | "CA", ReadonlyArray<string>>>> {
    return this.ask("area-codes")
  }

  private async ask<Answer>(what: string): Promise<Answer> {
    const response = await fetch(`${this.url}/sandbox/${what}`)
    if (!response.ok) throw new Error(`the carrier does not tell its ${what}: ${response.status}`)
    return (await response.json()) as Answer
  }
}
