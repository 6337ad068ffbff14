import type { MxRecord } from "node:dns"
import { Resolver } from "node:dns/promises"
import type { DnsRecord, SenderDns } from "../SenderDns.ts"

/**
 * The answer to a lookup by type: for TXT the strings of each record, for MX its parts, for all others one text
 * each.
 */
export type DnsAnswer = Array<Array<string>> | Array<MxRecord> | Array<string>

/** Looks up a name. Rejects with the codes of node:dns: `ENOTFOUND`, `ENODATA`, `ETIMEOUT` … */
export type Lookup = (name: string, type: string) => Promise<DnsAnswer>

/** Time limit of one query to one server, in milliseconds; each is tried twice. */
const QUESTION_MILLIS = 2_000
const TRIES = 2

/** How long a question is not asked again after no server answered it. */
const SILENCE_MILLIS = 30_000
const SILENT_MAX = 1_000

/** The questions that no server has answered lately. All mails of the process share them. */
const silent = new Set<string>()

const markSilent = (question: string): void => {
  if (silent.size >= SILENT_MAX) return
  silent.add(question)
  setTimeout(() => silent.delete(question), SILENCE_MILLIS).unref()
}

const dnsError = (code: string, type: string, name: string): Error =>
  Object.assign(new Error(`query${type} ${code} ${name}`), { code })

const zoneName = (name: string): string => name.toLowerCase().replace(/\.$/, "")

const parseMx = (value: string): MxRecord => {
  const [priority = "0", exchange = "."] = value.trim().split(/\s+/)
  return { priority: Number(priority), exchange: zoneName(exchange) }
}

const zoneLookup =
  (records: ReadonlyArray<DnsRecord>): Lookup =>
  async (name, type) => {
    const known = records.filter((record) => zoneName(record.name) === zoneName(name))
    const values = known.filter((record) => record.type === type).map(({ value }) => value)
    if (values.length === 0) throw dnsError(known.length === 0 ? "ENOTFOUND" : "ENODATA", type, name)
    switch (type) {
      case "TXT":
        return values.map((value) => [value])
      case "MX":
        return values.map(parseMx)
      default:
        return values
    }
  }

const resolverLookup =
  (resolver: Resolver): Lookup =>
  async (name, type) => {
    switch (type) {
      case "TXT":
        return resolver.resolveTxt(name)
      case "MX":
        return resolver.resolveMx(name)
      case "A":
        return resolver.resolve4(name)
      case "AAAA":
        return resolver.resolve6(name)
      case "PTR":
        return resolver.resolvePtr(name)
      default:
        throw dnsError("ENODATA", type, name)
    }
  }

interface Lookups {
  readonly ask: Lookup
  readonly cancel: () => void
}

const inZone = (records: ReadonlyArray<DnsRecord>): Lookups => ({ ask: zoneLookup(records), cancel: () => undefined })

const byResolver = (dns: Exclude<SenderDns, { readonly _tag: "Zone" }>): Lookups => {
  const resolver = new Resolver({ timeout: QUESTION_MILLIS, tries: TRIES })
  if (dns._tag === "Servers") resolver.setServers(dns.servers)
  return { ask: resolverLookup(resolver), cancel: () => resolver.cancel() }
}

/**
 * Opens the lookups for one mail. After `millis`, or after `lookupsMax` lookups, every lookup fails with
 * `ETIMEOUT`, so that a slow or hostile DNS affects a result but never the mail. So does, for a short time, a question
 * that no server has answered. `close` cancels pending lookups.
 */
export const openLookup = (
  dns: SenderDns,
  limits: { readonly millis: number; readonly lookupsMax: number }
): { readonly lookup: Lookup; readonly close: () => void } => {
  const { ask, cancel } = dns._tag === "Zone" ? inZone(dns.records) : byResolver(dns)

  let expire = () => {}
  let expired = false
  const expiry = new Promise<void>((resolve) => (expire = resolve))
  const timer = setTimeout(() => {
    expired = true
    expire()
  }, limits.millis)
  let lookups = 0
  return {
    lookup: async (name, type) => {
      const late = () => dnsError("ETIMEOUT", type, name)
      const question = `${type} ${zoneName(name)}`
      if (expired || ++lookups > limits.lookupsMax || silent.has(question)) throw late()
      // A question that was asked shortly before the end of the time may still be answered.
      let isUnanswered = false
      const patience = setTimeout(() => (isUnanswered = true), QUESTION_MILLIS)
      try {
        return await Promise.race([ask(name, type), expiry.then(() => Promise.reject(late()))])
      } catch (error) {
        if (isUnanswered && codeOf(error) === "ETIMEOUT") markSilent(question)
        throw error
      } finally {
        clearTimeout(patience)
      }
    },
    close: () => {
      clearTimeout(timer)
      cancel()
    }
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined)
