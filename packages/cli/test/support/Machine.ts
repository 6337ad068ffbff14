import type { JournalState } from "@agentos/client"
import { Failure } from "@agentos/node/command-line"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Host } from "../../src/host/Host.ts"
import { type HeldEntry, holdEntry } from "../../src/payment/Journal.ts"
import type { StoredEntry } from "../../src/payment/JournalFile.ts"

const homes: Array<string> = []

/** Deletes the homes of the machines. */
export const removeMachines = (): void => homes.splice(0).forEach((home) => rmSync(home, { recursive: true }))

export const NOW = Date.parse("2026-01-31T12:00:00Z")
export const HOUR = 3_600_000

/** A host with an empty home, a stopped clock and short sleeps. */
export const machine = (): Host & { readonly home: string } => {
  const home = mkdtempSync(join(tmpdir(), "agentctl-journal-"))
  homes.push(home)
  const sink = { write: () => {}, isTerminal: false, columns: undefined, drained: () => Promise.resolve() }
  return {
    home,
    argv: [],
    env: { AGENTOS_HOME: home },
    workingDirectory: home,
    homeDirectory: home,
    stdout: sink,
    stderr: sink,
    stdinIsTerminal: false,
    readStdin: () => Promise.resolve(""),
    ask: () => Promise.reject(new Error("no terminal")),
    now: () => NOW,
    sleep: (millis) => sleep(millis / 2),
    signal: new AbortController().signal
  }
}

/** The signed payment of every entry. */
export const SIGNATURE = "c2lnbmVkLXBheW1lbnQ="

/** A prepared payment with overrides. */
export const entry = (more: Partial<StoredEntry> = {}): StoredEntry => ({
  id: randomUUID(),
  createdAt: NOW,
  profile: "default",
  baseUrl: "https://agentos.example",
  serviceId: "email.mailbox.create",
  operationId: "createMailbox",
  method: "POST",
  path: "/api/v1/email/mailboxes",
  body: '{"localPart":"ada"}',
  idempotencyKey: randomUUID(),
  withToken: false,
  payer: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  amount: "250000",
  asset: "0x77",
  network: "eip155:196",
  payTo: "0x11",
  // The signature has no expiry.
  validBefore: Number.MAX_SAFE_INTEGER,
  paymentSignature: SIGNATURE,
  state: { tag: "prepared" },
  ...more
})

export const answered = (paymentState: "none" | "settled" | "unknown" | "refunded", status = 201): JournalState => ({
  tag: "answered",
  status,
  requestId: null,
  transaction: null,
  receipt: null,
  paymentState
})

/** Returns the id of a payment of this time. */
export const paymentIdAt = (createdAt: number): string => {
  const time = createdAt.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** Locks a payment and works on it. */
export const withEntry = async (host: Host, id: string, use: (held: HeldEntry) => Promise<void>): Promise<void> => {
  const held = await holdEntry(host, id)
  try {
    await use(held)
  } finally {
    held.release()
  }
}

/** Returns `done`, or the code of the failure. */
export const codeOf = async (use: () => Promise<unknown>): Promise<string> => {
  try {
    await use()
    return "done"
  } catch (error) {
    return error instanceof Failure ? error.parts.code : String(error)
  }
}
