import { join } from "node:path"
import { homeFolder } from "../config/ConfigFile.ts"
import { withFreeLock } from "../file/FileLock.ts"
import { isRecord } from "../file/Json.ts"
import { readJsonIfExists, writePrivate } from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"

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
