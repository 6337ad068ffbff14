import type { components } from "../generated/Components.ts"
import type { CallOptions } from "../http/Caller.ts"
import type { InputOf } from "../http/OperationTypes.ts"
import { Call, type PhoneContext } from "./Call.ts"

export type PhoneNumberRecord = components["schemas"]["PhoneNumber"]
type PurchaseInput = InputOf<"purchaseUsNumber">

/** Everything may be left out: the agent of this client answers calls over its voice session. */
export interface BuyNumberInput extends Partial<PurchaseInput> {
  /** Default: US. */
  readonly country?: "US" | "CA"
}

export interface PlaceCallInput extends Omit<InputOf<"callOneMinute">, "phoneNumberId" | "toNumber"> {
  readonly to: string
  /** The paid minutes. Default: 1. */
  readonly minutes?: 1 | 5
  /**
   * Whether this program answers the person with `call.turns()`: its voice session is then connected before the call is placed,
   * so that it misses no word. Default: no, and another program of the wallet may answer.
   */
  readonly speak?: boolean
}

export interface CallsOptions {
  readonly signal?: AbortSignal | undefined
}

/** An agent without a webhook gives a host under .invalid, which never resolves (RFC 2606). */
const NO_WEBHOOK = "https://agent.invalid/"
const AGENT_NAME = "Agent"

/** Yields calls to a number, or to all, each when the person says something first. */
export const followCalls = async function* (
  context: PhoneContext,
  phoneNumberId: string | undefined,
  { signal }: CallsOptions
): AsyncGenerator<Call, void, undefined> {
  const { voice } = context
  const listener = voice.listen(phoneNumberId)
  const close = () => listener.queue.close()
  signal?.addEventListener("abort", close)
  if (signal?.aborted === true) close()
  try {
    for (let first = await listener.queue.take(); first !== undefined; first = await listener.queue.take())
      yield new Call(context, first)
  } finally {
    signal?.removeEventListener("abort", close)
    voice.unlisten(listener)
  }
}

export class PhoneNumber {
  readonly record: PhoneNumberRecord
  readonly id: string
  /** In E.164, for example +14155550150. */
  readonly number: string
  readonly #context: PhoneContext

  /** @internal */
  constructor(context: PhoneContext, record: PhoneNumberRecord) {
    this.#context = context
    this.record = record
    this.id = record.phoneNumberId
    this.number = record.number
  }

  /** Yields calls. A loop that awaits one call delays the next: to answer several, do not await them in the loop. */
  calls(options: CallsOptions = {}): AsyncGenerator<Call, void, undefined> {
    return followCalls(this.#context, this.id, options)
  }

  /** Calls a person. Costs money. To talk to them, pass `speak: true` and begin `call.turns()` at once. */
  async call({ minutes = 1, speak = false, to, ...input }: PlaceCallInput, options?: CallOptions): Promise<Call> {
    const { caller, voice } = this.#context
    const operation = minutes === 1 ? "callOneMinute" : "callFiveMinutes"
    const place = async () =>
      (await caller.call(operation, { ...input, phoneNumberId: this.id, toNumber: to }, options)).call
    const call = speak ? await voice.place(this.id, place) : await place()
    return new Call(this.#context, { ...call, from: call.fromNumber, to: call.toNumber })
  }

  /** Adds 10 minutes of inbound calls. Costs money. */
  async addMinutes(options?: CallOptions): Promise<PhoneNumber> {
    const { phoneNumber } = await this.#context.caller.call("addInboundMinutes", { phoneNumberId: this.id }, options)
    return new PhoneNumber(this.#context, phoneNumber)
  }

  /** Adds 30 days. Costs money. */
  async renew(options?: CallOptions): Promise<PhoneNumber> {
    const { phoneNumber } = await this.#context.caller.call("renewNumber", { phoneNumberId: this.id }, options)
    return new PhoneNumber(this.#context, phoneNumber)
  }
}

export class PhoneNumbers {
  readonly #context: PhoneContext

  /** @internal */
  constructor(context: PhoneContext) {
    this.#context = context
  }

  /**
   * Returns the first number of this wallet in the country that is in service, unchanged, or buys one. The list is free, so only
   * the first run of a program pays; two first runs at once buy two.
   */
  async open(input: BuyNumberInput = {}, options?: CallOptions): Promise<PhoneNumber> {
    const { country = "US" } = input
    const own = (await this.list(options)).find(
      ({ record }) => ["active", "expiring"].includes(record.status) && record.country === country
    )
    return own ?? this.buy(input, options)
  }

  /** Buys a number for 30 days. `agent.call("purchaseUsNumber", …)` also returns the secret of its webhook. */
  async buy({ country = "US", ...input }: BuyNumberInput = {}, options?: CallOptions): Promise<PhoneNumber> {
    const { phoneNumber } = await this.#context.caller.call(
      country === "US" ? "purchaseUsNumber" : "purchaseCanadaNumber",
      { agentName: AGENT_NAME, agentWebhookUrl: NO_WEBHOOK, ...input },
      options
    )
    return new PhoneNumber(this.#context, phoneNumber)
  }

  /** Returns all numbers; none before the first purchase of the wallet. */
  async list(options?: CallOptions): Promise<ReadonlyArray<PhoneNumber>> {
    const { caller } = this.#context
    const items = await caller.itemsOf(caller.call("listNumbers", {}, options))
    return items.map((record) => new PhoneNumber(this.#context, record))
  }

  /** Returns the number with this id or in this form (E.164); undefined without one. */
  async find(idOrNumber: string, options?: CallOptions): Promise<PhoneNumber | undefined> {
    return (await this.list(options)).find(({ id, number }) => id === idOrNumber || number === idOrNumber)
  }
}
