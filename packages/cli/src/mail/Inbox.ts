import { Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { timeOfFlag } from "../output/Wording.ts"
import type { DataOf, Server } from "../server/Server.ts"

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

/**
 * Polls for received messages since the value of --since. Each call returns the messages that the ones before did not, the one
 * that was stored last first.
 */
export const pollInbox = (context: Context, client: Server, mailboxId: string | undefined, since: string) => {
  const { host } = context
  const started = host.now()
  const seen = new Set<string>()
  /** The time of the earliest message, by the clock of the server, which dates the messages. */
  let earliest: string | undefined
  return async (): Promise<ReadonlyArray<ListedMessage>> => {
    const found: Array<ListedMessage> = []
    let cursor: string | undefined
    for (let page = 0; page < PAGE_LIMIT; page++) {
      const { data, time } = await client.callAt("queryMessages", { query: { mailboxId, limit: PAGE_SIZE, cursor } })
      if (!("items" in data))
        throw new Failure({ code: "UNEXPECTED_ANSWER", message: "The server returned a message instead of a list." })
      const oldest = (earliest ??= timeOfFlag("since", since, Date.parse(time) - (host.now() - started)))
      const recent = data.items.filter(({ createdAt }) => createdAt >= oldest)
      found.push(...recent.filter(({ direction, messageId }) => direction === "inbound" && !seen.has(messageId)))
      if (recent.length < data.items.length || data.nextCursor === null) break
      cursor = data.nextCursor
    }
    for (const { messageId } of found) seen.add(messageId)
    // Ids sort by the time of storing, and a mail that arrived before another may be stored after it.
    return found.toSorted((one, other) => (one.messageId < other.messageId ? 1 : -1))
  }
}
