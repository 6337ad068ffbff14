import { type Check, failed, passed, skipped } from "@agentos/node/command-line"
import { dkimRecord, type DnsRecord, type Lookup, openLookup, type SenderDns } from "@agentos/provider-smtp"
import { Effect } from "effect"
import { NetAddress } from "effect/net"
import { isIP } from "node:net"
import type { MailConfig } from "../config/MailConfig.ts"
import { readNames } from "../config/ServerConfig.ts"
import { readDkimKey, senderDns } from "../program/ServerSetup.ts"
import type { Environment, Variable } from "../variable/Variables.ts"

/** The record of a key that signs outbound mail. */
interface DkimSource extends DnsRecord {
  readonly purpose: "DKIM" | "next DKIM"
  /** The variable that names the file of the key. */
  readonly variable: Variable
}

/** The names of a deployment that DNS must know. */
interface DnsNames {
  /** The host of the public URL. */
  readonly apiHost: string
  readonly mail:
    | {
        readonly domain: string
        /** The host of the SMTP listener. */
        readonly hostName: string
        readonly dkim: ReadonlyArray<DkimSource>
      }
    | undefined
  /** The IP addresses from which the relay sends, as far as they are known. */
  readonly sendsFrom: ReadonlyArray<string>
}

const TIME_LIMIT_MILLIS = 30_000
const LOOKUPS_MAX = 200

const NO_RECORD = new Set(["ENOTFOUND", "ENODATA"])

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "no code"

/** Returns the values of a record, and none if there is no such record. Rejects if DNS does not answer. */
const readerOf =
  (lookup: Lookup) =>
  async (type: string, name: string): Promise<ReadonlyArray<string>> => {
    try {
      return (await lookup(name, type)).map((value) => {
        if (typeof value === "string") return value
        return Array.isArray(value) ? value.join("") : `${value.priority} ${value.exchange}`
      })
    } catch (error) {
      if (NO_RECORD.has(codeOf(error))) return []
      throw error
    }
  }
type Read = ReturnType<typeof readerOf>

/** Reads a record, and has it judged: by what to change, or null. */
const find = async (
  name: string,
  read: Promise<ReadonlyArray<string>>,
  judge: (found: ReadonlyArray<string>) => string | null | Promise<string | null>
): Promise<Check> => {
  try {
    const found = await read
    const fix = await judge(found)
    const detail = found.length === 0 ? "not published" : found.join(", ")
    return { name, ...(fix === null ? passed(detail) : failed(detail, fix)) }
  } catch (error) {
    return { name, ...failed(`DNS did not answer (${codeOf(error)})`, "Check again later.") }
  }
}

const addressesOf = async (read: Read, host: string): Promise<ReadonlyArray<string>> =>
  (await Promise.all([read("A", host), read("AAAA", host)])).flat()

const sameName = (left: string, right: string): boolean =>
  left.replace(/\.$/, "").toLowerCase() === right.replace(/\.$/, "").toLowerCase()

const sameAddress = (left: string, right: string): boolean => canonical(left) === canonical(right)

const canonical = (address: string): string =>
  NetAddress.formatIp(NetAddress.toCanonical(NetAddress.ipFromStringUnsafe(address)))

/** Returns the name of an address in DNS (RFC 1035, section 3.5; RFC 3596, section 2.5). */
const reverseName = (address: string): string => {
  const ip = NetAddress.toCanonical(NetAddress.ipFromStringUnsafe(address))
  if (NetAddress.isIpv4Address(ip)) return `${[...NetAddress.ipv4ToOctets(ip)].toReversed().join(".")}.in-addr.arpa`
  const digits = NetAddress.ipv6ToSegments(ip)
    .map((segment) => segment.toString(16).padStart(4, "0"))
    .join("")
  return `${[...digits].toReversed().join(".")}.ip6.arpa`
}

/** Returns a tag of a record such as `v=DKIM1; k=rsa; p=…`, without white space. */
const tagOf = (record: string, name: string): string | undefined =>
  record
    .split(";")
    .map((part) => part.replaceAll(/\s/g, ""))
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1)

const checkHost = (read: Read, host: string, purpose: string, advice: string): ReadonlyArray<Promise<Check>> =>
  isIP(host.replaceAll(/[[\]]/g, "")) === 0
    ? [find(`A, AAAA ${host} (${purpose})`, addressesOf(read, host), (found) => (found.length > 0 ? null : advice))]
    : []

const checkSpf = (read: Read, domain: string): Promise<Check> =>
  find(
    `TXT ${domain} (SPF)`,
    read("TXT", domain).then((values) => values.filter((value) => /^v=spf1( |$)/i.test(value))),
    (found) => {
      if (found.length === 0)
        return "Add the SPF record of your relay, for example: v=spf1 include:relay.example.net -all"
      // RFC 7208, section 4.5.
      if (found.length > 1) return "Keep one of them: with several, SPF fails."
      return /(^| )\+?all( |$)/i.test(found[0] ?? "") ? "End it with -all or ~all: +all lets everyone send." : null
    }
  )

const UNSIGNED: Check = {
  name: "TXT (DKIM)",
  ...skipped(
    "outbound mail is not signed here",
    "Set AGENTOS_DKIM_SELECTOR and AGENTOS_DKIM_KEY_FILE, unless the relay signs outbound mail."
  )
}

