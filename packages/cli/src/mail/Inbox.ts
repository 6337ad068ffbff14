import { Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { timeOfFlag } from "../output/Wording.ts"
import { type Server, type DataOf, queryOf, serverTime } from "../server/Server.ts"
import { ROUTES } from "../server/Routes.ts"

/** A message with its body. */
export type Message = Extract<DataOf<"queryMessages">, { readonly message: unknown }>["message"]
/** A message in a list, without its body. */
export type ListedMessage = Extract<DataOf<"queryMessages">, { readonly items: unknown }>["items"][number]

/** How far back the first query looks without --since, because a message often arrives before the command starts. */
export const LOOKBACK = "60s"
const PAGE_SIZE = 100
/** Maximum number of pages of one query. */
const PAGE_LIMIT = 10

export const readMessage = async (client: Server, messageId: string): Promise<{ readonly message: Message }> => {
  const data = await client.call("queryMessages", { query: { messageId } })
  if ("message" in data) return data
  throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server returned a list instead of a message." })
}

/** A received message, and whether it arrived before the command started. */
export interface Received {
  readonly listed: ListedMessage
  readonly isOld: boolean
}

/** Polls for received messages. */
export class Inbox {
  readonly #context: Context
  readonly #client: Server
  readonly #mailboxId: string | undefined
  readonly #since: string
  readonly #started: number
  readonly #seen = new Set<string>()
  /** By the clock of the server, which dates the messages: the start of the command, and the earliest message. */
  #times: { readonly start: string; readonly since: string } | undefined

  /** `since` is the value of --since. */
  constructor(context: Context, client: Server, mailboxId: string | undefined, since: string) {
    this.#context = context
    this.#client = client
    this.#mailboxId = mailboxId
    this.#since = since
    this.#started = context.host.now()
  }

  /** Returns the messages that it has not returned before, newest first. */
  async poll(): Promise<ReadonlyArray<Received>> {
    const found: Array<Received> = []
    // The times are exact to the second, so messages that the first query finds are old as well.
    const isFirst = this.#times === undefined
    let cursor: string | undefined
    for (let page = 0; page < PAGE_LIMIT; page++) {
      const { items, nextCursor, time } = await this.#page(cursor)
      const { since, start } = (this.#times ??= this.#timesAt(time))
      const recent = items.filter(({ createdAt }) => createdAt >= since)
      for (const listed of recent)
        if (listed.direction === "inbound" && !this.#seen.has(listed.messageId))
          found.push({ listed, isOld: isFirst || listed.createdAt < start })
      if (recent.length < items.length || nextCursor === null) break
      cursor = nextCursor
    }
    for (const { listed } of found) this.#seen.add(listed.messageId)
    return found
  }

  #timesAt(serverNow: string) {
    const start = Date.parse(serverNow) - (this.#context.host.now() - this.#started)
    return { start: new Date(start).toISOString(), since: timeOfFlag("since", this.#since, start) }
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
