import { Failure } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { timeOfFlag } from "../output/Wording.ts"
import type { DataOf, Server } from "../server/Server.ts"
import { join } from "node:path"
import { homeFolder } from "../config/ConfigFile.ts"
import { withFreeLock } from "../file/FileLock.ts"
import { isRecord } from "../file/Json.ts"
import { readJsonIfExists, writePrivate } from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"

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

/*
 * The messages whose codes or links `mail wait` has printed, in `codes.json` of the home folder: a site that sends a second
 * code revokes the first one, so none is printed twice, and none that is older than the last one of its sender.
 */

/** The file forgets the oldest senders. */
const SENDERS_LIMIT = 100

const pathOf = (host: Host): string => join(homeFolder(host), "codes.json")

/** Identifies a sender of codes or links at a mailbox of a server. */
export const senderKey = (
  baseUrl: string,
  { from, mailboxId }: { readonly from: string; readonly mailboxId: string },
  part: "code" | "link"
) => `${baseUrl} ${mailboxId} ${from.toLowerCase()}${part === "code" ? "" : " link"}`

/** Returns the id of the last message whose code or link was printed, by sender. Ids sort by the time of storing (UUIDv7). */
export const readLastCodes = async (host: Host): Promise<ReadonlyMap<string, string>> => {
  const value = await readJsonIfExists(pathOf(host))
  return new Map(
    isRecord(value)
      ? Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string")
      : []
  )
}

/** Remembers a message whose code or link is about to be printed. Returns false if another process has printed it, or a newer one. */
export const rememberCode = (host: Host, key: string, messageId: string): Promise<boolean> =>
  withFreeLock(host, homeFolder(host), "codes", async () => {
    const { [key]: last = "", ...others } = Object.fromEntries(await readLastCodes(host))
    if (messageId <= last) return false
    const kept = Object.entries(others).slice(1 - SENDERS_LIMIT)
    await writePrivate(
      pathOf(host),
      `${JSON.stringify(Object.fromEntries([...kept, [key, messageId]]), undefined, 2)}\n`
    )
    return true
  })
