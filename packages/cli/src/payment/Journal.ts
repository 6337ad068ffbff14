import type { JournalState } from "@agentos/client"
import { errorCode, Failure } from "@agentos/node/command-line"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { homeFolder } from "../config/ConfigFile.ts"
import { lockFile } from "../file/FileLock.ts"
import {
  fileFailure,
  privateFolder,
  readIfExists,
  readJsonIfExists,
  requirePrivate,
  writePrivate
} from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"
import {
  advance,
  decodeEntry,
  encodeEntry,
  hashOfBody,
  isLargeBody,
  KEEP_ADVICE,
  type ListedEntry,
  type StoredEntry,
  timeOfPayment
} from "./JournalFile.ts"

/** More than a message with 10 MiB of attachments. Earlier versions stored it in the entry. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const journalFolder = (host: Host): string => join(homeFolder(host), "journal")
/** The file of a large body. */
const bodyPathOf = (host: Host, id: string): string => join(journalFolder(host), `${id}.body`)
const pathOf = (host: Host, id: string): string => join(journalFolder(host), `${id}.json`)

const missing = (id: string): Failure =>
  new Failure({
    code: "NOT_FOUND",
    message: `The journal contains no payment ${id}.`,
    next: ["agentctl payments list"]
  })

const readListed = async (host: Host, id: string): Promise<ListedEntry> => {
  if (!ID.test(id)) throw missing(id)
  const path = pathOf(host, id)
  const value = await readJsonIfExists(path, KEEP_ADVICE, BODY_LIMIT_BYTES)
  if (value === undefined) throw missing(id)
  await requirePrivate(path)
  return decodeEntry(value, id, path)
}

/** Reads a payment with its body. */
export const readEntry = async (host: Host, id: string): Promise<StoredEntry> => {
  const entry = await readListed(host, id)
  const { body } = entry
  if (body === null || typeof body === "string") return { ...entry, body }
  const path = bodyPathOf(host, id)
  const text = await readIfExists(path, BODY_LIMIT_BYTES)
  if (text !== undefined && hashOfBody(text) === body.sha256) return { ...entry, body: text }
  throw new Failure({
    code: "CONFIGURATION",
    message: `${path} is ${text === undefined ? "missing" : "not the body of the payment"}. Restore it to resume payment ${id}.`
  })
}

/**
 * Reads all payments without large bodies, newest first. With `since`, in milliseconds since 1970, skips the files whose
 * id contains an earlier time. A file that cannot be read is a failure, because it may be money.
 */
export const readEntries = async (
  host: Host,
  options: { readonly since?: number } = {}
): Promise<ReadonlyArray<ListedEntry>> => {
  let names: ReadonlyArray<string>
  try {
    names = await readdir(journalFolder(host))
  } catch (error) {
    if (errorCode(error) === "ENOENT") return []
    throw fileFailure(journalFolder(host), "read", error)
  }
  const ids = names.flatMap((name) => (name.endsWith(".json") && ID.test(name.slice(0, -5)) ? [name.slice(0, -5)] : []))
  const entries: Array<ListedEntry> = []
  const { since = 0 } = options
  // The journal keeps every payment, so the check of a daily limit must not read all of them.
  for (const id of ids) if ((timeOfPayment(id) ?? since) >= since) entries.push(await readListed(host, id))
  return entries.toSorted((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? 1 : -1))
}

/** Writes a new payment. It is on disk when this returns, and may be sent only then. */
export const addEntry = async (host: Host, entry: StoredEntry): Promise<void> => {
  await privateFolder(journalFolder(host))
  if (isLargeBody(entry.body)) await writePrivate(bodyPathOf(host, entry.id), entry.body, { onlyNew: true })
  await writePrivate(pathOf(host, entry.id), encodeEntry(entry), { onlyNew: true })
}

/** An entry that this process has locked. */
export interface HeldEntry {
  /** Returns the entry as last written. */
  readonly current: () => StoredEntry
  /** Writes the next state. It is on disk when this returns. */
  readonly advance: (state: JournalState) => Promise<StoredEntry>
  readonly release: () => void
}

/**
 * Locks a payment and reads it. `add` writes a new one first. Throws LOCKED if another process holds the lock.
 */
export const holdEntry = async (
  host: Host,
  id: string,
  add: () => Promise<void> = () => Promise.resolve()
): Promise<HeldEntry> => {
  const lock = await lockFile(journalFolder(host), id)
  const release = () => {
    try {
      lock.release()
    } catch {
      // A file that cannot be removed locks nothing after this process has ended.
    }
  }
  try {
    await add()
    let entry = await readEntry(host, id)
    return {
      current: () => entry,
      advance: async (state) => {
        const next = advance(entry, state)
        await writePrivate(pathOf(host, id), encodeEntry(next))
        entry = next
        return next
      },
      release
    }
  } catch (error) {
    release()
    throw error
  }
}