const checkDkim = (read: Read, { name, purpose, value, variable }: DkimSource): Promise<Check> =>
  find(`TXT ${name} (${purpose})`, read("TXT", name), (found) => {
    if (found.length === 0) return `Add: ${value}`
    const isPublished = found.length === 1 && tagOf(found[0] ?? "", "p") === tagOf(value, "p")
    return isPublished ? null : `It is not the public half of ${variable}. Replace it by: ${value}`
  })

const checkDmarc = (read: Read, domain: string): Promise<Check> =>
  find(
    `TXT _dmarc.${domain} (DMARC)`,
    read("TXT", `_dmarc.${domain}`).then((values) => values.filter((value) => /^v=DMARC1\s*(;|$)/.test(value))),
    (found) => {
      if (found.length === 0) return "Add: v=DMARC1; p=quarantine"
      if (found.length > 1) return "Keep one of them: with several, none applies."
      return ["none", "quarantine", "reject"].includes(tagOf(found[0] ?? "", "p") ?? "")
        ? null
        : "Set p to quarantine or reject, or to none at first."
    }
  )

/** Checks by SPF that an address may send for the domain. */
const checkSender = async (
  address: string,
  { domain, hostName }: NonNullable<DnsNames["mail"]>,
  dns: SenderDns
): Promise<Check> => {
  // Loads mailauth, which only this check needs.
  const { authenticateSender } = await import("@agentos/provider-smtp/AuthenticateSender")
  const { spf } = await authenticateSender(
    Buffer.from(`From: postmaster@${domain}\r\n\r\n`),
    { mailFrom: `postmaster@${domain}`, rcptTo: [], remoteAddress: address, helo: hostName, secure: false },
    { hostName, dns, dnsMillis: TIME_LIMIT_MILLIS }
  )
  const name = `SPF of ${domain} for ${address}`
  if (spf === "temperror") return { name, ...failed("DNS did not answer", "Check again later.") }
  return spf === "pass"
    ? { name, ...passed(spf) }
    : { name, ...failed(spf, "Add the address, or the relay that sends from it, to the SPF record.") }
}

const checkPointer = (read: Read, address: string): Promise<Check> =>
  find(`PTR ${address}`, read("PTR", reverseName(address)), async (found) => {
    if (found.length === 0) return "Ask the owner of the address, mostly its provider, to name the sending host."
    const named = await Promise.all(found.map((name) => addressesOf(read, name)))
    return named.flat().some((other) => sameAddress(other, address))
      ? null
      : "No name points back to the address. Add an A or AAAA record."
  })

/**
 * Compares DNS with the records that a deployment needs, through the resolver with which the server checks senders.
 * Changes nothing. Takes at most half a minute, or a minute with sending addresses.
 */
const checkDns = async ({ apiHost, mail, sendsFrom }: DnsNames, dns: SenderDns): Promise<ReadonlyArray<Check>> => {
  const { close, lookup } = openLookup(dns, { millis: TIME_LIMIT_MILLIS, lookupsMax: LOOKUPS_MAX })
  const read = readerOf(lookup)
  try {
    const api = checkHost(read, apiHost, "API", "Add the address of the proxy or load balancer.")
    if (mail === undefined) return await Promise.all(api)
    const { dkim, domain, hostName } = mail
    return await Promise.all([
      ...api,
      ...checkHost(read, hostName, "SMTP listener", "Add the address of the SMTP listener."),
      find(`MX ${domain}`, read("MX", domain), (found) =>
        found.some((value) => sameName(value.split(" ")[1] ?? "", hostName)) ? null : `Add: 10 ${hostName}`
      ),
      checkSpf(read, domain),
      ...(dkim.length === 0 ? [UNSIGNED] : dkim.map((source) => checkDkim(read, source))),
      checkDmarc(read, domain),
      ...(sendsFrom.length === 0
        ? [
            {
              name: "PTR",
              ...skipped(
                "the addresses of the relay are not known",
                "agentos-server check-dns --sends-from ADDRESS, for each"
              )
            }
          ]
        : sendsFrom.flatMap((address) => [checkSender(address, mail, dns), checkPointer(read, address)]))
    ])
  } finally {
    close()
  }
}

const configuredDkim = Effect.fnUntraced(function* ({ dkim, domain }: MailConfig) {
  if (dkim === undefined) return []
  const keys = [
    { ...dkim, purpose: "DKIM", variable: "AGENTOS_DKIM_KEY_FILE" } as const,
    ...(dkim.next === undefined
      ? []
      : [{ ...dkim.next, purpose: "next DKIM", variable: "AGENTOS_DKIM_NEXT_KEY_FILE" } as const])
  ]
  return yield* Effect.forEach(keys, ({ keyFile, purpose, selector, variable }) =>
    Effect.map(readDkimKey(variable, keyFile), (pem): DkimSource => ({
      ...dkimRecord(domain, selector, pem),
      purpose,
      variable
    }))
  )
})

/** Checks the DNS of the configured names. Needs AGENTOS_PUBLIC_URL and the variables of mail only. */
export const checkConfiguredDns = Effect.fnUntraced(function* (
  environment: Environment,
  sendsFrom: ReadonlyArray<string>
) {
  const { mail, publicUrl } = yield* readNames(environment)
  const names: DnsNames = {
    apiHost: new URL(publicUrl).hostname,
    mail: mail && { domain: mail.domain, hostName: mail.hostName, dkim: yield* configuredDkim(mail) },
    sendsFrom
  }
  const dns: SenderDns = mail === undefined ? { _tag: "System" } : yield* senderDns(mail.dns)
  return yield* Effect.promise(() => checkDns(names, dns))
})
