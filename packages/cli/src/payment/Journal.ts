import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { journalFolder } from "../config/Home.ts"
import { Failure } from "../failure/Failure.ts"
import { withLock } from "../file/FileLock.ts"
import {
  errorCode,
  fileFailure,
  privateFolder,
  readJsonIfAny,
  requirePrivate,
  writePrivate
} from "../file/PrivateFile.ts"
import type { Host } from "../host/Host.ts"
import {
  advance,
  decodeEntry,
  encodeEntry,
  NOT_TO_REMOVE,
  type JournalEntry,
  type JournalState
} from "./JournalEntry.ts"
import { momentOfPayment } from "./PaymentId.ts"

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const pathOf = (host: Host, id: string): string => join(journalFolder(host), `${id}.json`)

const missing = (id: string): Failure =>
  new Failure({
    code: "NOT_FOUND",
    message: `There is no payment ${id} in the journal.`,
    next: ["agentctl payments list"]
  })

/** Reads one payment. */
export const readEntry = async (host: Host, id: string): Promise<JournalEntry> => {
  if (!ID.test(id)) throw missing(id)
  const path = pathOf(host, id)
  const value = await readJsonIfAny(path, NOT_TO_REMOVE)
  if (value === undefined) throw missing(id)
  await requirePrivate(path)
  return decodeEntry(value, id, path)
}

/**
 * Every payment, newest first; with `since`, in milliseconds since 1970, those made from then on, and older ones only where
 * their id does not say when they were. A file that can't be read is a failure: it may be money.
 */
export const readEntries = async (
  host: Host,
  options: { readonly since?: number } = {}
): Promise<ReadonlyArray<JournalEntry>> => {
  let names: ReadonlyArray<string>
  try {
    names = await readdir(journalFolder(host))
  } catch (error) {
    if (errorCode(error) === "ENOENT") return []
    throw fileFailure(journalFolder(host), "read", error)
  }
  const ids = names.flatMap((name) => (name.endsWith(".json") && ID.test(name.slice(0, -5)) ? [name.slice(0, -5)] : []))
  const entries: Array<JournalEntry> = []
  const { since = 0 } = options
  // A journal holds every payment ever made: a limit of a day must not take longer with each of them.
  for (const id of ids) if ((momentOfPayment(id) ?? since) >= since) entries.push(await readEntry(host, id))
  return entries.toSorted((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? 1 : -1))
}

/** Writes down a new payment. Once this returns, it is on disk: only now may it be sent. */
export const addEntry = async (host: Host, entry: JournalEntry): Promise<void> => {
  await privateFolder(journalFolder(host))
  await writePrivate(pathOf(host, entry.id), encodeEntry(entry), { onlyNew: true })
}

/** An entry that this process alone works on. */
export interface HeldEntry {
  /** As it was last written. */
  readonly current: () => JournalEntry
  /** Writes down the next state, and returns once that is on disk. */
  readonly advance: (state: JournalState) => Promise<JournalEntry>
}

/**
 * Works on one payment while no other process does. Throws LOCKED where another
 * one is at it. The entry is read under the lock, so its state is the latest.
 */
export const withEntry = (host: Host, id: string, use: (held: HeldEntry) => Promise<void>): Promise<void> =>
  withLock(journalFolder(host), id, async () => {
    let entry = await readEntry(host, id)
    await use({
      current: () => entry,
      advance: async (state) => {
        const next = advance(entry, state)
        await writePrivate(pathOf(host, id), encodeEntry(next))
        entry = next
        return next
      }
    })
  })
