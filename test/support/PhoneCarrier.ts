import { setTimeout as sleep } from "node:timers/promises"
import type { SandboxDescription } from "@agentos/sandbox"

/** What a person says in their turn, or does; see the carrier's own description. */
export type Line =
  | string
  | { readonly text: string; readonly interrupt?: boolean; readonly afterMillis?: number }
  | { readonly dtmf: string }
  | { readonly silence: number }
  | { readonly hangup: true }

/** How somebody behaves on the telephone. */
export interface Behaviour {
  readonly behaviour?: "answers" | "busy" | "no-answer"
  readonly lines?: ReadonlyArray<Line>
  readonly seconds?: number
  readonly ringSeconds?: number
}

/** How a call went for the person in it. */
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

/** A request that the service made of the carrier. */
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
  /** A number, or a call's id at the carrier. */
  readonly only?: string
}

const POLL_MILLIS = 50
/** Jobs look each few seconds, and every ten for what is to be given back. */
const PATIENCE_MILLIS = 30_000
/** Area codes of people: a number whose area does not exist is called by nobody. */
const AREAS =
  "201 202 203 205 206 207 208 209 210 212 213 214 215 216 217 218 219 224 225 228 229 231 234 239 240 248 251 252 253 254 " +
  "256 260 262 267 269 270 276 281 301 302 303 304 305 307 308 309 310 312 313 314 315 316 317 318 319 320 321 323 325 330 " +
  "334 336 337 347 351 352 360 361 386 401 402 404 405 406 407 408 409 410 412 413 414 415 417 419 423 424 425 430 432 434"
const AREA_CODES = AREAS.split(" ")
/** Of each area. */
const PEOPLE = 50
let people = 0

/** The sandbox's carrier, as those see it who rule it: the witness of what was bought, dialled, limited and said. */
export class PhoneCarrier {
  private readonly url: string

  constructor({ carrier }: Pick<SandboxDescription, "carrier">) {
    this.url = carrier.url
  }

  /** The number of somebody new, who behaves like this when called. */
  async person(behaviour: Behaviour = {}): Promise<string> {
    const number = PhoneCarrier.personNumber()
    await this.ask("people", { number, behaviour: "answers", lines: [], ...behaviour })
    return number
  }

  /** A number of somebody that no other test has, out of those that nobody can buy. */
  static personNumber(): string {
    const index = people++
    const areaCode = AREA_CODES[Math.floor(index / PEOPLE)]
    if (areaCode === undefined) throw new Error("there are no people left to call")
    return `+1${areaCode}55501${50 + (index % PEOPLE)}`
  }

  /** Lets somebody new call a number; answers the id of the call. */
  async callIn(to: string, behaviour: Omit<Behaviour, "behaviour"> = {}): Promise<string> {
    const from = PhoneCarrier.personNumber()
    const { id } = await this.ask<{ readonly id: string }>("calls", { from, to, lines: [], ...behaviour })
    return id
  }

  play(id: string): Promise<Play> {
    return this.ask(`calls/${id}`)
  }

  /** The call to somebody who was called once. */
  async playTo(number: string): Promise<Play> {
    const { calls } = await this.ask<{ readonly calls: ReadonlyArray<Play> }>("calls")
    const played = calls.filter(({ to }) => to === number)
    if (played.length !== 1) throw new Error(`${number} was called ${played.length} times`)
    return played[0]!
  }

  /** A call once it is over. */
  async over(id: string): Promise<Play> {
    return this.until(
      () => this.play(id),
      ({ state }) => state === "completed" || state === "rejected"
    )
  }

  /** What comes, once it is as wanted; fails after 30 seconds. */
  async until<A>(look: () => Promise<A>, isWanted: (seen: A) => boolean): Promise<A> {
    const deadline = Date.now() + PATIENCE_MILLIS
    for (;;) {
      const seen = await look()
      if (isWanted(seen)) return seen
      if (Date.now() > deadline) throw new Error(`not in time; last seen: ${JSON.stringify(seen)}`)
      await sleep(POLL_MILLIS)
    }
  }

  log(): Promise<{
    readonly requests: ReadonlyArray<CarrierRequest>
    readonly events: ReadonlyArray<{ readonly at: string; readonly callSid: string; readonly event: string }>
  }> {
    return this.ask("log")
  }

  /** The forms by which somebody was called. */
  async dialled(to: string): Promise<ReadonlyArray<CarrierRequest["form"]>> {
    const { requests } = await this.log()
    const dials = requests.filter(({ method, path }) => method === "POST" && path.endsWith("/Calls.json"))
    return dials.map(({ form }) => form).filter((form) => form["To"] === to)
  }

  /** The limits, in seconds, that the carrier was told of a call that goes on, oldest first. */
  async limitsTold(id: string): Promise<ReadonlyArray<number>> {
    const { requests } = await this.log()
    const told = requests.filter(({ path, status }) => path.endsWith(`/Calls/${id}.json`) && status === 200)
    return told.flatMap(({ form }) => (typeof form["TimeLimit"] === "string" ? [Number(form["TimeLimit"])] : []))
  }

  /** How often a number was sold. */
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

  /** How many numbers were given back. */
  async returns(): Promise<number> {
    const { requests } = await this.log()
    return requests.filter(({ method, status }) => method === "DELETE" && status === 204).length
  }

  /** Seconds of calls pass so much faster. */
  async speed(speed: number): Promise<void> {
    await this.ask("clock", { speed })
  }

  /** Whether calls that are answered, or given a limit, from now on end at it. */
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
