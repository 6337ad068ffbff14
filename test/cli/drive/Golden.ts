import { fileURLToPath } from "node:url"

/** A person at a terminal, or a program with pipes. */
export type Reader = "person" | "program"

/** Returns the golden file of a command. */
export const goldenOf = (reader: Reader, command: string): string =>
  fileURLToPath(new URL(`../golden/${reader}/${command.replaceAll(" ", "-")}.txt`, import.meta.url))

/** Formats the output of a program, with `! ` before each line of standard error. */
export const throughPipes = (line: string, seen: { stdout: string; stderr: string; code: number | null }): string =>
  `$ ${line}\n${seen.stdout}${seen.stderr.replaceAll(/^(?=.)/gm, "! ")}[exit ${seen.code}]\n`

/** Values that differ between runs, and their names. Each different value gets the next number. */
const DIFFERENT: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, "id"],
  // Their short form in a table or a remark, which has the same name.
  [/(?<=^|  |(?:Payment|transcript|call) )[\da-f]{8}(?=\.|\?| --| {2}|$)/gm, "id"],
  [/0x[\da-fA-F]{64}\b/g, "hash"],
  [/0x[\da-fA-F]{40}\b/g, "address"],
  [/\+1\d{10}\b/g, "phone"],
  [/0x[\da-fA-F]{4}…[\da-fA-F]{4}/g, "short-address"],
  [/(?<=127\.0\.0\.1(?::|%3A)|"port": )\d{4,5}\b/g, "port"]
]

const SHORT_ID = 8

/** Values that differ between runs and are not compared with each other. */
const TIMES: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d(?!:)/g, "<time>"],
  [/^\d\d:\d\d:\d\d(?= )/gm, "<time>"],
  [/\b\d+(?= of \d+ s\b)|\b\d+(?:\.\d+)?(?= (?:ms|s)\b)|(?<="(?:secondsRemaining|connectedSeconds)": )\d+/g, "<n>"],
  [/(?<="issuedAt": )\d{10}\b/g, "<time>"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<jws>"],
  [/(?<="receipt": ")eyJ[\w+/=]+/g, "<payment-response>"],
  [/\bcs_v1_\w+/g, "<secret>"],
  // The size of a mail depends on the headers that a relay adds.
  [/(?<=\bmail_bytes +wallet +)[\d,]+|(?<="limit": 5368709120,\s+"used": )\d+/g, "<bytes>"]
]

/** Replaces values that differ between runs by names. Equal values get equal names: `<id-1>`, `<id-2>`. */
export class Masks {
  private readonly known: ReadonlyArray<readonly [text: string, name: string]>
  private readonly seen = new Map<string, string>()
  private readonly counts = new Map<string, number>()

  /** `known` lists texts with fixed names, matched as they are or in lower case. */
  constructor(known: ReadonlyArray<readonly [text: string, name: string]>) {
    this.known = known.toSorted(([one], [other]) => other.length - one.length)
  }

  /** Gaps between columns depend on the values, so they become two spaces. */
  of(text: string): string {
    let masked = text
    for (const [known, name] of this.known)
      for (const written of [known, known.toLowerCase()]) masked = masked.replaceAll(written, name)
    for (const [pattern, name] of TIMES) masked = masked.replaceAll(pattern, name)
    for (const [pattern, name] of DIFFERENT) masked = masked.replaceAll(pattern, (value) => this.nameOf(value, name))
    return masked.replaceAll(/(?<=\S)(?<!^!) {2,}/gm, "  ")
  }

  private nameOf(value: string, kind: string): string {
    const key = value.toLowerCase()
    const full = key.length === SHORT_ID ? [...this.seen.keys()].find((id) => id.endsWith(key)) : undefined
    const known = this.seen.get(full ?? key)
    if (known !== undefined) return known
    const count = (this.counts.get(kind) ?? 0) + 1
    this.counts.set(kind, count)
    const name = `<${kind}-${count}>`
    this.seen.set(key, name)
    return name
  }
}
