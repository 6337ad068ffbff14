import { type JsonBudget, type JsonFlaw, scanJson } from "@agentos/core"

interface HeaderJson {
  readonly json: unknown
  /** The value, serialized again. */
  readonly text: string
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Parses JSON and serializes it again; undefined if it is invalid or nested too deeply to serialize. */
const parse = (bytes: Uint8Array): (HeaderJson & { readonly isCanonical: boolean }) | undefined => {
  try {
    const written = utf8.decode(bytes)
    const json: unknown = JSON.parse(written)
    const text = JSON.stringify(json)
    return { json, text, isCanonical: text === written }
  } catch {
    return undefined
  }
}

/** Returns whether the depth of a value and its numbers of elements and keys are within a budget. */
const isWithin = (json: unknown, budget: JsonBudget): boolean => {
  let [elements, keys] = [0, 0]
  const visit = (value: unknown, depth: number): boolean => {
    if (typeof value !== "object" || value === null) return true
    const parts: ReadonlyArray<unknown> = Array.isArray(value) ? value : Object.values(value)
    // An empty array or object counts as one.
    const count = Math.max(parts.length, 1)
    if (Array.isArray(value)) elements += count
    else keys += count
    if (depth === budget.depth || elements > budget.elements || keys > budget.keys) return false
    return parts.every((part) => visit(part, depth + 1))
  }
  return visit(json, 0)
}

/**
 * Parses the JSON of a header, whose length is within the byte limits of the budget. Returns the first flaw of `scanJson`, or
 * undefined if the text is not JSON. A text that is equal to its value serialized again has no key twice. It is not scanned, since
 * that takes more time than all else.
 */
export const parseHeaderJson = (bytes: Uint8Array, budget: JsonBudget): HeaderJson | JsonFlaw | undefined => {
  const parsed = parse(bytes)
  if (parsed?.isCanonical === true && isWithin(parsed.json, budget)) return parsed
  return scanJson(bytes, budget) ?? parsed
}
