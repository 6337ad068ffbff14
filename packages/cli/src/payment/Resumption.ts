import type { Context } from "../command/Handler.ts"
import { findToken } from "../config/Credentials.ts"
import { Failure } from "../failure/Failure.ts"
import { shellWord } from "../output/ShellWord.ts"
import { ApiClient } from "../server/ApiClient.ts"
import { askAgain, type Delivered, deliver } from "./Delivery.ts"
import { type HeldEntry, withEntry } from "./Journal.ts"
import { isOpen, type JournalEntry } from "./JournalEntry.ts"
import { isPastUse } from "./SignedPayment.ts"

/** How a payment stands after it was taken up: with the answer's data, where it bought something. */
export interface Resumed {
  readonly entry: JournalEntry
  readonly data: Delivered["data"] | null
}

const clientFor = async (context: Context, entry: JournalEntry): Promise<ApiClient> => {
  const token = entry.withToken ? await findToken(context.host, entry.profile, entry.baseUrl) : undefined
  if (entry.withToken && token === undefined)
    throw new Failure({
      code: "NOT_LOGGED_IN",
      message: `Payment ${entry.id} was made with an access token, and profile ${entry.profile} has none for ${entry.baseUrl}.`,
      next: [`agentctl login --profile ${entry.profile} --base-url ${shellWord(entry.baseUrl)}`]
    })
  return new ApiClient(context, entry.baseUrl, token?.value)
}

/** Whether repeating it would be for nothing: it was refused without a charge, or given up. */
const isOver = ({ state }: JournalEntry): boolean =>
  state.tag === "given-up" || (state.tag === "answered" && state.paymentState === "none")

const isNeverSentAndOver = ({ paymentSignature, state }: JournalEntry, now: number): boolean =>
  state.tag === "prepared" && isPastUse(paymentSignature, now) === true

const resumeHeld = async (context: Context, held: HeldEntry): Promise<Resumed> => {
  const entry = held.current()
  if (isOver(entry)) return { entry, data: null }
  // Never sent and no longer valid: sending it now could only be refused.
  if (isNeverSentAndOver(entry, context.host.now()))
    return { entry: await held.advance({ tag: "given-up" }), data: null }
  const client = await clientFor(context, entry)
  return isOpen(entry) ? deliver(context, client, held) : askAgain(context, client, held)
}

/**
 * Takes a payment up where it was left: the same bytes are sent, and nothing is signed. One that was answered is asked
 * about again, and shows what it bought. Throws LOCKED where another process is at it.
 */
export const resume = async (context: Context, id: string): Promise<Resumed> => {
  let resumed: Resumed | undefined
  await withEntry(context.host, id, async (held) => {
    resumed = await resumeHeld(context, held)
  })
  if (resumed === undefined) throw new Failure({ code: "FAILED", message: `Payment ${id} was not taken up.` })
  return resumed
}
