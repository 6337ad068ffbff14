import { Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { timeOfFlag } from "../output/Wording.ts"
import { type Server, type DataOf, queryOf, serverTime } from "../server/Server.ts"
import { ROUTES } from "../server/Routes.ts"

/** A message with its body. */
export type Message = Extract<DataOf<"queryMessages">, { readonly message: unknown }>["message"]
/** A message in a list, without its body. */
export type ListedMessage = Extract<DataOf<"queryMessages">, { readonly items: unknown }>["items"][number]

/**
 * How far back the first query looks without --since, because a message often arrives before the command starts. The same
 * for messages, codes and links, and the same as that of the client's `waitForMail`, `waitForCode` and `waitForLink`.
 */
export const LOOKBACK = "60s"
const PAGE_SIZE = 100
/** Maximum number of pages of one query. */
const PAGE_LIMIT = 10

export const readMessage = async (client: Server, messageId: string): Promise<{ readonly message: Message }> => {
  const data = await client.call("queryMessages", { query: { messageId } })
  if ("message" in data) return data
  throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server returned a list instead of a message." })
}

/** Polls for received messages. */
export class Inbox {
  readonly #context: Context
  readonly #client: Server
  readonly #mailboxId: string | undefined
  readonly #since: string
  readonly #started: number
  readonly #seen = new Set<string>()
  /** The time of the earliest message, by the clock of the server, which dates the messages. */
  #earliest: string | undefined

  /** `since` is the value of --since. */
  constructor(context: Context, client: Server, mailboxId: string | undefined, since: string) {
    this.#context = context
    this.#client = client
    this.#mailboxId = mailboxId
    this.#since = since
    this.#started = context.host.now()
  }

  /** Returns the messages that it has not returned before, the one that was stored last first. */
  async poll(): Promise<ReadonlyArray<ListedMessage>> {
    const found: Array<ListedMessage> = []
    let cursor: string | undefined
    for (let page = 0; page < PAGE_LIMIT; page++) {
      const { items, nextCursor, time } = await this.#page(cursor)
      const earliest = (this.#earliest ??= this.#earliestAt(time))
      const recent = items.filter(({ createdAt }) => createdAt >= earliest)
      found.push(...recent.filter(({ direction, messageId }) => direction === "inbound" && !this.#seen.has(messageId)))
      if (recent.length < items.length || nextCursor === null) break
      cursor = nextCursor
    }
    for (const { messageId } of found) this.#seen.add(messageId)
    // Ids sort by the time of storing, and a mail that arrived before another may be stored after it.
    return found.toSorted((one, other) => (one.messageId < other.messageId ? 1 : -1))
  }

  #earliestAt(serverNow: string): string {
    return timeOfFlag("since", this.#since, Date.parse(serverNow) - (this.#context.host.now() - this.#started))
  }

  async #page(cursor: string | undefined) {
    const { method, path } = ROUTES.queryMessages
    const query = queryOf({ mailboxId: this.#mailboxId, limit: PAGE_SIZE, cursor })
    const answer = await this.#client.send({ method, path: `${path}${query}`, repeatable: true })
    const data = this.#client.dataOf(answer) as DataOf<"queryMessages">
    if (!("items" in data))
      throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server returned a message instead of a list." })
    return { ...data, time: serverTime(answer.headers) ?? new Date(this.#context.host.now()).toISOString() }
  }
}
