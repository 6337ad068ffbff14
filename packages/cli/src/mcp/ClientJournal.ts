import type { JournalEntry as ClientEntry, PaymentJournal } from "@agentos/client"
import { Failure } from "@agentos/command-line"
import type { Host } from "../host/Host.ts"
import { type Budget, reserve } from "../payment/Budget.ts"
import { type HeldEntry, holdEntry, readEntries, readEntry } from "../payment/Journal.ts"
import { clientStateOf, isOpen, type JournalEntry, type ListedEntry, validUntil } from "../payment/JournalEntry.ts"
import { checkLimits } from "./Limits.ts"
import { operationAt, ROUTES } from "../server/Routes.ts"

const DAY_MILLIS = 24 * 60 * 60 * 1_000

/** Returns an entry as the client knows it. Only an open one has a large body, because only it is sent again. */
const toClientEntry = (entry: ListedEntry, body: string | null): ClientEntry => {
  const { createdAt, paymentSignature, profile: _profile, quote, serviceId, state, ...others } = entry
  const { amount, ...terms } = quote
  return {
    ...others,
    ...terms,
    createdAt,
    operationId: operationAt(entry.method, entry.path) ?? serviceId,
    body,
    amount: String(amount),
    // A payment without an expiry counts as valid for the longest time that is signed.
    validBefore: validUntil(paymentSignature) ?? Math.ceil((createdAt + DAY_MILLIS) / 1_000),
    paymentSignature,
    state: clientStateOf(state)
  }
}

const fromClientEntry = (entry: ClientEntry, profile: string): JournalEntry => {
  const { amount, asset, network, operationId, payTo, state: _state, validBefore: _validBefore, ...others } = entry
  const route = Object.hasOwn(ROUTES, operationId) ? ROUTES[operationId as keyof typeof ROUTES] : undefined
  return {
    ...others,
    profile,
    serviceId: route?.serviceId ?? operationId,
    quote: { amount: BigInt(amount), asset, network, payTo },
    state: { tag: "prepared" }
  }
}

type Held = HeldEntry & { readonly release: () => void }

/**
 * The journal of agentctl for the payments of a client. Each payment is locked from its signature to its outcome, so that
 * no other process sends it meanwhile.
 */
export class ClientJournal implements PaymentJournal {
  readonly #host: Host
  readonly #profile: string
  readonly #limits: Budget
  readonly #held = new Map<string, Held>()

  /** `limits` apply beside the budget of the profile. */
  constructor(host: Host, profile: string, limits: Budget) {
    this.#host = host
    this.#profile = profile
    this.#limits = limits
  }

  async load(): Promise<ReadonlyArray<ClientEntry>> {
    const since = this.#host.now() - DAY_MILLIS
    const entries = await readEntries(this.#host)
    const needed = entries.filter(
      (entry) => entry.profile === this.#profile && (isOpen(entry) || entry.createdAt > since)
    )
    return Promise.all(
      needed.map(async (entry) =>
        toClientEntry(entry, isOpen(entry) ? (await readEntry(this.#host, entry.id)).body : null)
      )
    )
  }

  async save(entry: ClientEntry): Promise<void> {
    const { id, state } = entry
    if (state.tag === "prepared") return this.#add(entry)
    const held = this.#held.get(id) ?? (await this.#hold(id))
    if (state.tag === "answered") await this.#host.atStep?.("kept")
    // A payment that was sent once stays open: only an answer of the server ends it.
    if (state.tag !== "given-up" || held.current().state.tag === "prepared") await held.advance(state)
    if (state.tag === "sent") return this.#host.atStep?.("sending")
    this.release(id)
    if (state.tag === "answered") await this.#host.atStep?.("closed")
  }

  /** Unlocks a payment whose outcome stays unknown, so that `agentctl payments resume` can find it out. */
  release(id: string): void {
    this.#held.get(id)?.release()
    this.#held.delete(id)
  }

  async #add(entry: ClientEntry): Promise<void> {
    await this.#hold(entry.id, () => this.#reserve(fromClientEntry(entry, this.#profile)))
    await this.#host.atStep?.("written")
  }

  /** Another process may have paid since the limits were checked. The signature is then discarded. */
  async #reserve(entry: JournalEntry): Promise<void> {
    try {
      await reserve(this.#host, entry, this.#limits)
    } catch (error) {
      if (error instanceof Failure && error.parts.code === "OVER_BUDGET")
        await checkLimits(this.#host, this.#profile, entry.quote.amount, this.#limits, "Nothing was sent.")
      throw error
    }
  }

  async #hold(id: string, add?: () => Promise<void>): Promise<Held> {
    const held = await holdEntry(this.#host, id, add)
    this.#held.set(id, held)
    return held
  }
}
