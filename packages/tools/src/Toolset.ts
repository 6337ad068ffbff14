import type { AgentOs, Mailbox } from "@agentos/client"
import type { LiveCall } from "./LiveCall.ts"

/** A map that forgets its oldest entries. */
export class BoundedMap<Value> {
  readonly #entries = new Map<string, Value>()
  readonly #size: number

  constructor(size: number) {
    this.#size = size
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#size) return
      this.#entries.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}

const MAILBOXES_MAX = 1_000
const WAITS_MAX = 1_000
const CALLS_MAX = 64

/** The state that the tools of one agent keep between calls. */
export interface Toolset {
  /** One object for each mailbox, because it remembers which codes it has returned. */
  readonly mailboxes: BoundedMap<Mailbox>
  /** The time from which a wait that has found nothing looks for mail, by its input. */
  readonly waits: BoundedMap<number>
  /** The calls in which the model speaks. */
  readonly calls: BoundedMap<LiveCall>
}

const toolsets = new WeakMap<AgentOs, Toolset>()

export const toolsetOf = (agent: AgentOs): Toolset => {
  const known = toolsets.get(agent)
  if (known !== undefined) return known
  const toolset = {
    mailboxes: new BoundedMap<Mailbox>(MAILBOXES_MAX),
    waits: new BoundedMap<number>(WAITS_MAX),
    calls: new BoundedMap<LiveCall>(CALLS_MAX)
  }
  toolsets.set(agent, toolset)
  return toolset
}
