import { isOpen, type JournalEntry, type JournalState, type PaymentJournal } from "@agentos/client"
import type { Host } from "../host/Host.ts"
import { type HeldEntry, holdEntry, readEntries, readEntry } from "./Journal.ts"
import { type StoredEntry, storedEntry } from "./JournalFile.ts"

const DAY_MILLIS = 24 * 60 * 60 * 1_000

export interface FileJournalParts {
  readonly host: Host
  readonly profile: string
  /** Checks the limits and writes a new entry, under the lock of the budget. */
  readonly reserve: (entry: StoredEntry) => Promise<void>
  /** Whether a call resumes an open payment of the same request. A command leaves that to `payments resume`. */
  readonly resumesCalls: boolean
}

/**
 * The files of the journal, for a client. Each payment is locked from its signature to its outcome, so that no other process
 * sends it meanwhile.
 */
export class FileJournal implements PaymentJournal {
  readonly #parts: FileJournalParts
  readonly #held = new Map<string, HeldEntry>()
  #last: HeldEntry | undefined
  /** The state that was last to be written. */
  saving: JournalState["tag"] | undefined

  constructor(parts: FileJournalParts) {
    this.#parts = parts
  }

  async load(): Promise<ReadonlyArray<JournalEntry>> {
    const { host, profile, resumesCalls } = this.#parts
    if (!resumesCalls) return []
    const since = host.now() - DAY_MILLIS
    const entries = await readEntries(host)
    const needed = entries.filter((entry) => entry.profile === profile && (isOpen(entry) || entry.createdAt > since))
    // Only an open payment is sent again, with its body.
    return Promise.all(
      needed.map(async (entry) => ({ ...entry, body: isOpen(entry) ? (await readEntry(host, entry.id)).body : null }))
    )
  }

  /** Locks a payment and returns it. A client that resumes calls knows its payments from `load`. */
  async find(id: string): Promise<StoredEntry | undefined> {
    return this.#parts.resumesCalls ? undefined : (await this.#hold(id)).current()
  }

  async save(entry: JournalEntry): Promise<void> {
    const { host, profile, reserve } = this.#parts
    const { id, state } = entry
    this.saving = state.tag
    if (state.tag === "prepared") {
      await this.#hold(id, () => reserve(storedEntry(entry, profile)))
      return host.atStep?.("written")
    }
    const held = this.#held.get(id) ?? (await this.#hold(id))
    if (state.tag === "answered") await host.atStep?.("kept")
    // A payment that was sent once stays open: only an answer of the server ends it.
    if (state.tag !== "given-up" || held.current().state.tag === "prepared") await held.advance(state)
    if (state.tag === "sent") return host.atStep?.("sending")
    this.release(id)
    if (state.tag === "answered") await host.atStep?.("closed")
  }

  /** Returns the payment that was last used, as last written. Undefined before the first. */
  last(): StoredEntry | undefined {
    return this.#last?.current()
  }

  /** Unlocks a payment whose outcome stays unknown, so that `agentctl payments resume` can find it out. */
  release(id: string): void {
    this.#held.get(id)?.release()
    this.#held.delete(id)
  }

  /** Unlocks all payments. */
  close(): void {
    for (const id of this.#held.keys()) this.release(id)
  }

  async #hold(id: string, add?: () => Promise<void>): Promise<HeldEntry> {
    const held = await holdEntry(this.#parts.host, id, add)
    this.#held.set(id, held)
    this.#last = held
    return held
  }
}
