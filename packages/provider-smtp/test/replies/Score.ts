import type { LabeledReply } from "./LabeledReply.ts"

export interface Score {
  readonly mails: number
  /** Lines of the authors: kept, and all. */
  readonly kept: number
  readonly own: number
  /** Lines that are quoted: removed, and all. */
  readonly removed: number
  readonly quoted: number
  /** Names of mails with lines of the author that are missing, and with lines of a quotation that are left. */
  readonly losing: ReadonlyArray<string>
  readonly leaving: ReadonlyArray<string>
}

const linesOf = (text: string): Array<string> =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "")

/** Returns the lines of `all` without those of `taken`, each as often as it is there. */
const without = (all: ReadonlyArray<string>, taken: ReadonlyArray<string>): ReadonlyArray<string> => {
  const left = [...taken]
  return all.filter((line) => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

/** Measures a reader, line by line. If it returns null, the reader takes the whole text. */
export const score = (replies: ReadonlyArray<LabeledReply>, read: (reply: LabeledReply) => string | null): Score => {
  const total = {
    mails: 0,
    kept: 0,
    own: 0,
    removed: 0,
    quoted: 0,
    losing: [] as Array<string>,
    leaving: [] as Array<string>
  }
  for (const reply of replies) {
    const found = linesOf(read(reply) ?? reply.text)
    const own = linesOf(reply.own)
    const neutral = linesOf(reply.neutral ?? "")
    const quoted = without(without(linesOf(reply.text), own), neutral)
    const lost = without(own, found)
    const left = quoted.length - without(quoted, without(found, own)).length
    total.mails++
    total.own += own.length
    total.kept += own.length - lost.length
    total.quoted += quoted.length
    total.removed += quoted.length - left
    if (lost.length > 0) total.losing.push(reply.name)
    if (left > 0) total.leaving.push(reply.name)
  }
  return total
}
