import type { Context } from "../command/Command.ts"
import { Failure } from "../failure/Failure.ts"
import { type ApiClient, type DataOf, queryOf, serverTime } from "../server/ApiClient.ts"
import { ROUTES } from "../server/Routes.ts"

/** A message with its body. */
export type Message = Extract<DataOf<"queryMessages">, { readonly message: unknown }>["message"]
/** A message in a list, without its body. */
export type ListedMessage = Extract<DataOf<"queryMessages">, { readonly items: unknown }>["items"][number]

/** How far back the first query looks, because a message often arrives before the command starts. */
const LOOKBACK_MILLIS = 60_000
const PAGE_SIZE = 100
/** Maximum number of pages of one query. */
const PAGE_LIMIT = 10

export const readMessage = async (client: ApiClient, messageId: string): Promise<{ readonly message: Message }> => {
  const data = await client.call("queryMessages", { query: { messageId } })
  if ("message" in data) return data
  throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server returned a list instead of a message." })
}

/** Polls for received messages. */
export class Inbox {
  readonly #context: Context
  readonly #client: ApiClient
  readonly #mailboxId: string | undefined
  readonly #seen = new Set<string>()
  /** By the clock of the server, which dates the messages. */
  #since: string | undefined

  constructor(context: Context, client: ApiClient, mailboxId: string | undefined) {
    this.#context = context
    this.#client = client
    this.#mailboxId = mailboxId
  }

  /** Returns the messages that it has not returned before, newest first. */
  async poll(): Promise<ReadonlyArray<ListedMessage>> {
    const found: Array<ListedMessage> = []
    let cursor: string | undefined
    for (let page = 0; page < PAGE_LIMIT; page++) {
      const { items, nextCursor, time } = await this.#page(cursor)
      this.#since ??= new Date(Date.parse(time) - LOOKBACK_MILLIS).toISOString()
      const since = this.#since
      const recent = items.filter(({ createdAt }) => createdAt >= since)
      found.push(...recent.filter(({ direction, messageId }) => direction === "inbound" && !this.#seen.has(messageId)))
      if (recent.length < items.length || nextCursor === null) break
      cursor = nextCursor
    }
    for (const { messageId } of found) this.#seen.add(messageId)
    return found
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
