import { AgentOsError } from "../AgentOsError.ts"
import type { components } from "../generated/Components.ts"
import type { Caller } from "../http/Caller.ts"
import type { Settings } from "../Options.ts"
import { followGateway, gatewayOf } from "./Gateway.ts"
import { Queue } from "./Queue.ts"
import type { ServerMessage, Session } from "./Session.ts"

export type EventRecord = components["schemas"]["EventRecord"]
export type EventType = EventRecord["type"]
export type EventOf<Type extends EventType> = Extract<EventRecord, { readonly type: Type }>

export type AgentEvent<Type extends EventType = EventType> = EventOf<Type> & {
  /** Acknowledges the event now. The stream does it when the next event is asked for. */
  readonly acknowledge: () => Promise<void>
}

export interface EventOptions<Type extends EventType = EventType> {
  readonly types?: ReadonlyArray<Type>
  /** Only events of this mailbox, number or other agent. */
  readonly agentId?: string
  /** Whether events are polled over REST while WebSockets are blocked. Nothing is leased then. Default: false. */
  readonly polling?: boolean
  readonly signal?: AbortSignal | undefined
}

/** Waiting events. Those that do not fit are replayed later. */
const QUEUE_MAX = 256
const POLL_MILLIS = 2_000
const POLL_PAGE = 200
/** Acknowledged events that are remembered, because their acknowledgement may have been lost. */
const HANDLED_MAX = 1_000

interface Delivery {
  readonly event: EventRecord
  /** Names the lease; undefined without one. It changes when the event is delivered again. */
  deliveryId: string | undefined
}

/**
 * Receives events and acknowledges them. Without a filter the events are leased, so that concurrent streams share them.
 * The gateway leases events in order and of all types, so a stream with a filter leases nothing and only watches:
 * other streams receive the same events.
 */
class EventSubscription {
  readonly #caller: Caller
  readonly #options: EventOptions
  readonly #isLeasing: boolean
  readonly #clock: Settings["clock"]
  readonly #stop = new AbortController()
  readonly #queue = new Queue<Delivery>(QUEUE_MAX)
  /** The deliveries in the queue or in hand, by event. */
  readonly #present = new Map<string, Delivery>()
  readonly #handled = new Set<string>()
  #session: Session | undefined
  #isOverfull = false

  constructor(settings: Settings, caller: Caller, options: EventOptions) {
    this.#clock = settings.clock
    this.#caller = caller
    this.#options = options
    this.#isLeasing = options.types === undefined && options.agentId === undefined
    const follower = {
      mode: this.#isLeasing ? ("deliver" as const) : ("observe" as const),
      serve: (session: Session) => this.#serve(session),
      serveWithoutSocket: options.polling === true ? (until: AbortSignal) => this.#poll(until) : undefined
    }
    followGateway(gatewayOf(settings, caller), follower, this.#stop.signal).then(
      () => this.#queue.close(),
      (error: unknown) => this.#queue.close({ error })
    )
  }

  /** Returns the next delivery; undefined when the subscription is closed. */
  async take(): Promise<Delivery | undefined> {
    if (this.#isOverfull && this.#queue.length === 0) {
      this.#isOverfull = false
      this.#session?.replace()
    }
    return this.#queue.take()
  }

  /** Acknowledges a delivery. If that fails for now, it is done when the event is delivered again. */
  async acknowledge({ deliveryId, event: { eventId } }: Delivery): Promise<void> {
    if (this.#handled.has(eventId)) return
    this.#handled.add(eventId)
    if (this.#handled.size > HANDLED_MAX)
      for (const oldest of this.#handled) {
        this.#handled.delete(oldest)
        break
      }
    this.#present.delete(eventId)
    if (deliveryId === undefined) await this.#acknowledgeByRest(eventId)
    else await this.#session?.acknowledge(eventId, deliveryId)
  }

  close(): void {
    this.#queue.close()
    this.#stop.abort()
  }

  async #serve(session: Session): Promise<void> {
    this.#session = session
    await session.receive((message) => this.#receive(message))
    this.#session = undefined
    if (this.#isLeasing) this.#leasesLost()
  }

  #receive(message: ServerMessage): void {
    if (message.type === "event.delivery") this.#add(message.event, message.deliveryId)
    if (message.type === "event.observed" && this.#matches(message.event)) this.#add(message.event, undefined)
  }

  async #poll(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      const { items } = await this.#caller.call("replayEvents", { limit: POLL_PAGE }, { signal: this.#stop.signal })
      for (const event of items) if (this.#matches(event)) this.#add(event, undefined)
      await this.#clock.sleep(POLL_MILLIS, until)
    }
  }

  #add(event: EventRecord, deliveryId: string | undefined): void {
    const { eventId } = event
    if (this.#handled.has(eventId)) {
      if (deliveryId === undefined) void this.#acknowledgeByRest(eventId)
      else void this.#session?.acknowledge(eventId, deliveryId)
      return
    }
    const present = this.#present.get(eventId)
    if (present !== undefined) {
      present.deliveryId = deliveryId
      return
    }
    const delivery = { event, deliveryId }
    // After one that did not fit, later ones wait too, so that the order stays.
    if (!this.#isOverfull && this.#queue.offer(delivery)) this.#present.set(eventId, delivery)
    else this.#isOverfull = true
  }

  #matches({ agentId, type }: EventRecord): boolean {
    const { agentId: wanted, types } = this.#options
    return (types === undefined || types.includes(type)) && (wanted === undefined || wanted === agentId)
  }

  /** The waiting events are delivered again, perhaps to another session. The one in hand stays in hand. */
  #leasesLost(): void {
    this.#queue.keep(({ event }) => {
      this.#present.delete(event.eventId)
      return false
    })
  }

  async #acknowledgeByRest(eventId: string): Promise<void> {
    try {
      await this.#caller.call("acknowledgeEvent", { eventId })
    } catch (error) {
      // The event is shown again to the next session, and acknowledged then.
      if (!(error instanceof AgentOsError)) throw error
    }
  }
}

/**
 * Yields events, each until the next one is asked for, and then acknowledges it. A loop that is left by `break`, `return`
 * or an exception does not acknowledge its last event, which is delivered again.
 */
export const followEvents = async function* <Type extends EventType>(
  settings: Settings,
  caller: Caller,
  options: EventOptions<Type>,
  closing: AbortSignal
): AsyncGenerator<AgentEvent<Type>, void, undefined> {
  const subscription = new EventSubscription(settings, caller, options)
  const signal = options.signal === undefined ? closing : AbortSignal.any([closing, options.signal])
  const close = () => subscription.close()
  signal.addEventListener("abort", close)
  if (signal.aborted) close()
  try {
    for (;;) {
      const delivery = await subscription.take()
      if (delivery === undefined) return
      const acknowledge = () => subscription.acknowledge(delivery)
      // Only events of the types were taken.
      yield { ...delivery.event, acknowledge } as unknown as AgentEvent<Type>
      await acknowledge()
    }
  } finally {
    signal.removeEventListener("abort", close)
    close()
  }
}
