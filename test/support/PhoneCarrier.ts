import { setTimeout as sleep } from "node:timers/promises"
import type { SandboxDescription } from "@agentos/sandbox"

/** One turn of a person in a call. */
export type Line =
  | string
  | { readonly text: string; readonly interrupt?: boolean; readonly afterMillis?: number }
  | { readonly dtmf: string }
  | { readonly silence: number }
  | { readonly hangup: true }

/** How a person handles a call. */
export interface Behaviour {
  readonly behaviour?: "answers" | "busy" | "no-answer"
  readonly lines?: ReadonlyArray<Line>
  readonly seconds?: number
  readonly ringSeconds?: number
  /** The kind of callee that the carrier recognizes; a person by default. */
  readonly answeredBy?: "human" | "machine_start" | "fax" | "unknown"
  /** Repeats the last line after hearing nothing for this long. */
  readonly patienceSeconds?: number
}

/** A call as the person experienced it. */
export interface Play {
  readonly id: string
  readonly state: "ringing" | "in-progress" | "completed" | "rejected"
  readonly status: string
  readonly heard: ReadonlyArray<string>
  readonly said: ReadonlyArray<string>
  readonly endedBy: string | null
  readonly reason: string | null
  readonly seconds: number | null
  readonly timeLimitSeconds: number
  readonly from: string
  readonly to: string
}

/** A request from the service to the carrier. */
export interface CarrierRequest {
  readonly method: string
  readonly path: string
  readonly form: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly status: number | null
}

export type CarrierFault = {
  readonly operation: "search" | "buy" | "release" | "call" | "update"
  readonly mode: "before" | "after" | "reject" | "hang"
  readonly times?: number
  /** A number, or the carrier's id of a call. */
  readonly only?: string
}

const POLL_MILLIS = 50
/** Jobs run every few seconds, and the one that releases numbers every ten. */
const PATIENCE_MILLIS = 60_000
/** Area codes of people. The service calls only numbers in areas that exist. */
const AREAS =
  "201 202 203 205 206 207 208 209 210 212 213 214 215 216 217 218 219 224 225 228 229 231 234 239 240 248 251 252 253 254 " +
  "256 260 262 267 269 270 276 281 301 302 303 304 305 307 308 309 310 312 313 314 315 316 317 318 319 320 321 323 325 330 " +
  "334 336 337 347 351 352 360 361 386 401 402 404 405 406 407 408 409 410 412 413 414 415 417 419 423 424 425 430 432 434"
const AREA_CODES = AREAS.split(" ")
/** In each area. */
const PEOPLE = 50
let people = 0

/** Control API of the sandbox's carrier: its records of purchases, calls, limits and speech, and its faults. */
export class PhoneCarrier {
  private readonly url: string

  constructor({ carrier }: Pick<SandboxDescription, "carrier">) {
    this.url = carrier.url
  }

  /** Creates a person with this behavior and returns their number. */
  async person(behaviour: Behaviour = {}): Promise<string> {
    const number = PhoneCarrier.personNumber()
    await this.ask("people", { number, behaviour: "answers", lines: [], ...behaviour })
    return number
  }

  /** Returns a number that is not for sale, and that no other test uses unless there are thousands. */
  static personNumber(): string {
    const index = people++
    const areaCode = AREA_CODES[Math.floor(index / PEOPLE) % AREA_CODES.length]!
    return `+1${areaCode}55501${50 + (index % PEOPLE)}`
  }

  /** Makes a new person call a number, or one whom the carrier names `from`, and returns the id of the call. */
  async callIn(
    to: string,
    { from = PhoneCarrier.personNumber(), ...behaviour }: Omit<Behaviour, "behaviour"> & { readonly from?: string } = {}
  ): Promise<string> {
    const { id } = await this.ask<{ readonly id: string }>("calls", { from, to, lines: [], ...behaviour })
    return id
  }

  play(id: string): Promise<Play> {
    return this.ask(`calls/${id}`)
  }

  /** Returns the only call to a number. */
  async playTo(number: string): Promise<Play> {
    const { calls } = await this.ask<{ readonly calls: ReadonlyArray<Play> }>("calls")
    const played = calls.filter(({ to }) => to === number)
    if (played.length !== 1) throw new Error(`${number} was called ${played.length} times`)
    return played[0]!
  }

  /** Waits until a call has ended. */
  async over(id: string, withinMillis?: number): Promise<Play> {
    return this.until(
      () => this.play(id),
      ({ state }) => state === "completed" || state === "rejected",
      withinMillis
    )
  }

  /** Polls until `isWanted` holds and returns the result; fails after 30 seconds by default. */
  async until<A>(
    look: () => Promise<A>,
    isWanted: (seen: A) => boolean,
    withinMillis: number = PATIENCE_MILLIS
  ): Promise<A> {
    const deadline = Date.now() + withinMillis
    for (;;) {
      const seen = await look()
      if (isWanted(seen)) return seen
      if (Date.now() > deadline) throw new Error(`timed out; last result: ${JSON.stringify(seen)}`)
      await sleep(POLL_MILLIS)
    }
  }

  log(): Promise<{
    readonly requests: ReadonlyArray<CarrierRequest>
    readonly events: ReadonlyArray<{ readonly at: string; readonly callSid: string; readonly event: string }>
  }> {
    return this.ask("log")
  }

  /** Returns the forms of the requests that dialled a number. */
  async dialled(to: string): Promise<ReadonlyArray<CarrierRequest["form"]>> {
    const { requests } = await this.log()
    const dials = requests.filter(({ method, path }) => method === "POST" && path.endsWith("/Calls.json"))
    return dials.map(({ form }) => form).filter((form) => form["To"] === to)
  }

  /** Returns the limits in seconds that the service set on a call in progress, oldest first. */
  async limitsTold(id: string): Promise<ReadonlyArray<number>> {
    const { requests } = await this.log()
    const told = requests.filter(({ path, status }) => path.endsWith(`/Calls/${id}.json`) && status === 200)
    return told.flatMap(({ form }) => (typeof form["TimeLimit"] === "string" ? [Number(form["TimeLimit"])] : []))
  }

  /** Returns how often a number was sold. */
  async sales(number: string): Promise<number> {
    const { requests } = await this.log()
    return requests.filter(
      ({ form, method, path, status }) =>
        method === "POST" &&
        path.endsWith("/IncomingPhoneNumbers.json") &&
        form["PhoneNumber"] === number &&
        status === 201
    ).length
  }

  /** Returns how many numbers were released. */
  async returns(): Promise<number> {
    const { requests } = await this.log()
    return requests.filter(({ method, status }) => method === "DELETE" && status === 204).length
  }

  /** Sets the speed of the clock of calls. */
  async speed(speed: number): Promise<void> {
    await this.ask("clock", { speed })
  }

  /** Sets whether calls that are answered or given a limit from now on end at the limit. */
  async keepLimits(kept: boolean): Promise<void> {
    await this.ask("limits", { kept })
  }

  async fault(fault: CarrierFault): Promise<void> {
    await this.ask("faults", fault)
  }

  async noFaults(): Promise<void> {
    await fetch(`${this.url}/sandbox/faults`, { method: "DELETE" })
  }

  private async ask<Answer>(what: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.url}/sandbox/${what}`, {
      ...(body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
    })
    if (!response.ok) throw new Error(`the carrier answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as Answer
  }
}
