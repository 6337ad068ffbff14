import { readFile } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { CarrierLog } from "../support/CarrierLog.ts"
import type { PlannedFault } from "./PlannedFault.ts"

export type Country = "US" | "CA"
export type AreaCodes = Readonly<Record<Country, ReadonlyArray<string>>>

/** Somebody with a telephone; see the sandbox's Person. */
export interface Person {
  readonly number: string
  readonly behaviour: "answers" | "busy" | "no-answer"
  readonly seconds?: number
}

/** Fifty people have a telephone in each area. */
const PEOPLE = { first: 50, inArea: 50 }
const FAULT_MILLIS_MAX = 40_000
const POLL_MILLIS = 100

/** The carrier of a rig's sandbox, as those see it who play the people on the other end. */
export class CarrierSide {
  readonly log: CarrierLog
  private readonly url: string
  private readonly accountFile: string
  private areas: Promise<AreaCodes> | undefined
  private people = 0

  /** `accountFile` holds what opens the service's account at the carrier. */
  constructor(url: string, accountFile: string) {
    this.url = url
    this.accountFile = accountFile
    this.log = new CarrierLog(url)
  }

  areaCodes(): Promise<AreaCodes> {
    this.areas ??= this.log.areaCodes()
    return this.areas
  }

  /** The number of somebody whom nobody has called yet. */
  async nextPerson(): Promise<string> {
    const { CA, US } = await this.areaCodes()
    const index = this.people++
    const code = [...US, ...CA][Math.floor(index / PEOPLE.inArea)]
    if (code === undefined) throw new Error("everybody was called")
    return `+1${code}55501${PEOPLE.first + (index % PEOPLE.inArea)}`
  }

  /** Says how somebody behaves when called, who else answers, listens to one thing and hangs up. */
  async put(person: Person): Promise<void> {
    await this.post(`${this.url}/sandbox/people`, "application/json", JSON.stringify(person))
  }

  /** Lets the answered call to somebody go on at the carrier alone: it needs no server any more until its end. */
  async hold(toNumber: string): Promise<void> {
    const calls = (await this.log.read()).dialled.get(toNumber) ?? []
    const call = calls.find(({ state }) => state === "in-progress")
    if (call === undefined) throw new Error(`nobody is on the line with ${toNumber}`)
    const account = await readFile(this.accountFile, "utf8")
    const [accountSid] = account.split(":")
    await this.post(
      `${this.url}/2010-04-01/Accounts/${accountSid}/Calls/${call.id}.json`,
      "application/x-www-form-urlencoded",
      new URLSearchParams({ Twiml: '<Response><Pause length="3600"/></Response>' }).toString(),
      { authorization: `Basic ${Buffer.from(account.trim()).toString("base64")}` }
    )
  }

  /** Waits until the carrier has met a fault that is planned for one thing alone. */
  async untilMet({ only, operation }: Pick<PlannedFault, "operation" | "only">): Promise<void> {
    const deadline = performance.now() + FAULT_MILLIS_MAX
    for (;;) {
      const response = await fetch(`${this.url}/sandbox/faults`)
      const { faults } = (await response.json()) as { readonly faults: ReadonlyArray<PlannedFault> }
      if (!faults.some((fault) => fault.operation === operation && fault.only === only)) return
      if (performance.now() > deadline) throw new Error(`nothing that is about ${only} came to ${operation}`)
      await sleep(POLL_MILLIS)
    }
  }

  private async post(url: string, type: string, body: string, headers: Record<string, string> = {}): Promise<void> {
    const response = await fetch(url, { method: "POST", headers: { ...headers, "content-type": type }, body })
    if (!response.ok) throw new Error(`the carrier does not do it: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
  }
}
