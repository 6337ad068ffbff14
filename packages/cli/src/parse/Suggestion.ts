import { distance } from "fastest-levenshtein"

/** Words for the same in other programs. */
const SAME_WORDS: ReadonlyArray<ReadonlyArray<string>> = [
  ["list", "ls"],
  ["create", "buy", "start", "new", "add", "make"],
  ["delete", "release", "rm", "remove", "del"],
  ["show", "get", "read", "view", "cat", "info", "describe", "address"],
  ["update", "set", "edit"],
  ["tail", "follow", "watch", "listen"]
]

/** The candidate by which other programs mean the same; undefined where there is none. */
export const sameWord = (word: string, candidates: ReadonlyArray<string>): string | undefined => {
  const words = SAME_WORDS.find((same) => same.includes(word)) ?? []
  return words.find((same) => candidates.includes(same))
}

/** The candidate that was probably meant; undefined where none is near. */
export const nearest = (given: string, candidates: ReadonlyArray<string>): string | undefined => {
  const word = given.toLowerCase()
  const limit = word.length <= 3 ? 1 : word.length <= 6 ? 2 : 3
  let best: string | undefined
  let least = limit + 1
  for (const candidate of candidates) {
    // What is only begun is nearer than anything that is misspelt.
    const lower = candidate.toLowerCase()
    const away = lower.startsWith(word) && word.length > 1 ? 0 : distance(word.slice(0, 64), lower)
    if (away < least) {
      least = away
      best = candidate
    }
  }
  return best
}
