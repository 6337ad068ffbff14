/** What differs from run to run, and what stands there instead; each other one gets the next number. */
const DIFFERENT: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, "id"],
  [/0x[\da-fA-F]{64}\b/g, "hash"],
  [/0x[\da-fA-F]{40}\b/g, "address"],
  [/\+1\d{10}\b/g, "phone"],
  [/(?<=127\.0\.0\.1:|"port": )\d{4,5}\b/g, "port"]
]

/** What differs, and is equal to nothing else. */
const TIMES: ReadonlyArray<readonly [pattern: RegExp, name: string]> = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/^\d\d:\d\d:\d\d(?= )/gm, "<time>"],
  [/\b\d+(?= of \d+ s\b)|\b\d+(?:\.\d+)?(?= (?:ms|s)\b)|(?<="(?:secondsRemaining|connectedSeconds)": )\d+/g, "<n>"],
  [/\bcs_v1_\w+/g, "<secret>"]
]

/** Makes of what was written what is the same in every run. What was equal stays equal: `<id-1>`, `<id-2>`. */
export class Masks {
  private readonly known: ReadonlyArray<readonly [text: string, name: string]>
  private readonly seen = new Map<string, string>()
  private readonly counts = new Map<string, number>()

  /** `known` are texts with names of their own, as they are or in small letters. */
  constructor(known: ReadonlyArray<readonly [text: string, name: string]>) {
    this.known = known.toSorted(([one], [other]) => other.length - one.length)
  }

  /** Gaps between columns are as wide as what stands in them, and become two spaces. */
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
    const known = this.seen.get(key)
    if (known !== undefined) return known
    const count = (this.counts.get(kind) ?? 0) + 1
    this.counts.set(kind, count)
    const name = `<${kind}-${count}>`
    this.seen.set(key, name)
    return name
  }
}
