import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { effectOf, type Recipient } from "@agentos/core"
import { HEADER_LIMIT_BYTES, readHeaderBlock } from "../../packages/provider-smtp/src/header/HeaderBlock.ts"
import { readMail } from "../../packages/provider-smtp/src/parser/ReadMail.ts"
import { DebianPackages } from "./DebianPackages.ts"
import type { Subject } from "./Subject.ts"

/** What becomes of a mail to the return path of a message with one recipient. */
type Outcome = "bounced" | "delayed" | "message" | "refused" | "lost"

interface LabeledMail {
  readonly name: string
  readonly raw: Uint8Array
  /** Undefined if its writers did not know either. */
  readonly expected: Outcome | undefined
}

interface Corpus {
  readonly title: string
  readonly mails: ReadonlyArray<LabeledMail>
}

/** The mails of flufl.bounce, with the expectations of its tests. */
const flufl = async (packages: DebianPackages): Promise<Corpus> => {
  const { directory, version } = await packages.binary("python3-flufl.bounce")
  const root = join(directory, "usr/lib/python3/dist-packages/flufl/bounce")
  const table = await readFile(join(root, "testing/helpers.py"), "utf8")
  const expected = new Map<string, Outcome>()
  for (const [, name, addresses, isDelay] of table.matchAll(
    /\('\w+', '(\w+\.txt)',\s*\[([^\]]*)\](?:,\s*(True))?\)/g
  )) {
    if (addresses !== "") expected.set(name!, isDelay === undefined ? "bounced" : "delayed")
  }
  // Its tests name no address in these: two are no bounces.
  for (const name of ["groupwise_03.txt", "qmail_08.txt"]) expected.set(name, "message")
  const folder = join(root, "tests/data")
  const names = (await readdir(folder)).filter((name) => name.endsWith(".txt")).toSorted()
  const mails = await Promise.all(
    names.map(async (name) => ({ name, raw: await readFile(join(folder, name)), expected: expected.get(name) }))
  )
  return { title: `flufl.bounce ${version}`, mails }
}

/** The mails of the other corpus that are not bounces, by kind: vacation, challenge, spam. */
const NO_BOUNCES =
  /^(?:aol-vacation|autoreply|polish-autoreply|warning-6|bluebottle|boxbe-cr2?|spam-bogus-.*|spam-with-image)\.msg$/
const DELAYS = /^warning-8\.msg$/

const bounceParser = async (packages: DebianPackages): Promise<Corpus> => {
  const { directory } = await packages.source("libmail-deliverystatus-bounceparser-perl")
  const root = (await readdir(directory)).find((file) => file.startsWith("Mail-DeliveryStatus"))!
  const folder = join(directory, root, "t/corpus")
  const names = (await readdir(folder)).toSorted()
  const expectedOf = (file: string): Outcome => {
    if (NO_BOUNCES.test(file)) return "message"
    return DELAYS.test(file) ? "delayed" : "bounced"
  }
  const mails = await Promise.all(
    names.map(async (file) => ({ name: file, raw: await readFile(join(folder, file)), expected: expectedOf(file) }))
  )
  return { title: `Mail::DeliveryStatus::BounceParser ${root.split("-").at(-1)}`, mails }
}

/** Removes the line by which a mailbox file separates mails. It is not part of the mail. */
const withoutSeparator = (raw: Uint8Array): Uint8Array => {
  const bytes = Buffer.from(raw)
  return bytes.subarray(0, 5).toString("latin1") === "From " ? bytes.subarray(bytes.indexOf(0x0a) + 1) : bytes
}

const RECIPIENT: Recipient = { address: "x@recipient.test", name: null, kind: "to", status: "sent", reason: null }

const outcomeOf = async (raw: Uint8Array): Promise<Outcome> => {
  if (readHeaderBlock(raw, HEADER_LIMIT_BYTES)._tag !== "Fields") return "refused"
  const { report } = await readMail(raw)
  if (report === undefined) return "message"
  const effect = effectOf(report, { recipients: [RECIPIENT] }, { returnPaths: [0], isReporter: false })
  if (effect !== undefined) return effect.status === "bounced" ? "bounced" : "lost"
  const isKept = report._tag === "DeliveryStatus" && report.recipients.length > 0
  return isKept ? "delayed" : "lost"
}

const OUTCOMES = ["bounced", "delayed", "message", "refused", "lost"] as const

/** The share of labeled mails that must be recorded as they are. */
const GOAL = 0.95

export const bounces: Subject = {
  heading: "Bounces",
  summary: "Delivery reports of many mail systems, read as mail to a return path",
  measure: async (directory) => {
    const packages = new DebianPackages(directory)
    const corpora = [await flufl(packages), await bounceParser(packages)]
    const faults: Array<string> = []
    const rows: Array<string> = []
    for (const { mails, title } of corpora) {
      const counts = new Map<Outcome, number>()
      let right = 0
      for (const { expected, name, raw } of mails) {
        const outcome = await outcomeOf(withoutSeparator(raw))
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
        if (expected === undefined || outcome === expected) right += expected === undefined ? 0 : 1
        else if (outcome === "lost" || expected !== "bounced") faults.push(`${name}: ${outcome}, not ${expected}`)
        else console.error(`${name}: ${outcome}, not ${expected}`)
      }
      const labeled = mails.filter(({ expected }) => expected !== undefined).length
      const share = right / labeled
      if (share < GOAL) faults.push(`${title}: ${right} of ${labeled} right`)
      const cells = OUTCOMES.map((outcome) => counts.get(outcome) ?? 0)
      rows.push(
        `| ${[title, mails.length, ...cells, `${right} of ${labeled} (${(100 * share).toFixed(1)} %)`].join(" | ")} |`
      )
    }
    const section = [
      "Each mail is read as if it was sent to the return path of a message with one recipient. `delayed` reports are kept and",
      "change nothing; a mail that is no report is a message of the mailbox; `refused` mail has a malformed header. The last",
      "column counts the mails that end as their labels say: those of flufl.bounce are its own, for the others all but vacation",
      "replies, challenges, spam and one delay must bounce.",
      "",
      `| corpus | mails | ${OUTCOMES.join(" | ")} | as labeled |`,
      `| --- | --- | ${OUTCOMES.map(() => "---").join(" | ")} | --- |`,
      ...rows
    ].join("\n")
    return { section, faults }
  }
}
